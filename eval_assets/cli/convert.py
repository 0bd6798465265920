"""``eval-assets convert``. Never imports Dagster."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from eval_assets.cli.bar import progress_bar


class Target(StrEnum):
    """What a source becomes."""

    fixture = "fixture"
    corpus = "corpus"


class GranularityChoice(StrEnum):
    """What becomes one memory."""

    session = "session"
    round = "round"
    turn = "turn"


class IsolationChoice(StrEnum):
    """Which memories share a client_id."""

    isolated = "isolated"
    everywhere = "global"


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            help="LongMemEval JSON or a fixture (plain or gzipped, any name), or a folder of corpus tables.",
            show_default=False,
        ),
    ],
    to: Annotated[Target, typer.Option("--to", help="Import-shaped JSON, or the corpus tables as Parquet.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The fixture's file, or the folder for the tables.")],
    granularity: Annotated[
        GranularityChoice | None, typer.Option(help="What becomes one memory of a fixture. [default: session]")
    ] = None,
    isolation: Annotated[
        IsolationChoice | None, typer.Option(help="A client_id a question, or one for all. [default: isolated]")
    ] = None,
    batches: Annotated[bool, typer.Option(help="Write files that are ready to POST beside the fixture.")] = True,
    batch_records: Annotated[int, typer.Option(help="Records that a batch holds at most.")] = 500,
    batch_bytes: Annotated[int, typer.Option(help="Bytes that a batch stays below.")] = 1_000_000,
    types: Annotated[
        list[str] | None, typer.Option("--types", help="Only questions of these types; with commas, or repeated.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="At most so many questions, stratified by type and abstention.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which questions --limit takes.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Convert LongMemEval into a fixture or corpus tables, and a fixture back.

    A fixture's sidecar (NAME.sidecar.json) holds what only scoring may know; with it beside the fixture, --to corpus
    restores the conversations that the fixture was written from.
    """
    from converters.fixture.between import Request, to_corpus, to_fixture
    from converters.fixture.write import FixtureSettings

    given = {"--granularity": granularity, "--isolation": isolation}
    settings = FixtureSettings(
        granularity=(granularity or GranularityChoice.session).value,
        isolation=(isolation or IsolationChoice.isolated).value,
        batches=batches,
        batch_records=batch_records,
        batch_bytes=batch_bytes,
    )
    with progress_bar() as progress:
        request = Request(
            asked=[option for option, value in given.items() if value is not None],
            types=[name.strip() for value in types or () for name in value.split(",") if name.strip()],
            limit=limit,
            seed=seed,
            force=force,
            note=_note,
            progress=progress,
        )
        told = to_corpus(source, out, request) if to is Target.corpus else to_fixture(source, out, settings, request)
    typer.echo("\n".join(told))


def _note(line: str) -> None:
    typer.echo(line, err=True)
