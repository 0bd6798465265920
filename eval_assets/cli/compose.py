"""``eval-assets compose``. Never imports Dagster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval_assets.cli.bar import progress_bar

if TYPE_CHECKING:
    from converters.compose.write import Written


def compose(
    questions: Annotated[
        Path,
        typer.Argument(
            help="LongMemEval JSON (plain or gzipped): the questions, and their evidence.", show_default=False
        ),
    ],
    filler: Annotated[
        list[Path], typer.Option("--filler", help="LongMemEval JSON whose other sessions are the filler. Repeatable.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The LongMemEval file to write.")],
    sessions: Annotated[int | None, typer.Option(help="Sessions of each haystack, evidence included.")] = None,
    tokens: Annotated[
        int | None, typer.Option(help="Or: sessions until they reach so many tokens, at 4.25 characters a token.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which filler is drawn, and which questions --limit takes.")] = 0,
    types: Annotated[
        list[str] | None, typer.Option("--types", help="Only questions of these types; with commas, or repeated.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="At most so many questions, stratified by type and abstention.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Compose haystacks of any length: filler sessions around each question's evidence.

    Writes a LongMemEval file and NAME.manifest.json, which says what it was made of. The same files, length and seed
    give the same bytes.
    """
    from converters.compose.haystack import Length
    from converters.compose.write import Plan, compose

    plan = Plan(
        questions=questions,
        fillers=filler,
        length=Length(sessions=sessions, tokens=tokens),
        seed=seed,
        types=[name.strip() for value in types or () for name in value.split(",") if name.strip()],
        limit=limit,
        force=force,
    )
    with progress_bar() as progress:
        written = compose(plan, out, progress)
    for line in _notes(written):
        typer.echo(line, err=True)
    typer.echo("\n".join(_told(written)))


def _notes(written: Written) -> list[str]:
    if not written.longer:
        return []
    n, shown = len(written.longer), ", ".join(written.longer[:3]) + (", ..." if len(written.longer) > 3 else "")
    return [f"{n} {'question has' if n == 1 else 'questions have'} evidence longer than asked for, all kept: {shown}"]


def _told(written: Written) -> list[str]:
    pool, output = written.manifest["pool"], written.manifest["output"]
    assert isinstance(pool, dict)
    assert isinstance(output, dict)
    n_sessions = output["evidence_sessions"] + output["filler_sessions"]
    return [
        f"filler: {pool['usable']:,} of {pool['distinct']:,} distinct sessions; left out: {pool['evidence']:,} "
        f"evidence of another question, {pool['telling']:,} that tell evidence, {pool['blank']:,} blank",
        f"questions: {written.manifest['selection']}",
        f"wrote {written.path}: {output['questions']:,} questions, {n_sessions:,} sessions "
        f"({output['evidence_sessions']:,} evidence), {output['turns']:,} turns, about "
        f"{output['estimated_tokens'] / output['questions']:,.0f} tokens a question, {output['n_bytes'] / 1e6:,.1f} MB",
        f"wrote {written.manifest_path}: what it was made of",
    ]
