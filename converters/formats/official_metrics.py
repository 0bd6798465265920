"""The metrics that a LongMemEval retrieval log carries, as its repository computes them. Not our own: docs/metrics.md.

Source: ``src/retrieval/eval_utils.py`` and ``run_retrieval.py`` of the LongMemEval repository.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2
from typing import Final

CUTOFFS: Final = (1, 3, 5, 10, 30, 50)


def official_metrics(
    ranked: Sequence[str], gold: Collection[str], corpus: Sequence[str], depth: int
) -> dict[str, float]:
    """``recall_any@k``, ``recall_all@k`` and ``ndcg_any@k`` for each k of ``CUTOFFS`` up to ``depth``.

    DCG weighs ranks 1 and 2 alike (1, then 1 / log2(rank)). With nothing to find, recall_any and ndcg_any are 0 and
    recall_all is 1.

    Args:
        ranked: source ids of the ranked sessions, best first.
        gold: those to be found, whether the corpus holds them or not.
        corpus: source ids of all sessions of the haystack, repeated ids included.
        depth: up to which rank the list is known.
    """
    ideal = sorted((name in gold for name in corpus), reverse=True)
    found = [name in gold for name in ranked]
    metrics = {}
    for k in CUTOFFS:
        if k > depth:
            break
        seen = set(ranked[:k])
        best = _dcg(ideal[:k])
        metrics[f"recall_any@{k}"] = float(any(name in seen for name in gold))
        metrics[f"recall_all@{k}"] = float(all(name in seen for name in gold))
        metrics[f"ndcg_any@{k}"] = _dcg(found[:k]) / best if best else 0.0
    return metrics


def _dcg(relevances: Sequence[bool]) -> float:
    return sum(1 if rank == 1 else 1 / log2(rank) for rank, relevant in enumerate(relevances, 1) if relevant)
