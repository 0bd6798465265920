"""Two rankings to one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


def reciprocal_rank_fusion(rankings: Sequence[Rows], weights: Sequence[float], k: int, n_rows: int) -> Scores:
    """Fusion score of each row: the sum over rankings of weight / (k + rank), ranks from 1; 0 for a row in none.

    Source: G. Cormack, C. Clarke, S. Buettcher, Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods, 2009.

    Args:
        rankings: rows, best first, each at most once a ranking.
        weights: one a ranking.
        k: the larger, the less the first ranks stand out.
        n_rows: how many rows there are.
    """
    scores = np.zeros(n_rows)
    for ranking, weight in zip(rankings, weights, strict=True):
        scores[ranking] += weight / (k + np.arange(1, len(ranking) + 1))
    return scores


def blend(similarity: Scores, fusion: Scores, similarity_share: float, fusion_share: float) -> Scores:
    """Weighted sum of the similarity and of the fusion score relative to the best one."""
    best = fusion.max(initial=0.0)
    return similarity_share * similarity + fusion_share * (fusion / best if best > 0 else fusion)
