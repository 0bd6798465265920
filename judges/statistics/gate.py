"""Whether a run may pass: no metric below its floor, none significantly below the accepted baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import polars as pl

from converters.errors import BadInput
from judges.statistics.baseline import Baseline
from judges.statistics.compare import WORSE, compare
from judges.statistics.conditions import Conditions, refuse_unlike
from judges.statistics.metric import Metric
from judges.statistics.outcomes import KEY, select, strict_means

_TIE: Final = 1e-9
"""A mean of thirds may be a rounding error below its floor."""


@dataclass(frozen=True)
class Decision:
    """One thing that was checked.

    Attributes:
        rule: floor or baseline.
        metric: which metric, with its judge.
        passed: whether it holds.
        value: of the run, failed questions as zero; null where it cannot be known.
        bound: the floor, or the baseline's value on the same questions.
        words: all of it as a line for a person.
    """

    rule: Literal["floor", "baseline"]
    metric: Metric
    passed: bool
    value: float | None
    bound: float | None
    words: str


def gate(
    outcomes: pl.DataFrame,
    conditions: Conditions,
    *,
    floors: Mapping[Metric, float] | None = None,
    baseline: Baseline | None = None,
    metrics: Sequence[Metric] | None = None,
    unlike: bool = False,
) -> list[Decision]:
    """Decide, in the order of ``floors``, then of the baseline's metrics.

    What cannot be known does not pass: a metric that nobody measured, an undefined one, a run without some of the
    baseline's questions.

    Args:
        outcomes: of the run (see ``judges.statistics.outcomes``).
        conditions: of the run.
        floors: the least value of a metric; without a judge in its name, each judge's must reach it.
        baseline: what was accepted.
        metrics: which of the baseline's to compare; by default all. Holm's adjustment is over these.
        unlike: compare with a baseline of other conditions all the same.

    Raises:
        BadInput: there is nothing to decide by; or the baseline is of other conditions and ``unlike`` is not given.
    """
    if not floors and baseline is None:
        raise BadInput("gate", "has neither floors nor a baseline", "set floors, or accept a baseline")
    decisions = [decision for metric, floor in (floors or {}).items() for decision in _floor(outcomes, metric, floor)]
    if baseline is not None:
        if not unlike:
            remedy = "accept a baseline of this kind of run, or say that unlike runs may be compared"
            refuse_unlike("baseline", baseline.conditions, conditions, remedy=remedy)
        accepted = _metrics(baseline.outcomes) if metrics is None else metrics
        decisions += _against(baseline, outcomes, accepted, unlike)
    return decisions


def _floor(outcomes: pl.DataFrame, metric: Metric, floor: float) -> Iterator[Decision]:
    rows = strict_means(select(outcomes, [metric])).to_dicts()
    if not rows:
        yield Decision("floor", metric, False, None, floor, f"{metric}: not measured; its floor is {floor:.3f}")
    for row in rows:
        name, value = _metric(row), row["value"]
        passed = value is not None and value >= floor - _TIE
        relation = "reaches" if passed else "is below"
        words = f"{name}: {_number(value)} {relation} the floor of {floor:.3f} (n={row['n']}{_failed(row['n_failed'])})"
        if value is None:
            words = f"{name}: cannot be known ({_unknown(row)}); its floor is {floor:.3f}"
        yield Decision("floor", name, passed, value, floor, words)


def _against(baseline: Baseline, outcomes: pl.DataFrame, metrics: Sequence[Metric], unlike: bool) -> Iterator[Decision]:
    compared = compare(baseline.outcomes, outcomes, metrics=metrics, names=("baseline", "run"))
    if compared.is_empty():
        raise BadInput("baseline", "holds none of the metrics to compare", "accept a baseline that has them")
    for row in compared.iter_rows(named=True):
        name, difference = _metric(row), row["difference"]
        complete = unlike or not row["n_only_left"]
        passed = difference is not None and row["verdict"] != WORSE and complete
        if difference is None:
            words = f"{name}: cannot be compared with the baseline ({_unknown(row)})"
        else:
            interval = "" if row["ci_low"] is None else f", {row['ci_low']:+.3f} to {row['ci_high']:+.3f}"
            words = (
                f"{name}: {row['value_right']:.3f}, {row['verdict']} than the baseline's {row['value_left']:.3f} "
                f"({difference:+.3f}{interval}; adjusted p={row['p_adjusted']:.2g}; n={row['n']}"
                f"{_failed(row['n_failed_right'])}{_missing(row)})"
            ).replace("not separable than", "not separable from")
        yield Decision("baseline", name, passed, row["value_right"], row["value_left"], words)


def _metrics(outcomes: pl.DataFrame) -> list[Metric]:
    keys = outcomes.select(KEY).unique().sort("level", "metric", "k", "judge")
    return [_metric(row) for row in keys.iter_rows(named=True)]


def _metric(row: Mapping[str, Any]) -> Metric:
    return Metric(row["level"], row["metric"], row["k"], row["judge"])


def _unknown(row: Mapping[str, Any]) -> str:
    if row["n_undefined"]:
        return f"undefined on {row['n_undefined']} of {row['n']} questions"
    if "n_only_left" in row and not row["n"]:
        return f"no common questions: {row['n_only_left']} only in the baseline, {row['n_only_right']} only in the run"
    return f"none of {row['n']} questions was run"


def _failed(count: int) -> str:
    return f", {count} failed" if count else ""


def _missing(row: Mapping[str, Any]) -> str:
    parts = [(row["n_only_left"], "baseline"), (row["n_only_right"], "run")]
    return "".join(f", {count} only in the {side}" for count, side in parts if count)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
