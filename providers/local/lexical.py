"""The lexical leg: BM25 over the chunks of a container."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from providers.local.fusion import Rows, Scores
from providers.local.retrieval_settings import RetrievalSettings

Terms = npt.NDArray[np.int32]
OTHER: Final = 0


class LexicalIndex:
    """BM25 scores of the chunks of a container.

    Formulas and look-up are bm25s's; its building of an index, a Python loop over documents, is replaced by one pass
    over arrays, which gives the same matrix. (The library says that the step may be overridden; a test compares.)

    Args:
        terms: of each chunk, in order. Terms that no question asks for may all be ``OTHER``: they count as length.
        n_terms: terms are below this.
        settings: variant, k1 and b.
    """

    def __init__(self, terms: Sequence[Terms], n_terms: int, settings: RetrievalSettings) -> None:
        import bm25s

        self._n_chunks = len(terms)
        self._index = bm25s.BM25(method=settings.lexical_method, k1=settings.bm25_k1, b=settings.bm25_b)
        self._index.scores = _matrix(terms, n_terms, self._index)
        self._index.nonoccurrence_array = None

    def scores(self, terms: Terms) -> Scores:
        """BM25 score of each chunk; a term that is asked twice counts twice."""
        if not len(terms) or not self._n_chunks:
            return np.zeros(self._n_chunks)
        return np.asarray(self._index.get_scores_from_ids(terms), dtype=np.float64)


def top(scores: Scores, count: int, allowed: npt.NDArray[np.bool_]) -> Rows:
    """At most ``count`` allowed rows with a score above 0, best first, equal ones in row order."""
    rows = np.nonzero(allowed & (scores > 0))[0]
    return rows[np.argsort(-scores[rows], kind="stable")][:count]


def _matrix(terms: Sequence[Terms], n_terms: int, model: Any) -> dict[str, Any]:
    """Scores by term and chunk, as bm25s keeps them: compressed columns, one a term; that of ``OTHER`` is empty."""
    from bm25s.scoring import _select_idf_scorer, _select_tfc_scorer

    lengths = np.array([len(chunk) for chunk in terms], dtype=np.int64)
    chunk_of = np.repeat(np.arange(len(terms)), lengths)
    term_of = np.concatenate(terms) if len(terms) else np.zeros(0, dtype=np.int32)
    asked = term_of != OTHER
    pairs, counts = np.unique(term_of[asked].astype(np.int64) * len(terms) + chunk_of[asked], return_counts=True)
    term, chunk = np.divmod(pairs, max(len(terms), 1))
    frequency = np.bincount(term, minlength=n_terms)
    idf_of = _select_idf_scorer(model.idf_method)
    idf = np.array([idf_of(int(df), N=len(terms)) if df else 0.0 for df in frequency])
    average = lengths.mean() if len(terms) else 1.0
    weight = _select_tfc_scorer(model.method)(counts, lengths[chunk], average, model.k1, model.b, model.delta)
    return {
        "data": (idf[term] * weight).astype(model.dtype),
        "indices": chunk.astype(model.int_dtype),
        "indptr": np.concatenate([[0], np.cumsum(frequency)]).astype(model.int_dtype),
        "num_docs": len(terms),
    }
