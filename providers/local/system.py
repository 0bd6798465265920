"""The embedded system as a ``MemorySystem``. Building and searching load their own code, and meet nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from converters.errors import BadInput
from converters.schema import Table
from providers.local.settings import IngestSettings, RetrievalSettings
from providers.local.store import CHUNKS, TEXTS, VECTORS, VOCABULARY
from providers.protocol import Progress, StoreBuild, quiet

if TYPE_CHECKING:
    from providers.local.embedding import Embedder

STORE_TABLES: Final[Mapping[str, Table]] = {table.name: table for table in (CHUNKS, TEXTS, VECTORS, VOCABULARY)}


@dataclass(frozen=True)
class LocalSystem:
    """See ``providers.protocol.MemorySystem``.

    Attributes:
        ingest: settings of its store.
        retrieval: settings of a search.
        embedder: makes the vectors of texts and questions; None for the one in this process.
    """

    ingest: IngestSettings
    retrieval: RetrievalSettings
    embedder: Embedder | None = None

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the embedder did so far, for the event of a search."""
        facts: Mapping[str, Any] = getattr(self.embedder, "facts", {})
        return facts

    def build(self, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
        """See ``providers.local.ingest.build``."""
        from providers.local.embedding import StaticEmbedder
        from providers.local.ingest import build

        embedder = self.embedder or StaticEmbedder()
        return build(documents=documents, turns=turns, settings=self.ingest, embedder=embedder, progress=progress)

    def search(self, *, store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int) -> pl.DataFrame:
        """See ``providers.local.search.search``."""
        from providers.local.embedding import StaticEmbedder
        from providers.local.search import search

        embedder = self.embedder or StaticEmbedder()
        return search(store=store, queries=queries, limit=limit, settings=self.retrieval, embedder=embedder)


def create(
    ingest: IngestSettings, retrieval: RetrievalSettings | None, embedder: Embedder | None = None
) -> LocalSystem:
    """The embedded system with these settings; the defaults of a search where only a store is built.

    Raises:
        BadInput: the settings name an endpoint for vectors, and there is no ``embedder`` that asks it.
    """
    if ingest.embedding is not None and embedder is None:
        raise BadInput("ingest.embedding", "nothing here asks an endpoint", "give an embedder, or leave it out")
    return LocalSystem(ingest, retrieval or RetrievalSettings(), embedder)
