"""Accepted baselines, kept beside the settings under version control, and the gate that compares a run with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import dagster as dg
import polars as pl

from converters.errors import BadInput
from eval_assets.graph import Graph
from eval_assets.project import Project
from eval_assets.runs import conditions_of, read_run
from eval_assets.settings import Settings
from judges.report_values import one_line
from judges.statistics.baseline import Baseline, read_baseline, write_baseline
from judges.statistics.gate import Decision, gate
from judges.statistics.metric import HEADLINES, Metric, parse_metric, parse_metrics
from judges.statistics.outcomes import select, strict_means

_WIDTH: Final = 200


@dataclass(frozen=True)
class Accepted:
    """A baseline that was written: where, what, each metric's strict mean, and what was left out as undefined."""

    path: Path
    baseline: Baseline
    means: Mapping[str, float]
    undefined: Sequence[str]


@dataclass(frozen=True)
class Gated:
    """What a gate decided, and the baseline's file; None where nobody accepted one."""

    decisions: Sequence[Decision]
    baseline: Path | None

    @property
    def failed(self) -> list[Decision]:
        """Those that do not hold."""
        return [one for one in self.decisions if not one.passed]


def baseline_path(project: Project, system: str, benchmark: str) -> Path:
    """The tracked file; names of systems and benchmarks are letters, digits and underscores."""
    return project.data / "baselines" / f"{system}.{benchmark}.json"


def accept(
    graph: Graph, instance: dg.DagsterInstance, system: str, benchmark: str, metrics: Sequence[str] = ()
) -> Accepted:
    """Write what is stored of a system on a benchmark as its baseline, in the place of the one before.

    Args:
        graph: the project.
        instance: where its events are.
        system: which system.
        benchmark: which benchmark.
        metrics: which to accept; by default the headlines that are there and defined.

    Raises:
        BadInput: nothing is stored, or a metric that was named is unknown, not measured or not defined.
    """
    run = read_run(graph, instance, system, benchmark).there()
    wanted = parse_metrics(metrics, "--metric") if metrics else HEADLINES
    for metric in wanted if metrics else ():
        if run.outcomes.filter(metric.matches()).is_empty():
            raise BadInput("--metric", f"not measured for {system} on {benchmark}", "name another", field=str(metric))
    outcomes = select(run.outcomes, wanted)
    means = {_metric(row): row["value"] for row in strict_means(outcomes).iter_rows(named=True)}
    undefined = [metric for metric, value in means.items() if value is None]
    if undefined and metrics:
        raise BadInput("--metric", f"not defined for {system} on {benchmark}", "name another", field=str(undefined[0]))
    for metric in undefined:
        outcomes = outcomes.filter(~metric.matches() | (pl.col("judge") != metric.judge))
    if outcomes.is_empty():
        raise BadInput(f"{system} on {benchmark}", "no metric is defined", "name metrics with --metric")
    kept = [metric for metric, value in means.items() if value is not None]
    baseline = Baseline(system, conditions_of(run, kept), outcomes)
    path = baseline_path(graph.project, system, benchmark)
    write_baseline(path, baseline)
    return Accepted(path, baseline, {str(one): means[one] for one in kept}, [str(one) for one in undefined])


def floors_of(settings: Settings, system: str, benchmark: str) -> dict[Metric, float]:
    """The floors that the settings give; of several for one metric the highest, since each must hold."""
    floors: dict[Metric, float] = {}
    for one in settings.gates:
        systems = {name for named in one.systems for name in settings.sweeps.get(named, (named,))}
        if system in systems and benchmark in one.benchmarks:
            for text, floor in one.floors.items():
                metric = parse_metric(text)
                floors[metric] = max(floor, floors.get(metric, 0.0))
    return floors


def parse_floors(texts: Sequence[str]) -> dict[Metric, float]:
    """Floors as ``hit@5=0.8``; raises ``BadInput``."""
    floors = {}
    for text in texts:
        name, found, value = text.rpartition("=")
        try:
            floor = float(value) if found else -1.0
        except ValueError:
            floor = -1.0
        if not 0 <= floor <= 1:
            raise BadInput("--floor", "is not a metric and a number from 0 to 1", "write hit@5=0.8", field=text)
        floors[parse_metric(name, "--floor")] = floor
    return floors


def decide(
    graph: Graph,
    instance: dg.DagsterInstance,
    system: str,
    benchmark: str,
    *,
    floors: Mapping[Metric, float] | None = None,
    unlike: bool = False,
) -> Gated:
    """Decide on what is stored: by the floors of the settings, and the accepted baseline.

    Args:
        graph: the project.
        instance: where its events are.
        system: which system.
        benchmark: which benchmark.
        floors: more floors; of one metric they stand in for those of the settings.
        unlike: compare with a baseline of other conditions all the same.

    Raises:
        BadInput: nothing is stored, there is neither floor nor baseline, or the baseline is damaged or of other
            conditions.
    """
    run = read_run(graph, instance, system, benchmark).there()
    path = baseline_path(graph.project, system, benchmark)
    baseline = read_baseline(path) if path.exists() else None
    shown = graph.project.shown(path)
    bounds = {**floors_of(graph.settings, system, benchmark), **(floors or {})}
    if baseline is None and not bounds:
        remedy = f"give --floor hit@5=0.8, or accept a run: eval-assets accept {system} {benchmark}"
        raise BadInput(f"{system} on {benchmark}", "has neither floors nor an accepted baseline", remedy)
    conditions = run.conditions(
        retrieval=baseline is not None and baseline.conditions.k is not None,
        judges=baseline.conditions.judges if baseline else (),
    )
    try:
        decisions = gate(run.outcomes, conditions, floors=bounds, baseline=baseline, unlike=unlike)
    except BadInput as error:
        raise BadInput(shown, error.problem, error.remedy, record=error.record, field=error.field) from None
    return Gated(decisions, path if baseline else None)


def shown_gate(graph: Graph, instance: dg.DagsterInstance, system: str, benchmark: str) -> tuple[bool, dict[str, Any]]:
    """For a page of the UI: whether it passes, and why. Without floor and baseline there is nothing to fail."""
    path = baseline_path(graph.project, system, benchmark)
    facts = {"baseline": graph.project.shown(path) if path.exists() else "none was accepted: eval-assets accept"}
    if not path.exists() and not floors_of(graph.settings, system, benchmark):
        return True, facts
    try:
        gated = decide(graph, instance, system, benchmark)
    except BadInput as error:
        return False, {**facts, "cannot be decided": error.line}
    return not gated.failed, {**facts, "decisions": dg.MetadataValue.text("\n".join(decision_lines(gated)))}


def decision_lines(gated: Gated) -> list[str]:
    """A line a decision: ``FAILED  floor     hit@5: ...``."""
    return [
        f"{'passed' if one.passed else 'FAILED'}  {one.rule:8}  {one_line(one.words, _WIDTH)}"
        for one in gated.decisions
    ]


def _metric(row: Mapping[str, Any]) -> Metric:
    return Metric(row["level"], row["metric"], row["k"], row["judge"])
