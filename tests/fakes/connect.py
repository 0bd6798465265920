"""An adapter over real HTTP to a fake, without a ledger."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fakes.server import Fake
from providers.registry import PROVIDERS
from providers.remote.access import Access
from providers.remote.retry import Manners
from providers.remote.service import Document, Receipt, RemoteService, Scope

FAST = Manners(concurrency=4, timeout_s=2.0, deadline_s=10.0, attempts=6, backoff_s=0.01)


@contextmanager
def connected(
    fake: Fake,
    provider: str,
    *,
    ingest: dict[str, Any] | None = None,
    retrieval: dict[str, Any] | None = None,
    manners: Manners = FAST,
    key: str | None = None,
) -> Iterator[RemoteService]:
    """The adapter of a provider with these settings, talking to ``fake``."""
    entry = PROVIDERS[provider]
    settings = entry.ingest_settings(ingest or {})
    wire = entry.open_wire(settings, Access(fake.url, fake.key if key is None else key, manners))
    try:
        yield entry.service(settings, entry.retrieval_settings(retrieval or {}), wire)
    finally:
        wire.close()  # type: ignore[attr-defined]


def stored(service: RemoteService, scope: Scope, documents: Sequence[Document]) -> list[Receipt]:
    """Send all documents and ask after them until none is pending, a hundred times at most."""
    batch = service.describe().batch
    receipts = [
        receipt
        for start in range(0, len(documents), batch)
        for receipt in service.ingest(scope, documents[start : start + batch])
    ]
    for _ in itertools.repeat(None, 100):
        pending = [one for one in receipts if one.status == "pending"]
        if not pending:
            return receipts
        after = {one.document: one for one in service.settle(scope, pending)}
        receipts = [after.get(one.document, one) for one in receipts]
    raise AssertionError("still pending")


def prepared(service: RemoteService, container: str) -> Scope:
    """A container, made."""
    return Scope(container, service.prepare(container))
