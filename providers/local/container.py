"""One container, ready to be searched: its chunks as arrays, and an index for each leg."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from providers.local.boosts import importance_boost
from providers.local.dense import DenseIndex
from providers.local.embedding import Vectors
from providers.local.fusion import Scores
from providers.local.lexical import LexicalIndex, Terms
from providers.local.retrieval_settings import RetrievalSettings


@dataclass
class Container:
    """Chunks in a fixed order, which breaks ties between equal scores. All sequences are parallel.

    Attributes:
        sessions: session of each chunk.
        dates: UTC, not a time where unknown.
        importance: weight of each chunk's importance.
        confidence: 1 where none was given.
        decays: whether the confidence does.
        accesses: so far; a search may count its hits.
        vectors: one row a chunk.
        lexical: index of the terms; absent where the mode has no use for it.
        dense: index of the vectors; likewise.
    """

    sessions: list[str]
    dates: npt.NDArray[np.datetime64]
    importance: Scores
    confidence: npt.NDArray[np.float64]
    decays: npt.NDArray[np.bool_]
    accesses: npt.NDArray[np.int64]
    vectors: Vectors
    lexical: LexicalIndex | None
    dense: DenseIndex | None

    @classmethod
    def of(
        cls, chunks: pl.DataFrame, terms: Sequence[Terms], n_terms: int, vectors: Vectors, settings: RetrievalSettings
    ) -> Container:
        """Index chunks, as ``ranked_columns`` leaves them; their terms and vectors are parallel to them."""
        return cls(
            sessions=chunks["session"].to_list(),
            dates=chunks["date"].to_numpy(),
            importance=importance_boost(chunks["importance"].to_list(), settings.importance_weights),
            confidence=chunks["confidence"].to_numpy(),
            decays=chunks["decays"].to_numpy(),
            accesses=chunks["access_count"].to_numpy(writable=True),
            vectors=vectors,
            lexical=LexicalIndex(terms, n_terms, settings) if settings.mode != "dense" else None,
            dense=DenseIndex(vectors, settings) if settings.mode != "lexical" else None,
        )


def ranked_columns(chunks: pl.DataFrame) -> pl.DataFrame:
    """What decides a ranking, of ``Chunks`` with columns ``row`` and ``text_row``; once for all containers."""
    return chunks.select(
        "row",
        "container",
        "text_row",
        "importance",
        session=pl.col("session_keys").list.first(),
        date=pl.col("date").dt.replace_time_zone(None),
        confidence=pl.col("confidence").fill_null(1.0),
        decays=pl.col("type").is_in(["fact", "status"]).fill_null(False),
        access_count=pl.col("access_count").cast(pl.Int64),
    )
