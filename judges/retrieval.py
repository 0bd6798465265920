"""Scores of a system's searches: one row a question, whatever became of its search. Definitions: docs/metrics.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from converters.errors import BadInput
from converters.tables import BASE_OVERLAY, RETRIEVAL_SCORES, SCORED_STATUSES
from judges.retrieval_metrics import CUTOFFS, METRICS, Level, metrics_at
from judges.retrieval_ranking import Mapped, Ranking, map_hits, rank


def score(
    *,
    results: pl.DataFrame,
    questions: pl.DataFrame,
    haystacks: pl.DataFrame,
    ground_truth: pl.DataFrame,
    query_options: pl.DataFrame,
    overlay: str = BASE_OVERLAY,
    cutoffs: Sequence[int] = CUTOFFS,
) -> pl.DataFrame:
    """Score searches against ground truth.

    Args:
        results: ``SearchResults``; a question without a row counts as not_run.
        questions: ``Questions``.
        haystacks: ``Haystacks``.
        ground_truth: ``GroundTruth``.
        query_options: ``QueryOptions``; empty where the benchmark has none.
        overlay: the corrections to score against: its rows stand in for those of ``base``.
        cutoffs: each k to score at; a query's own k comes on top.

    Returns:
        ``RetrievalScores``, in ordinal order.

    Raises:
        BadInput: there is no such overlay, or a question has no ground truth.
    """
    rows = _rows(results, questions, labels(ground_truth, overlay), query_options)
    mapped = map_hits(rows, haystacks)
    evidence = rows.select("row", content_hash="evidence_hashes").filter(pl.col("content_hash").list.len() > 0)
    sessions = rank(mapped.sessions, evidence.explode("content_hash"), rows.height)
    marked = rows.select("row", "evidence_turns").filter(pl.col("evidence_turns").list.len() > 0)
    turns = rank(mapped.turns, marked.explode("evidence_turns").unnest("evidence_turns"), rows.height)

    sizes = haystacks.group_by("haystack_id").agg(n_haystack=pl.col("content_hash").n_unique())
    rows = rows.join(sizes, on="haystack_id", how="left", maintain_order="left").with_columns(
        pl.col("n_haystack").fill_null(0),
        n_unmapped=pl.Series(mapped.n_unmapped),
        n_ranked=pl.Series(sessions.n_ranked),
    )
    levels = _levels(rows, mapped, sessions, turns)
    ranks = pl.DataFrame({"row": sessions.found_row, "evidence_ranks": sessions.found_rank})
    frame = (
        rows.join(_score_lists(levels, cutoffs, rows["own_k"]), on="row", how="left", maintain_order="left")
        .join(
            ranks.group_by("row", maintain_order=True).agg("evidence_ranks").cast({"row": pl.UInt32}),
            on="row",
            how="left",
            maintain_order="left",
        )
        .with_columns(pl.col("evidence_ranks").fill_null([]))
    )
    schema = RETRIEVAL_SCORES.empty.schema
    return RETRIEVAL_SCORES.validate(frame.select(schema.names()).cast(schema))


def labels(ground_truth: pl.DataFrame, overlay: str = BASE_OVERLAY) -> pl.DataFrame:
    """``GroundTruth`` with one row a question: the overlay's where it has one, else base's.

    Raises:
        BadInput: ``ground_truth`` holds no row of that overlay.
    """
    known = ground_truth["overlay"].unique().sort().to_list()
    if overlay not in known and overlay != BASE_OVERLAY:
        raise BadInput("ground_truth", f"no overlay {overlay!r}", f"use one of: {', '.join(known)}", field="overlay")
    corrected = ground_truth.filter(pl.col("overlay") == overlay)
    base = ground_truth.filter(pl.col("overlay") == BASE_OVERLAY)
    return pl.concat([corrected, base.join(corrected, on="question_id", how="anti")])


def _rows(
    results: pl.DataFrame, questions: pl.DataFrame, truth: pl.DataFrame, query_options: pl.DataFrame
) -> pl.DataFrame:
    """One row a question with all that concerns it; ``row`` numbers them in ordinal order."""
    unlabelled = questions.join(truth, on="question_id", how="anti")["question_id"].sort()
    if len(unlabelled):
        problem = f"no ground truth for {len(unlabelled)} of {questions.height} questions, {unlabelled[0]} among them"
        raise BadInput("ground_truth", problem, "convert the benchmark again", field="question_id")
    asked = results["limit"].max() if results.height else 0
    nothing: pl.Expr = pl.col("is_abstention") | (pl.col("evidence_hashes").list.len() == 0)
    return (
        questions.sort("ordinal")
        .select("question_id", "ordinal", "haystack_id", "question")
        .join(
            truth.select("question_id", "question_type", "is_abstention", "evidence_hashes", "evidence_turns"),
            on="question_id",
            how="left",
            maintain_order="left",
        )
        .join(
            results.select("question_id", "status", "limit", "latency_ms", "hits"),
            on="question_id",
            how="left",
            maintain_order="left",
        )
        .join(query_options.select("question_id", own_k="k"), on="question_id", how="left", maintain_order="left")
        .with_columns(
            pl.col("status").fill_null("not_run"),
            pl.col("limit").fill_null(asked),
            pl.col("hits").fill_null([]),
            # The near-miss sessions that a source lists for an abstention question are not evidence.
            pl.when(nothing).then([]).otherwise(pl.col("evidence_hashes").list.unique()).alias("evidence_hashes"),
            pl.when(nothing).then([]).otherwise(pl.col("evidence_turns").list.unique()).alias("evidence_turns"),
            excluded=pl.when("is_abstention").then(pl.lit("abstention")).when(nothing).then(pl.lit("no evidence")),
        )
        .with_columns(
            n_hits=pl.col("hits").list.len(),
            n_evidence=pl.col("evidence_hashes").list.len(),
            n_evidence_turns=pl.col("evidence_turns").list.len(),
        )
        .with_row_index("row")
    )


def _levels(rows: pl.DataFrame, mapped: Mapped, sessions: Ranking, turns: Ranking) -> list[Level]:
    searched = rows["status"].is_in(SCORED_STATUSES).to_numpy()
    cut = (rows["n_hits"] >= rows["limit"]).to_numpy()
    n_evidence = rows["n_evidence"].to_numpy().astype(np.int64)
    n_marked = rows["n_evidence_turns"].to_numpy().astype(np.int64)
    # A list that already holds every session of the haystack had nothing left to be cut.
    partial = sessions.n_ranked < rows["n_haystack"].to_numpy()
    return [
        Level(
            name="session",
            found_row=sessions.found_row,
            found_rank=sessions.found_rank,
            n_ranked=sessions.n_ranked,
            n_evidence=n_evidence,
            cut=cut & partial,
            defined=searched & (n_evidence > 0),
        ),
        Level(
            name="turn",
            found_row=turns.found_row,
            found_rank=turns.found_rank,
            n_ranked=turns.n_ranked,
            n_evidence=n_marked,
            cut=cut,
            defined=searched & (n_marked > 0) & mapped.turns_known,
        ),
    ]


def _score_lists(levels: Sequence[Level], cutoffs: Sequence[int], own_k: pl.Series) -> pl.DataFrame:
    """Columns row, scores: values by level, metric and k, ascending."""
    n_rows, n_metrics = len(own_k), len(METRICS)
    own = own_k.fill_null(0).to_numpy().astype(np.int64)
    extra = np.flatnonzero((own > 0) & ~np.isin(own, cutoffs))
    every = np.arange(n_rows)
    parts: list[pl.DataFrame] = []
    for number, level in enumerate(levels):
        for chosen, k in [*((every, np.full(n_rows, cutoff)) for cutoff in sorted(cutoffs)), (extra, own)]:
            values = metrics_at(level, np.maximum(k, 1))[chosen]
            parts.append(
                pl.DataFrame(
                    {
                        "row": np.repeat(chosen, n_metrics).astype(np.uint32),
                        "number": np.full(values.size, number, dtype=np.uint8),
                        "metric": np.tile(np.arange(n_metrics, dtype=np.uint8), len(chosen)),
                        "k": np.repeat(k[chosen], n_metrics).astype(np.uint32),
                        "value": values.ravel(),
                    }
                )
            )
    names = pl.Series([level.name for level in levels])
    return (
        pl.concat(parts)
        .sort("row", "number", "metric", "k")
        .select(
            "row",
            scores=pl.struct(
                level=pl.lit(names).gather(pl.col("number")),
                metric=pl.lit(pl.Series(METRICS)).gather(pl.col("metric")),
                k="k",
                value=pl.col("value").fill_nan(None),
            ),
        )
        .group_by("row", maintain_order=True)
        .agg("scores")
    )
