"""One store's link to its service: the adapter, the wire, the ledger, and how they may be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from eval_assets.ledger.ledger import Ledger, Mode
from eval_assets.ledger.wire import LedgerWire
from providers.registry import ProviderEntry
from providers.remote.errors import CallFailed, Stop
from providers.remote.service import Description, RemoteService
from providers.remote.wire import Wire


def _at_once() -> None:
    """Nothing to do before a call."""


@dataclass(frozen=True)
class Link:
    """What a store and its systems share.

    Attributes:
        entry: the provider.
        ingest: its settings.
        retrieval: settings of a search; None where a store is built.
        wire: what carries calls; None while the ledger is replayed.
        ledger: where everything is kept.
        mode: see ``LedgerWire``.
        store: name of the store.
        benchmark: which benchmark.
        revision: of retrieval: part of what determines an answer.
        concurrency: calls at a time.
        index_deadline_s: how long documents may take until they can be found.
        clear: whether containers that hold foreign documents are emptied.
    """

    entry: ProviderEntry
    ingest: BaseModel
    retrieval: BaseModel | None
    wire: Wire | None
    ledger: Ledger
    mode: Mode
    store: str
    benchmark: str
    revision: str = ""
    concurrency: int = 8
    index_deadline_s: float = 1800.0
    clear: bool = False

    @cached_property
    def description(self) -> Description:
        """What is known of the service without asking it."""
        return self.service(LedgerWire(None, self.ledger, "", self.mode)).describe()

    @cached_property
    def name(self) -> str:
        """The service and its interface's version, as the ledger names them."""
        about = self.description
        return f"{about.name} {about.api}"

    def ledgered(self, context: Mapping[str, Any], before_asking: Callable[[], None] = _at_once) -> LedgerWire:
        """A wire with the ledger in front of it, for searches whose answer ``context`` helps to determine."""
        return LedgerWire(self.wire, self.ledger, self.name, self.mode, context, before_asking)

    def probe(self) -> Mapping[str, str]:
        """Ask whether the service is there; raises ``Stop``, whatever goes wrong."""
        try:
            return self.service().probe()
        except CallFailed as error:
            raise Stop(f"store {self.store}: {error}") from None

    def service(self, wire: LedgerWire | None = None) -> RemoteService:
        """The adapter over a wire; without one, over a wire for calls that are no searches."""
        return self.entry.service(self.ingest, self.retrieval, wire or self.ledgered({}))
