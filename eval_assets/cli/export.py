"""``eval-assets export SYSTEM BENCHMARK``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ExportTarget(StrEnum):
    """What search results become."""

    trec_run = "trec-run"
    retrieval_log = "retrieval-log"


def export(
    system: Annotated[str, typer.Argument(help="A system of data/systems.yaml.")],
    benchmark: Annotated[str, typer.Argument(help="A benchmark of data/benchmarks.yaml.")],
    to: Annotated[ExportTarget, typer.Option("--to", help="A run for trec_eval, or LongMemEval's retrieval log.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Write a system's search results for other tools.

    A run goes with the judgments that convert --to trec-qrels writes of the benchmark's file.
    """
    from converters.formats.retrieval_log import write_retrieval_log
    from converters.formats.trec import write_run
    from converters.tables import CORPUS
    from eval_assets import keys
    from eval_assets.cli.session import open_session
    from eval_assets.scope import Scope

    with open_session() as session:
        Scope(session.graph, (system,)).check_one(system, benchmark)
        shelf = session.graph.shelf
        results = shelf.frame(session.instance, keys.search_key(system), benchmark)
        needed = ("questions", "haystacks") if to is ExportTarget.trec_run else tuple(CORPUS)
        tables = {name: shelf.frame(session.instance, keys.corpus_key(name), benchmark) for name in needed}
    if to is ExportTarget.trec_run:
        told = write_run(tables, results, out, tag=system, force=force)
    else:
        told = write_retrieval_log(tables, results, out, force=force)
    typer.echo("\n".join(told))
