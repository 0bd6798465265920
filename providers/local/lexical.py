"""The lexical leg: BM25 over the chunks of a container."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from providers.local.fusion import Rows, Scores
from providers.local.retrieval_settings import RetrievalSettings

Terms = npt.NDArray[np.int32]
OTHER: Final = 0


class LexicalIndex:
    """BM25 scores of the chunks of a container.

    Args:
        terms: of each chunk, in order. Terms that no question asks for may all be ``OTHER``: they count as length.
        n_terms: terms are below this.
        settings: variant, k1 and b.
    """

    def __init__(self, terms: Sequence[Terms], n_terms: int, settings: RetrievalSettings) -> None:
        self._n_chunks = len(terms)
        self._index = None
        if not any(len(chunk) for chunk in terms):
            return
        import bm25s

        # The library reports each step to its logger at DEBUG; a caller's debug log is not the place for it.
        logging.getLogger("bm25s").setLevel(logging.INFO)
        self._index = bm25s.BM25(method=settings.lexical_method, k1=settings.bm25_k1, b=settings.bm25_b)
        vocabulary = {str(term): term for term in range(n_terms)}
        self._index.index(
            ([chunk.tolist() for chunk in terms], vocabulary), create_empty_token=False, show_progress=False
        )

    def scores(self, terms: Terms) -> Scores:
        """BM25 score of each chunk, not below 0; a term that is asked twice counts twice."""
        if self._index is None or not len(terms):
            return np.zeros(self._n_chunks)
        return np.asarray(self._index.get_scores_from_ids(terms), dtype=np.float64)


def top(scores: Scores, count: int, allowed: npt.NDArray[np.bool_]) -> Rows:
    """At most ``count`` allowed rows with a score above 0, best first, equal ones in row order."""
    rows = np.nonzero(allowed & (scores > 0))[0]
    return rows[np.argsort(-scores[rows], kind="stable")][:count]
