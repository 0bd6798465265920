"""The dense leg: vectors nearest to the question's, exactly or through an HNSW graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from providers.local.embedding import Vectors
from providers.local.fusion import Rows, Scores
from providers.local.retrieval_settings import RetrievalSettings

Mask = npt.NDArray[np.bool_]


def similarity(cosine: npt.NDArray[np.floating[Any]]) -> Scores:
    """The emulated API's scale: 1 - distance / 2, where distance is 1 - cosine. From 0 to 1; 0.5 is unrelated."""
    scores: Scores = 1 - (1 - np.asarray(cosine, dtype=np.float64)) / 2
    return scores


class DenseIndex:
    """Vector search over the chunks of a container.

    Args:
        vectors: one row a chunk, each of length 1 or all zeros.
        settings: exact or HNSW, and the graph's parameters.
    """

    def __init__(self, vectors: Vectors, settings: RetrievalSettings) -> None:
        self._vectors = vectors
        self._graph: Any = None
        large = len(vectors) >= settings.ann_threshold
        if len(vectors) and (settings.ann == "hnsw" or (settings.ann == "auto" and large)):
            self._graph = _graph(vectors, settings)

    def nearest(self, query: npt.NDArray[np.float32], count: int, allowed: Mask) -> tuple[Rows, Scores]:
        """At most ``count`` allowed rows, nearest first, with their similarities; equal ones in row order.

        A graph cannot be told what is allowed, so a search that excludes rows is exact.
        """
        if self._graph is None or not allowed.all():
            rows = np.nonzero(allowed)[0]
            # Six decimals: the sum of 256 products differs in its last bits between machines and batch sizes.
            cosine = np.round(self._vectors[rows].astype(np.float32) @ query, 6)
        else:
            matches = self._graph.search(query, min(count, len(self._vectors)), threads=1)
            rows = np.asarray(matches.keys, dtype=np.int64)
            cosine = np.round(1 - np.asarray(matches.distances), 6)
        order = np.lexsort((rows, -cosine))[:count]
        return rows[order], similarity(cosine[order])


def _graph(vectors: Vectors, settings: RetrievalSettings) -> Any:
    from usearch.index import Index

    graph = Index(
        ndim=vectors.shape[1],
        metric="ip",
        dtype="f32",
        connectivity=settings.connectivity,
        expansion_add=settings.ef_construction,
        expansion_search=settings.ef_search,
    )
    # One thread: with more, the graph depends on which of them comes first.
    graph.add(np.arange(len(vectors)), np.ascontiguousarray(vectors), threads=1)
    return graph
