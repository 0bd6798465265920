"""``eval-assets accept SYSTEM BENCHMARK`` and ``eval-assets gate SYSTEM BENCHMARK``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from eval_assets.cli.errors import FAILED
from eval_assets.cli.options import Json, Metrics, Unlike

_System = Annotated[str, typer.Argument(help="A system of data/systems.yaml.")]
_Benchmark = Annotated[str, typer.Argument(help="A benchmark of data/benchmarks.yaml.")]
Floors = Annotated[
    list[str] | None,
    typer.Option("--floor", help="The least strict value of a metric, as hit@5=0.8. Repeatable."),
]


def accept(system: _System, benchmark: _Benchmark, metrics: Metrics = None) -> None:
    """Write the stored scores as the baseline that gate compares with: a file to put under version control."""
    from eval_assets.cli.session import open_session
    from eval_assets.gates import accept as write
    from eval_assets.scope import Scope
    from judges.report_values import number, one_line

    with open_session() as session:
        Scope(session.graph, (system,)).check_one(system, benchmark)
        done = write(session.graph, session.instance, system, benchmark, tuple(metrics or ()))
        shown = session.graph.project.shown(done.path)
    n = done.baseline.outcomes["question_id"].n_unique()
    typer.echo(f"{shown}: {n} questions")
    for name, value in done.means.items():
        typer.echo(f"  {one_line(name, 60)} {number(value)}")
    for name in done.undefined:
        typer.echo(f"  {one_line(name, 60)} is left out: not defined on all questions")


def gate(
    system: _System, benchmark: _Benchmark, floors: Floors = None, unlike: Unlike = False, as_json: Json = False
) -> None:
    """Exit with 1 when a metric is below its floor, or significantly below the accepted baseline; 0 otherwise.

    Floors are those of --floor and of gates: in data/systems.yaml; of one metric --floor counts.
    """
    from eval_assets.cli.session import open_session
    from eval_assets.gates import decide, decision_lines, parse_floors
    from eval_assets.scope import Scope

    bounds = parse_floors(floors or ())
    with open_session() as session:
        Scope(session.graph, (system,)).check_one(system, benchmark)
        done = decide(session.graph, session.instance, system, benchmark, floors=bounds, unlike=unlike)
        shown = session.graph.project.shown(done.baseline) if done.baseline else None
    failed = len(done.failed)
    if as_json:
        told = {
            "system": system,
            "benchmark": benchmark,
            "passed": not failed,
            "baseline": shown,
            "decisions": [
                {
                    "rule": one.rule,
                    "metric": str(one.metric),
                    "passed": one.passed,
                    "value": one.value,
                    "bound": one.bound,
                    "words": one.words,
                }
                for one in done.decisions
            ],
        }
        typer.echo(json.dumps(told, indent=2))
    else:
        ended = f"failed: {failed} of {len(done.decisions)}" if failed else f"passed: {len(done.decisions)}"
        against = f"against {shown}" if shown else "no baseline was accepted"
        typer.echo("\n".join([*decision_lines(done), f"gate {ended} ({against})"]))
    if failed:
        raise typer.Exit(FAILED)
