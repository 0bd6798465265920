"""``eval-assets report SYSTEM BENCHMARK``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from eval_assets.cli.options import Json


def report(
    system: Annotated[str, typer.Argument(help="A system of data/systems.yaml.")],
    benchmark: Annotated[str, typer.Argument(help="A benchmark of data/benchmarks.yaml.")],
    as_json: Json = False,
) -> None:
    """Print a line a query, the aggregate, then all metrics with n, intervals, and what was excluded or failed."""
    import polars as pl

    from eval_assets import keys
    from eval_assets.cli.session import open_session
    from eval_assets.scope import Part, Scope, parts_of
    from judges.report_answers import answers_line, answers_table, judgment_lines, judgments_line
    from judges.report_text import aggregate_line, full_metrics, query_lines, search_line
    from judges.report_text import as_json as machine

    with open_session() as session:
        Scope(session.graph, (system,)).check_one(system, benchmark)
        shelf = session.graph.shelf
        parts = parts_of(session.graph.settings, system, benchmark)
        scores = None
        if Part(keys.scores_key(system), benchmark) in parts:
            scores = shelf.frame(session.instance, keys.scores_key(system), benchmark)
        judged = [part.key for part in parts if keys.stage_of(part.key) == "judgments"]
        tables = [shelf.frame(session.instance, key, benchmark) for key in judged]
        found = shelf.frame(session.instance, keys.report_key(system), benchmark)
    if as_json:
        told = {
            "system": system,
            "benchmark": benchmark,
            **machine(scores, found, pl.concat(tables) if tables else None),
        }
        typer.echo(json.dumps(told, indent=2))
        return
    if scores is not None:
        typer.echo("\n".join(query_lines(scores)))
        typer.echo(aggregate_line(found))
        typer.echo(search_line(scores))
        typer.echo("")
        typer.echo(full_metrics(found))
    for place, judgments in enumerate(tables):
        typer.echo(
            "\n".join(["", *judgment_lines(judgments)] if scores is not None or place else judgment_lines(judgments))
        )
        typer.echo(judgments_line(judgments))
    if tables:
        typer.echo(answers_line(found))
        typer.echo("")
        typer.echo(answers_table(found))
