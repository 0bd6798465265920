"""Which judged questions count, and what was there to find on each: the same for reports and for comparisons."""

from __future__ import annotations

import polars as pl

from converters.tables import SCORED_STATUSES


def counted(relevance: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """``Relevance`` in the order of the source, with what the scores of the same search know.

    Args:
        relevance: what the judge says of the hits.
        scores: ``RetrievalScores``.

    Returns:
        Beside the columns of ``Relevance``: n_missed (evidence sessions that were not found; 0 of a question without
        evidence), cut (the list ended at the number of hits asked for), failed, and excluded: nothing is relevant, or
        judging failed and there is no evidence to find.
    """
    unfound = pl.col("n_evidence").cast(pl.Int64) - pl.col("evidence_ranks").list.len().cast(pl.Int64)
    known = scores.select(
        "question_id",
        n_missed=pl.when(pl.col("excluded").is_null()).then(unfound).otherwise(0),
        unsought=pl.col("excluded").is_not_null(),
        cut=pl.col("n_hits") >= pl.col("limit"),
    )
    nothing = pl.col("relevance").list.sum().fill_null(0) + pl.col("n_missed") == 0
    return (
        relevance.sort("ordinal")
        .join(known, on="question_id", how="left", maintain_order="left")
        .with_columns(
            pl.col("n_missed").fill_null(0),
            pl.col("cut", "unsought").fill_null(value=False),
            failed=~pl.col("status").is_in(SCORED_STATUSES),
        )
        .with_columns(excluded=pl.when("failed").then("unsought").otherwise(nothing))
        .drop("unsought")
    )
