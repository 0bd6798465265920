"""What must hold, or deserves a warning, as plain questions to the tables."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judges.retrieval_metrics import CUTOFFS


def questions_missing(questions: pl.DataFrame, frame: pl.DataFrame) -> list[str]:
    """The question_ids, in ordinal order, that a table of one row a question lacks."""
    return questions.sort("ordinal").join(frame, on="question_id", how="anti")["question_id"].to_list()


def questions_unknown(questions: pl.DataFrame, frame: pl.DataFrame) -> list[str]:
    """The question_ids, sorted, of a table of one row a question that are no questions of the benchmark."""
    return frame.join(questions, on="question_id", how="anti")["question_id"].unique().sort().to_list()


def evidence_unknown(ground_truth: pl.DataFrame, haystacks: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Evidence that the question's haystack does not hold, and so no search can find.

    Returns:
        overlay, question_id, content_hash (strings), each once, sorted. Evidence turns count by their session.
    """
    named = ground_truth.select(
        "overlay",
        "question_id",
        content_hash=pl.concat_list(
            "evidence_hashes", pl.col("evidence_turns").list.eval(pl.element().struct.field("content_hash"))
        ),
    )
    return (
        named.filter(pl.col("content_hash").list.len() > 0)
        .explode("content_hash")
        .unique()
        .join(questions.select("question_id", "haystack_id"), on="question_id", how="left")
        .join(haystacks, on=["haystack_id", "content_hash"], how="anti")
        .select("overlay", "question_id", "content_hash")
        .sort(pl.all())
    )


def k_reaches_haystack(scores: pl.DataFrame, cutoffs: Sequence[int] = CUTOFFS) -> dict[int, int]:
    """By cut-off, how many questions with evidence have no more sessions than that: there, recall@k measures nothing.

    Cut-offs that no question's haystack is too small for are left out.
    """
    sizes = scores.filter(pl.col("excluded").is_null())["n_haystack"]
    counts = {k: int((sizes <= k).sum()) for k in sorted(cutoffs)}
    return {k: count for k, count in counts.items() if count}


def hits_unmapped(scores: pl.DataFrame) -> tuple[int, int]:
    """How many hits map to no session of their question's haystack, and how many hits there are."""
    return int(scores["n_unmapped"].sum()), int(scores["n_hits"].sum())
