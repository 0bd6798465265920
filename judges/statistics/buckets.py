"""Where a question went wrong: its search, its answer, its judge, or a failure."""

from __future__ import annotations

from typing import Final

import polars as pl

from converters.tables import SCORED_STATUSES

RIGHT: Final = "right"
NOT_RETRIEVED: Final = "evidence not retrieved"
ANSWERED_WRONG: Final = "retrieved but answered wrong"
UNREADABLE: Final = "judged unreadable"
FAILED: Final = "failed"
BUCKETS: Final = (RIGHT, NOT_RETRIEVED, ANSWERED_WRONG, UNREADABLE, FAILED)


def buckets(scores: pl.DataFrame, judgments: pl.DataFrame, answers: pl.DataFrame | None = None) -> pl.DataFrame:
    """Put each question into one bucket, the first of these that holds.

    - failed: its search or its answer failed, or was never asked for; or nobody was asked to judge.
    - judged unreadable: its judge gave no label that could be read, or failed.
    - right: the answer is right, whatever was retrieved.
    - evidence not retrieved: wrong, and the hits lack at least one session of the evidence.
    - retrieved but answered wrong: wrong with all of the evidence in the hits, or with none to find.

    Args:
        scores: ``RetrievalScores``: says what of the evidence was found within the limit.
        judgments: ``Judgments`` of the answers.
        answers: ``Answers``, where there are any: tells a failed answer from a failed judgment.

    Returns:
        question_id, question_type, bucket: one row a question of ``scores`` that can be judged, in ordinal order.
    """
    unjudgeable = judgments.filter(pl.col("excluded").is_not_null())
    frame = (
        scores.sort("ordinal")
        .join(unjudgeable, on="question_id", how="anti", maintain_order="left")
        .join(
            judgments.select("question_id", "label", judged="status"),
            on="question_id",
            how="left",
            maintain_order="left",
        )
    )
    broken = ~pl.col("status").is_in(SCORED_STATUSES) | pl.col("judged").is_null() | (pl.col("judged") == "not_run")
    if answers is not None:
        answered = answers.select("question_id", answered="status")
        frame = frame.join(answered, on="question_id", how="left", maintain_order="left")
        broken = broken | ~pl.col("answered").is_in(SCORED_STATUSES).fill_null(False)
    complete = pl.col("excluded").is_not_null() | (pl.col("evidence_ranks").list.len() >= pl.col("n_evidence"))
    bucket = (
        pl.when(broken)
        .then(pl.lit(FAILED))
        .when(pl.col("label").is_null())
        .then(pl.lit(UNREADABLE))
        .when(pl.col("label"))
        .then(pl.lit(RIGHT))
        .when(complete)
        .then(pl.lit(ANSWERED_WRONG))
        .otherwise(pl.lit(NOT_RETRIEVED))
    )
    return frame.select("question_id", "question_type", bucket=bucket)


def bucket_counts(frame: pl.DataFrame) -> dict[str, int]:
    """How many questions are in each bucket, in the order of ``BUCKETS``, zeros included; they add up to all rows."""
    found = dict(frame.group_by("bucket").len().iter_rows())
    return {bucket: int(found.get(bucket, 0)) for bucket in BUCKETS}
