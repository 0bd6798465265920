"""From scores of questions to a report: means with their n, what was left out and why, and an interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from converters.tables import BASE_OVERLAY, REPORT, SCORED_STATUSES
from judges.retrieval_metrics import CUTOFFS, METRICS, Flags, Values
from judges.statistics.intervals import mean_intervals

ALL: Final = "all"
TYPE_PREFIX: Final = "type:"
OWN_K: Final = 0
LEVELS: Final = ("session", "turn")


@dataclass(frozen=True)
class Block:
    """The columns of one level that share their questions: standard cut-offs, or each query's own.

    Attributes:
        level: its name.
        columns: metric and k.
        values: one row a question; NaN where there is none.
        asked: questions that count.
        excluded: questions without anything to find.
        judge: who says what is relevant; empty where the source does.
    """

    level: str
    columns: list[tuple[str, int]]
    values: Values
    asked: Flags
    excluded: Flags
    judge: str = ""


def aggregate(scores: pl.DataFrame, *, cutoffs: Sequence[int] = CUTOFFS) -> pl.DataFrame:
    """Summarise ``RetrievalScores``, over all questions and by question type.

    ``value`` is the mean over questions that have evidence to find and whose search worked; it is null if one of them
    is undefined. ``strict`` is the same mean with failed questions as zero. For k = 0 (each query's own k) only the
    queries that name one count.

    Returns:
        ``Report``: slices ``all`` and ``type:<question_type>`` by name, then level, metric, k as in ``METRICS`` and
        ``cutoffs``, own k last. Empty where there are no questions.
    """
    scores = scores.sort("ordinal")
    failed = ~scores["status"].is_in(SCORED_STATUSES).to_numpy()
    blocks = _blocks(scores, cutoffs)
    rows = [
        row
        for name, members in slices(scores)
        for block in blocks
        for row in block_rows(name, block, members & block.asked, failed)
    ]
    return REPORT.validate(pl.DataFrame(rows, schema=REPORT.empty.schema))


def slices(scores: pl.DataFrame) -> Iterator[tuple[str, Flags]]:
    """Names of the slices, and which rows are in each: all, then each ``question_type`` by name; none without rows."""
    if scores.is_empty():
        return
    yield ALL, np.ones(scores.height, dtype=np.bool_)
    for kind in sorted(scores["question_type"].unique()):
        yield f"{TYPE_PREFIX}{kind}", (scores["question_type"] == kind).to_numpy()


def _blocks(scores: pl.DataFrame, cutoffs: Sequence[int]) -> list[Block]:
    long = (
        scores.with_row_index("row")
        .select("row", "own_k", "scores")
        .explode("scores")
        .unnest("scores")
        .drop_nulls("level")
    )
    own = scores["own_k"].is_not_null().to_numpy()
    everyone = np.ones(scores.height, dtype=np.bool_)
    without = scores["excluded"].is_not_null()
    blocks = []
    for level in LEVELS:
        excluded = (without | (scores["n_evidence_turns"] == 0) if level == "turn" else without).to_numpy()
        here = long.filter(pl.col("level") == level)
        standard = [(metric, k) for metric in METRICS for k in sorted(cutoffs)]
        values = _matrix(here, standard, scores.height)
        blocks.append(Block(level, standard, values, everyone, excluded))
        if own.any():
            chosen = here.filter(pl.col("k") == pl.col("own_k")).with_columns(k=pl.lit(OWN_K, dtype=pl.UInt32))
            columns = [(metric, OWN_K) for metric in METRICS]
            blocks.append(Block(level, columns, _matrix(chosen, columns, scores.height), own, excluded))
    return blocks


def _matrix(long: pl.DataFrame, columns: list[tuple[str, int]], n_rows: int) -> Values:
    """Values by question and column; NaN where there is none."""
    places = pl.DataFrame(
        {"metric": [metric for metric, _ in columns], "k": [k for _, k in columns]}, schema_overrides={"k": pl.UInt32}
    ).with_row_index("column")
    found = long.join(places, on=["metric", "k"], how="inner")
    values = np.full((n_rows, len(columns)), np.nan)
    values[found["row"].to_numpy(), found["column"].to_numpy()] = found["value"].fill_null(float("nan")).to_numpy()
    return values


def block_rows(name: str, block: Block, members: Flags, failed: Flags) -> Iterator[dict[str, object]]:
    """Rows of ``Report`` for the ``members`` of a slice; those that ``failed`` count in ``strict`` alone."""
    n_excluded = int((members & block.excluded).sum())
    n_failed = int((members & ~block.excluded & failed).sum())
    scored = block.values[members & ~block.excluded & ~failed]
    n = len(scored)
    n_undefined = np.isnan(scored).sum(axis=0)
    sums = scored.sum(axis=0)
    known = np.flatnonzero(n_undefined == 0)
    low, high = np.full((2, len(block.columns)), np.nan)
    low[known], high[known] = mean_intervals(scored[:, known])
    for column, (metric, k) in enumerate(block.columns):
        yield {
            "slice": name,
            "level": block.level,
            "metric": metric,
            "k": k,
            "overlay": BASE_OVERLAY,
            "judge": block.judge,
            "value": _mean(sums[column], n),
            "ci_low": _number(low[column]),
            "ci_high": _number(high[column]),
            "strict": _mean(sums[column], n + n_failed),
            "n": n,
            "n_excluded": n_excluded,
            "n_failed": n_failed,
            "n_undefined": int(n_undefined[column]),
        }


def _mean(total: float, n: int) -> float | None:
    return _number(total / n) if n else None


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
