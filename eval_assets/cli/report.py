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
    """Print a line a query, the aggregate, then all metrics with n, intervals, and what was excluded or failed.

    Of answers also the accuracies by judge, where questions went wrong, and time, tokens and money of each phase.
    """
    import polars as pl

    from eval_assets import keys
    from eval_assets.baselines import baseline_of
    from eval_assets.cli.session import open_session
    from eval_assets.report_tables import report_tables
    from eval_assets.scope import Scope
    from eval_assets.settings_systems import ImportedSystem
    from judges.relevance.aggregate import relevance_table
    from judges.report_answers import answers_line, answers_table, judgment_lines, judgments_line
    from judges.report_buckets import failures_table
    from judges.report_corrections import corrections_table, not_judged_again
    from judges.report_phases import phases_table
    from judges.report_text import aggregate_line, full_metrics, headline_line, query_lines, search_line
    from judges.report_text import as_json as machine

    with open_session() as session:
        Scope(session.graph, (system,)).check_one(system, benchmark)
        does = baseline_of(session.graph.settings, system)
        there = report_tables(session.graph, session.instance, system, benchmark)
        scores, tables = there.scores, list(there.judgments.values())
        found = session.graph.shelf.frame(session.instance, keys.report_key(system), benchmark)
        settings = session.graph.settings
        overlays = settings.corrections_of(benchmark) if isinstance(settings.systems[system], ImportedSystem) else ()
    if as_json:
        judgments = pl.concat(tables) if tables else None
        told = {
            "system": system,
            "benchmark": benchmark,
            **machine(scores, found, judgments, phases=there.spent, buckets=there.failures),
        }
        typer.echo(json.dumps(told, indent=2))
        return
    if does:
        typer.echo(f"{system} is a baseline, not a memory: {does}.\n")
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
    if there.relevance is not None:
        typer.echo(f"\n{relevance_table(found)}")
    for table in (
        failures_table(there.failures) if there.failures else "",
        phases_table(there.spent),
        corrections_table(found),
        not_judged_again(overlays, there.judgments) if overlays and there.judgments else "",
    ):
        if table:
            typer.echo(f"\n{table}")
    if scores is not None and tables:
        typer.echo(f"\n{headline_line(found)}")
