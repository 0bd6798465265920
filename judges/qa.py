"""Accuracies of judged answers, with their n, what was not judged, and an interval. Definitions: docs/metrics.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import polars as pl

from converters.tables import BASE_OVERLAY, REPORT, SCORED_STATUSES
from judges.aggregate import ALL, TYPE_PREFIX
from judges.statistics.intervals import DIGITS, wilson_interval

ANSWER: Final = "answer"
ACCURACY: Final = "accuracy"
TASK_AVERAGED: Final = "accuracy_task_averaged"
ABSTENTION: Final = "accuracy_abstention"


@dataclass(frozen=True)
class _Tally:
    """How many answers are right, how many were judged, and how many count but were not."""

    right: int
    n: int
    n_failed: int
    n_asked: int

    @classmethod
    def of(cls, rows: pl.DataFrame) -> _Tally:
        rows = rows.filter(pl.col("excluded").is_null())
        judged = rows.filter(pl.col("status").is_in(SCORED_STATUSES))
        not_run = int((rows["status"] == "not_run").sum())
        return cls(int(judged["label"].sum()), judged.height, rows.height - judged.height, rows.height - not_run)

    @property
    def value(self) -> float | None:
        return self.right / self.n if self.n else None

    @property
    def strict(self) -> float | None:
        """Null where nobody was asked to judge anything: no result is not a result of zero."""
        return self.right / (self.n + self.n_failed) if self.n_asked else None


def aggregate_answers(judgments: pl.DataFrame) -> pl.DataFrame:
    """Summarise ``Judgments``, over all questions and by question type.

    ``accuracy`` is the share of right answers among those that were judged, a question without an answer being wrong.
    ``accuracy_task_averaged`` is the mean of the question types' accuracies, abstention questions inside their type,
    as LongMemEval's ``print_qa_metrics.py`` has it; it is null if in a type nothing was judged. ``accuracy_abstention``
    is the accuracy of the abstention questions; all others count as excluded. Questions without a reference answer are
    excluded from all. ``strict`` takes what was not judged as
    wrong; it is null where nobody judged anything.

    Intervals are Wilson's; that of the mean of types is put together from theirs (Zou, Huang & Zhang 2009).

    Returns:
        ``Report`` at level ``answer``, k 0: slices ``all`` and ``type:<question_type>`` by name (these without a task
        average, and with abstention where the type has such questions), all with the judge that the rows name. Empty
        where there are no questions.
    """
    kinds = judgments.sort("question_type").partition_by("question_type", maintain_order=True)
    counted = [kind for kind in kinds if _excluded(kind) < kind.height]
    rows: list[dict[str, Any]] = []
    if kinds:
        overall, abstention = _accuracies(ALL, judgments)
        rows = [
            overall,
            _task_averaged([_Tally.of(kind) for kind in counted or kinds]) | {"n_excluded": _excluded(judgments)},
            abstention,
        ]
    for kind in kinds:
        rows += _accuracies(f"{TYPE_PREFIX}{kind['question_type'][0]}", kind)
    by = pl.lit(judged_by(judgments))
    return REPORT.validate(pl.DataFrame(rows, schema=REPORT.empty.schema).with_columns(judge=by))


def judged_by(judgments: pl.DataFrame) -> str:
    """The judge that the rows name, or those, by name; empty where they name none."""
    return ", ".join(sorted(judgments["judge"].drop_nulls().unique()))


def _accuracies(name: str, rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    yield _row(name, ACCURACY, _Tally.of(rows)) | {"n_excluded": _excluded(rows)}
    abstentions = rows.filter("is_abstention")
    if name == ALL or abstentions.height:
        yield {**_row(name, ABSTENTION, _Tally.of(abstentions)), "n_excluded": rows.height - abstentions.height}


def _excluded(rows: pl.DataFrame) -> int:
    return rows["excluded"].count()


def _row(name: str, metric: str, tally: _Tally) -> dict[str, Any]:
    low, high = wilson_interval(tally.right, tally.n)
    return {
        "slice": name,
        "level": ANSWER,
        "metric": metric,
        "k": 0,
        "judge": "",
        "overlay": BASE_OVERLAY,
        "value": tally.value,
        "ci_low": low,
        "ci_high": high,
        "strict": tally.strict,
        "n": tally.n,
        "n_excluded": 0,
        "n_failed": tally.n_failed,
        "n_undefined": 0,
    }


def _task_averaged(tallies: Sequence[_Tally]) -> dict[str, Any]:
    """L = m - √Σ(pᵢ - lᵢ)² / T and U = m + √Σ(uᵢ - pᵢ)² / T, of T types' shares pᵢ with intervals lᵢ to uᵢ."""
    n_types = len(tallies)
    values = [tally.value for tally in tallies]
    known = [value for value in values if value is not None]
    mean = sum(known) / n_types if len(known) == n_types else None
    low = high = None
    if mean is not None:
        ends = [wilson_interval(tally.right, tally.n) for tally in tallies]
        below = sum((share - (end[0] or 0.0)) ** 2 for share, end in zip(known, ends, strict=True))
        above = sum(((end[1] or 0.0) - share) ** 2 for share, end in zip(known, ends, strict=True))
        low = max(0.0, round(mean - sqrt(below) / n_types, DIGITS))
        high = min(1.0, round(mean + sqrt(above) / n_types, DIGITS))
    asked = any(tally.n_asked for tally in tallies)
    return {
        "slice": ALL,
        "level": ANSWER,
        "metric": TASK_AVERAGED,
        "k": 0,
        "judge": "",
        "overlay": BASE_OVERLAY,
        "value": mean,
        "ci_low": low,
        "ci_high": high,
        "strict": sum(tally.right / (tally.n + tally.n_failed) for tally in tallies) / n_types if asked else None,
        "n": sum(tally.n for tally in tallies),
        "n_excluded": 0,
        "n_failed": sum(tally.n_failed for tally in tallies),
        "n_undefined": 0,
    }
