"""Retrieval metrics from judged relevance. Their names have a prefix: they are never mixed with those from evidence."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Final

import numpy as np

from judges.retrieval_metrics import CUTOFFS, METRICS, Level, metrics_at

JUDGED: Final = "judged."
MEMORYBENCH: Final = "memorybench."
JUDGED_LEVEL: Final = "judged"
NAMES: Final = ("hit", "precision", "recall", "f1", "mrr", "ndcg")
MEMORYBENCH_K: Final = 10
"""Hits that memorybench judges."""


def judged_metrics(
    relevance: Sequence[int], n_missed: int, *, cut: bool, cutoffs: Sequence[int] = CUTOFFS
) -> dict[str, float | None]:
    """``judged.<metric>@<k>``: the formulas of ``judges.retrieval_metrics``, over hits in place of sessions.

    Relevant are the hits judged so and, since a judge sees only what was found, the evidence sessions that were not.

    Args:
        relevance: 0 or 1 of each hit, best first.
        n_missed: evidence sessions that no hit maps to: n_evidence less the number of evidence_ranks, in
            ``RetrievalScores``; 0 for an abstention.
        cut: the list ended at the number of hits asked for, and may have gone on.
        cutoffs: each k.

    Returns:
        By name; None where nothing is relevant, and where the list was cut before it reached k.
    """
    ranks = np.flatnonzero(np.asarray(relevance, dtype=np.int64)) + 1
    n_relevant = len(ranks) + n_missed
    level = Level(
        name="judged",
        found_row=np.zeros(len(ranks), dtype=np.int64),
        found_rank=ranks.astype(np.int64),
        n_ranked=np.array([len(relevance)]),
        n_evidence=np.array([n_relevant]),
        cut=np.array([cut]),
        defined=np.array([n_relevant > 0]),
    )
    found: dict[str, float | None] = {}
    for k in cutoffs:
        values = dict(zip(METRICS, metrics_at(level, np.array([k]))[0].tolist(), strict=True))
        # NaN is not equal to itself.
        found |= {f"{JUDGED}{name}@{k}": values[name] if values[name] == values[name] else None for name in NAMES}
    return found


def memorybench_metrics(relevance: Sequence[int], k: int | None = MEMORYBENCH_K) -> dict[str, float]:
    """``memorybench.<metric>``, to compare with what supermemoryai/memorybench prints.

    Over the first ``k`` hits (None: all), with n the number of those there are: precision = relevant / n, not by k;
    recall = 1 if any is relevant, which is hit; f1 of those two; mrr = 1/rank of the first relevant one; ndcg by the
    ideal order of the same hits, so that what was not found costs nothing. All 0 where there is no hit. Its later
    versions leave recall, f1 and ndcg out, because nobody knows what there was to find.
    """
    seen = list(relevance if k is None else relevance[:k])
    n_relevant = sum(seen)
    precision, any_found = n_relevant / max(1, len(seen)), float(n_relevant > 0)
    gains = [1 / log2(rank + 1) for rank in range(1, len(seen) + 1)]
    ideal = sum(gains[:n_relevant])
    return {
        f"{MEMORYBENCH}hit": any_found,
        f"{MEMORYBENCH}precision": precision,
        f"{MEMORYBENCH}recall": any_found,
        f"{MEMORYBENCH}f1": 2 * precision * any_found / (precision + any_found) if n_relevant else 0.0,
        f"{MEMORYBENCH}mrr": 1 / (seen.index(1) + 1) if n_relevant else 0.0,
        f"{MEMORYBENCH}ndcg": sum(gain for gain, one in zip(gains, seen, strict=True) if one) / ideal if ideal else 0.0,
    }
