"""What became of each question under each metric: the one form that comparing, gating and baselines work on.

Outcomes are a frame of question_id, question_type, judge (empty for retrieval), level, metric, k, state and value: one
row a question and metric that counts it. Questions that a metric excludes (no evidence to find) have no row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from converters.tables import SCORED_STATUSES
from judges.aggregate import OWN_K
from judges.qa import ABSTENTION, ACCURACY, ANSWER, TASK_AVERAGED
from judges.retrieval_metrics import CUTOFFS
from judges.statistics.intervals import DIGITS
from judges.statistics.metric import SCORE, Metric

SCORED: Final = "scored"
FAILED: Final = "failed"
NOT_RUN: Final = "not_run"
UNDEFINED: Final = "undefined"
STATES: Final = (SCORED, FAILED, NOT_RUN, UNDEFINED)
KEY: Final = ("judge", "level", "metric", "k")
OUTCOMES: Final = pl.Schema(
    {
        "question_id": pl.String,
        "question_type": pl.String,
        "judge": pl.String,
        "level": pl.String,
        "metric": pl.String,
        "k": pl.UInt32,
        "state": pl.String,
        "value": pl.Float64,
    }
)


def retrieval_outcomes(scores: pl.DataFrame, *, cutoffs: Sequence[int] = CUTOFFS) -> pl.DataFrame:
    """Outcomes of ``RetrievalScores``: failed where the search failed or was not run, undefined where the list was cut.

    Args:
        scores: one row a question.
        cutoffs: which k; a query's own comes on top, as k = 0.
    """
    scored = pl.col("status").is_in(SCORED_STATUSES)
    long = (
        scores.filter(pl.col("excluded").is_null())
        .select("question_id", "question_type", "own_k", "n_evidence_turns", "scores", scored=scored)
        .explode("scores")
        .unnest("scores")
        .drop_nulls("level")
        .filter((pl.col("level") != "turn") | (pl.col("n_evidence_turns") > 0))
    )
    standard = long.filter(pl.col("k").is_in(list(cutoffs)))
    own = long.filter(pl.col("k") == pl.col("own_k")).with_columns(k=pl.lit(OWN_K, dtype=pl.UInt32))
    rows = pl.concat([standard, own]).with_columns(judge=pl.lit(""))
    return _outcomes(rows, failed=pl.lit(FAILED))


def judgment_outcomes(judgments: pl.DataFrame, *, judge: str | None = None) -> pl.DataFrame:
    """Outcomes of ``Judgments``: the three accuracies and, where the judge gives scores, score.

    Args:
        judgments: one row a question.
        judge: name of the judge; by default the one that the table names, if it names one.
    """
    names = judgments["judge"].drop_nulls().unique().to_list()
    name = judge if judge is not None else names[0] if len(names) == 1 else ""
    rows = judgments.filter(pl.col("excluded").is_null()).with_columns(
        judge=pl.lit(name),
        level=pl.lit(ANSWER),
        k=pl.lit(0, dtype=pl.UInt32),
        scored=pl.col("status").is_in(SCORED_STATUSES),
        value=pl.col("label").cast(pl.Float64),
    )
    # No answer is worth nothing, and no judge was asked.
    worth = pl.when(pl.col("status") == "empty").then(0.0).otherwise("score")
    parts = [
        rows.with_columns(metric=pl.lit(ACCURACY)),
        rows.with_columns(metric=pl.lit(TASK_AVERAGED)),
        rows.filter("is_abstention").with_columns(metric=pl.lit(ABSTENTION)),
    ]
    if judgments["score"].is_not_null().any():
        parts.append(rows.with_columns(metric=pl.lit(SCORE), value=worth))
    failed = pl.when(pl.col("status") == "not_run").then(pl.lit(NOT_RUN)).otherwise(pl.lit(FAILED))
    return _outcomes(pl.concat(parts), failed=failed)


def _outcomes(rows: pl.DataFrame, failed: pl.Expr) -> pl.DataFrame:
    value = pl.col("value").fill_nan(None)
    state = pl.when(~pl.col("scored")).then(failed).when(value.is_null()).then(pl.lit(UNDEFINED))
    rows = rows.with_columns(state=state.otherwise(pl.lit(SCORED)))
    kept = pl.when(pl.col("state") == SCORED).then(value.round(DIGITS))
    return rows.with_columns(value=kept).select(OUTCOMES.names()).cast(OUTCOMES)


def select(outcomes: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
    """The rows of these metrics, each once, in their order, then by judge and question."""
    parts = [outcomes.filter(metric.matches()).sort("judge", "question_id") for metric in metrics]
    return pl.concat([outcomes.clear(), *parts]).unique([*KEY, "question_id"], maintain_order=True)


def weights() -> pl.Expr:
    """What each row counts for in its metric's mean: 1, but in a task average as much as makes all types equal.

    Of N questions in T types, n of them in this one: N / (T · n). The mean of weighted values is that of types' means.
    """
    kinds = pl.col("question_type").n_unique().over(KEY) * pl.len().over(*KEY, "question_type")
    return pl.when(pl.col("metric") == TASK_AVERAGED).then(pl.len().over(KEY) / kinds).otherwise(1.0)


def strict_means(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Each metric's mean with failed questions as zero, as ``strict`` in the table ``Report``.

    Returns:
        judge, level, metric, k, value (null where a question is undefined, or all were not run), n (questions counted),
        n_failed, n_undefined; in the order in which they first appear.
    """
    state = pl.col("state")
    known = (state != UNDEFINED).all() & (state != NOT_RUN).any()
    weighted = outcomes.with_columns(weighted=pl.col("value").fill_null(0) * weights())
    return weighted.group_by(*KEY, maintain_order=True).agg(
        value=pl.when(known).then(pl.col("weighted").sum() / pl.len()),
        n=pl.len(),
        n_failed=state.is_in([FAILED, NOT_RUN]).sum(),
        n_undefined=(state == UNDEFINED).sum(),
    )
