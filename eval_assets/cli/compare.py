"""``eval-assets compare LEFT RIGHT``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from eval_assets.cli.options import Benchmarks, Json, Metrics, Unlike


def compare(
    left: Annotated[str, typer.Argument(help="A system of data/systems.yaml.")],
    right: Annotated[str, typer.Argument(help="Another, which the verdicts are about.")],
    benchmarks: Benchmarks = None,
    metrics: Metrics = None,
    unlike: Unlike = False,
    as_json: Json = False,
) -> None:
    """Compare two systems on the same questions, by what is stored, and say where chance may explain a difference.

    Without --benchmark on each benchmark that both were scored on. Positive differences are in favour of RIGHT; failed
    questions count as zero; p is adjusted by Holm over the rows of a benchmark.
    """
    from converters.errors import BadInput
    from eval_assets.cli.session import open_session
    from eval_assets.comparisons import compare_pair
    from eval_assets.runs import read_run
    from eval_assets.scope import Scope
    from eval_assets.settings_comparisons import Pair
    from judges.statistics.metric import parse_metrics
    from judges.statistics.report_comparison import comparison_table, note_lines, verdict_lines

    parse_metrics(metrics or (), "--metric")
    pair = Pair(left, right, tuple(metrics or ()), unlike)
    with open_session() as session:
        scope = Scope(session.graph)
        for name in (left, right):
            scope.check_system(name)
        for name in benchmarks or ():
            scope.check_benchmark(name)
        if left == right:
            raise BadInput("RIGHT", f"{right} is on both sides", "name two systems")
        found = {}
        for benchmark in benchmarks or session.graph.settings.benchmarks:
            runs = {name: read_run(session.graph, session.instance, name, benchmark) for name in (left, right)}
            if benchmarks or not any(run.outcomes.is_empty() for run in runs.values()):
                for run in runs.values():
                    run.there()
                found[benchmark] = compare_pair(pair, runs)
    if not found:
        remedy = f"run: eval-assets refresh --system {left} --system {right} --benchmark BENCHMARK"
        raise BadInput(f"{left} and {right}", "there is no benchmark that both were scored on", remedy)
    if as_json:
        typer.echo(json.dumps({benchmark: frame.to_dicts() for benchmark, frame in found.items()}, indent=2))
        return
    for place, (benchmark, frame) in enumerate(found.items()):
        if frame.is_empty():
            raise BadInput("--metric", f"neither {left} nor {right} has it on {benchmark}", "name another")
        lines = [benchmark, comparison_table(frame, (left, right)), *verdict_lines(frame), *note_lines(frame)]
        typer.echo("\n".join(([""] if place else []) + lines))
