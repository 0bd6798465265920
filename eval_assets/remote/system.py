"""A remote provider as a ``MemorySystem``: what the assets build and search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from eval_assets.ledger.settings import ledger_mode, open_ledger
from eval_assets.project import Project
from eval_assets.remote.access import access_to
from eval_assets.remote.embedding_keys import asks_endpoint, embedding_of
from eval_assets.remote.link import Link
from eval_assets.remote.search import Asking, containers
from eval_assets.remote.store import build
from eval_assets.settings_systems import Store, System
from providers.protocol import MemorySystem, Progress, StoreBuild, quiet
from providers.registry import PROVIDERS
from providers.remote.idmap import RECEIPTS


@dataclass
class RemoteSystem:
    """See ``providers.protocol.MemorySystem``.

    Attributes:
        link: the store's.
        facts: what the last search adds to its event: calls made and replayed, hits that map to no session.
    """

    link: Link
    facts: dict[str, Any] = field(default_factory=dict)

    def build(self, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
        """See ``eval_assets.remote.store.build``."""
        return build(self.link, documents=documents, turns=turns, progress=progress)

    def search(self, *, store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int) -> pl.DataFrame:
        """See ``eval_assets.remote.search.Asking.ask``."""
        known = containers(store[RECEIPTS.name], queries["container"].unique().to_list())
        asking = Asking(self.link, known, limit, quiet)
        replies = asking.ask(queries)
        self.facts = {
            "calls made": asking.made,
            "calls replayed": asking.replayed,
            "hits without a session": asking.unmapped,
        }
        return replies


@contextmanager
def memory_system(
    project: Project, name: str, store: Store, benchmark: str, system: System | None = None
) -> Iterator[MemorySystem]:
    """The provider of a store, ready to build it or, with a ``system``, to search it.

    Raises:
        BadInput: the key of a remote service or of an endpoint for vectors is missing, or the ledger cannot be opened.
    """
    entry = PROVIDERS[store.provider]
    ingest = entry.ingest_settings(store.ingest)
    retrieval = entry.retrieval_settings(system.retrieval) if system else None
    embedding = embedding_of(store)
    if embedding is not None:
        from eval_assets.remote.embedding import embedder_for

        with embedder_for(project, name, store, embedding, silent=not asks_endpoint(store, system)) as embedder:
            yield entry.create(ingest, retrieval, embedder)
        return
    if not entry.remote:
        yield entry.create(ingest, retrieval)
        return
    ledger = open_ledger(project)
    try:
        mode = ledger_mode()
        service = store.service
        with access_to(project, name, store, replayed=mode == "replay") as wire:
            yield RemoteSystem(
                Link(
                    entry,
                    ingest,
                    retrieval,
                    wire,
                    ledger,
                    mode,
                    name,
                    benchmark,
                    revision=str(system.revision) if system else "",
                    concurrency=service.concurrency or entry.access.concurrency,
                    index_deadline_s=service.index_deadline_s,
                    clear=service.clear_foreign,
                )
            )
    finally:
        ledger.close()
