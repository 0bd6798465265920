"""Outcomes of hits that a model judged, in the form of ``judges.statistics.outcomes``: ``judged.hit@5`` and so on."""

from __future__ import annotations

import polars as pl

from judges.relevance.counted import counted
from judges.relevance.metrics import JUDGED, JUDGED_LEVEL, NAMES, judged_metrics
from judges.retrieval_metrics import CUTOFFS
from judges.statistics.intervals import DIGITS
from judges.statistics.outcomes import FAILED, NOT_RUN, OUTCOMES, SCORED, UNDEFINED


def relevance_outcomes(relevance: pl.DataFrame, scores: pl.DataFrame, *, judge: str) -> pl.DataFrame:
    """Outcomes of ``Relevance`` at level judged: one row a metric, cut-off and question that counts.

    Failed where judging failed, not_run where nobody was asked, undefined where the list was cut before k. A question
    of which nothing is relevant has no row, and so may count for one system and not for another.

    Args:
        relevance: one row a question.
        scores: ``RetrievalScores`` of the same search.
        judge: name of the judge.
    """
    rows: list[tuple[object, ...]] = []
    for row in counted(relevance, scores).filter(~pl.col("excluded")).iter_rows(named=True):
        failed = NOT_RUN if row["status"] == "not_run" else FAILED
        values = {} if row["failed"] else judged_metrics(row["relevance"], row["n_missed"], cut=row["cut"])
        for metric in NAMES:
            for k in CUTOFFS:
                value = values.get(f"{JUDGED}{metric}@{k}")
                state = failed if row["failed"] else UNDEFINED if value is None else SCORED
                kept = None if value is None else round(value, DIGITS)
                known = (row["question_id"], row["question_type"], judge)
                rows.append((*known, JUDGED_LEVEL, metric, k, state, kept))
    return pl.DataFrame(rows, schema=OUTCOMES, orient="row")
