"""The embedded system as a ``MemorySystem``. Building and searching load their own code, and meet nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from converters.schema import Table
from providers.local.settings import IngestSettings, RetrievalSettings
from providers.local.store import CHUNKS, TEXTS, VECTORS, VOCABULARY
from providers.protocol import Progress, StoreBuild, quiet

STORE_TABLES: Final[Mapping[str, Table]] = {table.name: table for table in (CHUNKS, TEXTS, VECTORS, VOCABULARY)}


@dataclass(frozen=True)
class LocalSystem:
    """See ``providers.protocol.MemorySystem``."""

    ingest: IngestSettings
    retrieval: RetrievalSettings

    def build(self, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
        """See ``providers.local.ingest.build``."""
        from providers.local.ingest import build

        return build(documents=documents, turns=turns, settings=self.ingest, progress=progress)

    def search(self, *, store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int) -> pl.DataFrame:
        """See ``providers.local.search.search``."""
        from providers.local.search import search

        return search(store=store, queries=queries, limit=limit, settings=self.retrieval)


def create(ingest: IngestSettings, retrieval: RetrievalSettings | None) -> LocalSystem:
    """The embedded system with these settings; the defaults of a search where only a store is built."""
    return LocalSystem(ingest, retrieval or RetrievalSettings())
