"""The formulas: what a ranking is worth at a cut-off, for all questions at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Values = NDArray[np.float64]

METRICS: Final = ("hit", "recall", "recall_all", "precision", "f1", "mrr", "ndcg")
CUTOFFS: Final = (1, 3, 5, 10, 20, 50)


@dataclass(frozen=True)
class Level:
    """What the formulas need of all rankings at one level. Arrays of one element a question, but for ``found_*``.

    Attributes:
        name: session or turn.
        found_row: which question a found piece of evidence belongs to, ascending.
        found_rank: the rank of that piece, from 1, ascending within a question.
        n_ranked: distinct sessions (turns) in the ranking.
        n_evidence: sessions (turns) to find.
        cut: the list may have gone on: it ended at the number of hits asked for.
        defined: there is evidence to find, the search worked, and its hits can be mapped at this level.
    """

    name: str
    found_row: Counts
    found_rank: Counts
    n_ranked: Counts
    n_evidence: Counts
    cut: Flags
    defined: Flags


def metrics_at(level: Level, k: Counts) -> Values:
    """Every metric at a cut-off.

    With G the evidence and ``top`` the first k of the ranking (trec_eval's names in brackets):
    hit [success] = any of G in top; recall [recall] = share of G in top; recall_all = all of G in top;
    precision [P] = number of G in top, by k even where the ranking is shorter; f1 = harmonic mean of precision and
    recall; mrr [recip_rank] = 1/rank of the first of G in top, else 0; ndcg [ndcg_cut] = sum of 1/log2(rank + 1) over
    G in top, by the same sum of an ideal ranking of all of G cut at k.

    Args:
        level: the rankings.
        k: the cut-off of each question, at least 1.

    Returns:
        One row a question, one column a metric in the order of ``METRICS``; NaN where not ``defined``, and where the
        list was cut before it reached k.
    """
    n_rows = len(k)
    inside = level.found_rank <= k[level.found_row]
    row, rank = level.found_row[inside], level.found_rank[inside]
    found = np.bincount(row, minlength=n_rows)
    dcg = np.bincount(row, weights=1 / np.log2(rank + 1), minlength=n_rows)
    first = np.full(n_rows, np.inf)
    np.minimum.at(first, row, rank)

    evidence = np.maximum(level.n_evidence, 1)
    recall = found / evidence
    precision = found / k
    values = np.stack(
        [
            found > 0,
            recall,
            found >= evidence,
            precision,
            2 * precision * recall / np.where(found > 0, precision + recall, 1),
            1 / first,
            dcg / _ideal(np.minimum(evidence, k)),
        ],
        axis=1,
    ).astype(np.float64)
    values[~level.defined | (level.cut & (level.n_ranked < k))] = np.nan
    return values


def _ideal(n: Counts) -> Values:
    gains = 1 / np.log2(np.arange(2, int(n.max(initial=0)) + 2))
    sums: Values = np.concatenate([[0.0], np.cumsum(gains)])[n]
    return sums
