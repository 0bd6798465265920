"""Stages that reorder or thin out a finished ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from providers.local.embedding import Vectors
from providers.local.fusion import Rows


def without_near_duplicates(ranking: Rows, vectors: Vectors, threshold: float) -> Rows:
    """The ranking without rows whose cosine to a better one that stays is above ``threshold``.

    Args:
        ranking: rows of ``vectors``, best first.
        vectors: each of length 1 or all zeros.
        threshold: cosine.
    """
    ranked = vectors[ranking]
    near = np.round(ranked @ ranked.T, 6) > threshold
    kept = np.zeros(len(ranking), dtype=bool)
    for place in range(len(ranking)):
        kept[place] = not (near[place, :place] & kept[:place]).any()
    return ranking[kept]


def by_session_in_turn(ranking: Rows, sessions: Sequence[str]) -> Rows:
    """Round robin: the best hit of each session in ranking order, then the second best of each, and so on.

    Args:
        ranking: rows, best first.
        sessions: session of each row.
    """
    seen: Counter[str] = Counter()
    rounds = np.zeros(len(ranking), dtype=np.int64)
    for place, row in enumerate(ranking):
        rounds[place] = seen[sessions[row]]
        seen[sessions[row]] += 1
    return ranking[np.argsort(rounds, kind="stable")]
