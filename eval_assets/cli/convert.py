"""``eval-assets convert``. Never imports Dagster."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from converters.errors import BadInput
from eval_assets.cli.bar import progress_bar

if TYPE_CHECKING:
    from converters.datasets_mapping import DatasetMapping


class Target(StrEnum):
    """What a source becomes: see ``converters.targets``, which is too heavy to load for a list of names."""

    fixture = "fixture"
    corpus = "corpus"
    longmemeval = "longmemeval"
    beir = "beir"
    trec_qrels = "trec-qrels"
    datasets = "datasets"


class SourceFormat(StrEnum):
    """What a source is."""

    longmemeval = "longmemeval"
    locomo = "locomo"
    datasets = "datasets"
    fixture = "fixture"


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
            help="LongMemEval, LoCoMo, a data set or a fixture (plain or gzipped, any name), or a folder of corpus "
            "tables.",
            show_default=False,
        ),
    ],
    to: Annotated[
        Target, typer.Option("--to", help="Import-shaped JSON, the corpus tables as Parquet, or another tool's format.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file or the folder that is written.")],
    source_format: Annotated[
        SourceFormat | None, typer.Option("--from", help="What the source is. [default: found out]")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="YAML file that says which columns of a data set hold what.")
    ] = None,
    granularity: Annotated[
        GranularityChoice | None, typer.Option(help="What becomes one memory of a fixture. [default: session]")
    ] = None,
    isolation: Annotated[
        IsolationChoice | None, typer.Option(help="A client_id a question, or one for all. [default: isolated]")
    ] = None,
    batches: Annotated[bool, typer.Option(help="Write files that are ready to POST beside the fixture.")] = True,
    batch_records: Annotated[int, typer.Option(help="Records that a batch holds at most.")] = 500,
    batch_bytes: Annotated[int, typer.Option(help="Bytes that a batch stays below.")] = 1_000_000,
    containers: Annotated[
        bool, typer.Option("--containers", help="Write each container as a fixture by itself, too.")
    ] = False,
    types: Annotated[
        list[str] | None, typer.Option("--types", help="Only questions of these types; with commas, or repeated.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="At most so many questions, stratified by type and abstention.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which questions --limit takes.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Convert LongMemEval, LoCoMo or a data set into a fixture, corpus tables or another tool's format, and back.

    A fixture's sidecar (NAME.sidecar.json) holds what only scoring may know; with it beside the fixture, --to corpus
    restores the conversations that the fixture was written from.
    """
    from converters.between import Request, to_corpus, to_fixture, to_target
    from converters.fixture.write import FixtureSettings

    given = {"--granularity": granularity, "--isolation": isolation, "--containers": containers or None}
    settings = FixtureSettings(
        granularity=(granularity or GranularityChoice.session).value,
        isolation=(isolation or IsolationChoice.isolated).value,
        batches=batches,
        batch_records=batch_records,
        batch_bytes=batch_bytes,
        containers=containers,
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
            format=_format(source_format, mapping),
            mapping=_mapping(mapping),
        )
        if to is Target.fixture:
            told = to_fixture(source, out, settings, request)
        elif to is Target.corpus:
            told = to_corpus(source, out, request)
        else:
            told = to_target(source, out, to.value, request)
    typer.echo("\n".join(told))


def _format(given: SourceFormat | None, mapping: Path | None) -> str | None:
    if mapping is not None and given not in (None, SourceFormat.datasets):
        raise BadInput("--mapping", "is for data sets", "leave it out, or say --from datasets")
    return "datasets" if mapping is not None else given and given.value


def _mapping(path: Path | None) -> DatasetMapping | None:
    if path is None:
        return None
    from converters.datasets_mapping import DatasetMapping
    from eval_assets.yaml_files import read_yaml

    return read_yaml(path, DatasetMapping)


def _note(line: str) -> None:
    typer.echo(line, err=True)
