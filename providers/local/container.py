"""One container, ready to be searched: its chunks as arrays, and an index for each leg."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import polars as pl

from providers.local.dense import DenseIndex
from providers.local.embedding import Vectors
from providers.local.lexical import LexicalIndex, Terms
from providers.local.retrieval_settings import RetrievalSettings


@dataclass
class Container:
    """Chunks in a fixed order, which breaks ties between equal scores. All sequences are parallel.

    Attributes:
        chunk_ids: what a hit is called.
        texts: what a hit shows.
        session_keys: what a hit maps to.
        turns: which turns it covers.
        dates: UTC, null where unknown.
        moments: the same for numpy.
        importance: as given.
        confidence: 1 where none was given.
        decays: whether the confidence does.
        accesses: so far; a search may count its hits.
        vectors: one row a chunk.
        lexical: index of the terms; absent where the mode has no use for it.
        dense: index of the vectors; likewise.
    """

    chunk_ids: list[str]
    texts: list[str]
    session_keys: list[list[str]]
    turns: list[list[int] | None]
    dates: list[datetime | None]
    moments: npt.NDArray[np.datetime64]
    importance: list[str | None]
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
        """Index ``chunks`` (see ``Chunks``, with column ``text``), whose terms and vectors are parallel to them."""
        return cls(
            chunk_ids=chunks["chunk_id"].to_list(),
            texts=chunks["text"].to_list(),
            session_keys=chunks["session_keys"].to_list(),
            turns=chunks["turns"].to_list(),
            dates=chunks["date"].to_list(),
            moments=chunks["date"].dt.replace_time_zone(None).to_numpy(),
            importance=chunks["importance"].to_list(),
            confidence=chunks["confidence"].fill_null(1.0).to_numpy(),
            decays=chunks["type"].is_in(["fact", "status"]).fill_null(False).to_numpy(),
            accesses=chunks["access_count"].cast(pl.Int64).to_numpy(writable=True),
            vectors=vectors,
            lexical=LexicalIndex(terms, n_terms, settings) if settings.mode != "dense" else None,
            dense=DenseIndex(vectors, settings) if settings.mode != "lexical" else None,
        )
