"""What is tested, and one container of it that a check plays in."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from providers.registry import ProviderEntry
from providers.remote.access import Access
from providers.remote.retry import Manners
from providers.remote.service import Document, Hit, Message, Receipt, RemoteService, Scope
from providers.remote.wire import Wire
from providers.testing.wires import Recorder

DATE: Final = datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
_CONTAINER: Final = 16
_PATIENT: Final = Manners(concurrency=2, timeout_s=60.0, deadline_s=120.0, backoff_s=0.1)


@dataclass(frozen=True)
class Subject:
    """An adapter with its settings, and where its server is.

    Attributes:
        entry: the provider.
        base_url: where its server, or a fake of it, listens.
        key: what the server takes; "" where it wants none.
        texts: names of the fields and parameters of requests that hold conversation text.
        ingest: settings of a store.
        retrieval: settings of a search.
        manners: how the server is treated.
        polls: how often pending documents are asked after, at most.
        pause_s: seconds before they are asked after again; 0 for a fake that counts requests.
    """

    entry: ProviderEntry
    base_url: str
    key: str
    texts: Collection[str]
    ingest: Mapping[str, Any] = field(default_factory=dict)
    retrieval: Mapping[str, Any] = field(default_factory=dict)
    manners: Manners = _PATIENT
    polls: int = 200
    pause_s: float = 0.0

    @property
    def over_http(self) -> bool:
        """Whether there is a server, and not a library in this process."""
        return "://" in self.base_url

    @contextmanager
    def wire(self, **changes: Any) -> Iterator[Wire]:
        """What carries its calls; ``changes`` are fields of ``Access`` that are others for once."""
        settings = self.entry.ingest_settings(self.ingest)
        given: dict[str, Any] = {"base_url": self.base_url, "key": self.key, "manners": self.manners, **changes}
        wire = self.entry.open_wire(settings, Access(**given))
        try:
            yield wire
        finally:
            close: Callable[[], None] | None = getattr(wire, "close", None)
            if close:
                close()

    def service(self, wire: Wire) -> RemoteService:
        """The adapter over a wire."""
        retrieval = self.entry.retrieval_settings(self.retrieval)
        return self.entry.service(self.entry.ingest_settings(self.ingest), retrieval, wire)


@dataclass
class Stage:
    """A container that a check plays in.

    Attributes:
        subject: what is tested.
        recorder: what passes.
        service: the adapter.
        scope: the container.
        sources: our ids by the service's, as the receipts tell.
    """

    subject: Subject
    recorder: Recorder
    service: RemoteService
    scope: Scope
    sources: dict[str, list[str]] = field(default_factory=dict)

    def store(self, documents: Sequence[Document]) -> dict[str, Receipt]:
        """Send, and ask until none is pending; the receipts by our ids."""
        receipts: dict[str, Receipt] = {}
        size = self.service.describe().batch
        for start in range(0, len(documents), size):
            some = documents[start : start + size]
            for receipt in self.service.ingest(self.scope, some):
                assert receipt.document not in receipts, f"two receipts for {receipt.document}"
                receipts[receipt.document] = receipt
            missing = [one.id for one in some if one.id not in receipts]
            assert not missing, f"ingest gave no receipt for {missing}"
        return self.settled(receipts)

    def settled(self, receipts: Mapping[str, Receipt]) -> dict[str, Receipt]:
        """The same when none is pending any more."""
        found = dict(receipts)
        for _ in range(self.subject.polls):
            pending = [one for one in found.values() if one.status == "pending"]
            if not pending:
                break
            found |= {one.document: one for one in self.service.settle(self.scope, pending)}
            time.sleep(self.subject.pause_s)
        late = [one.document for one in found.values() if one.status == "pending"]
        assert not late, f"still pending after {self.subject.polls} times of asking: {late}"
        for one in found.values():
            for own in one.provider_ids:
                self.sources.setdefault(own, []).append(one.document)
        return found

    def done(self, documents: Sequence[Document]) -> dict[str, Receipt]:
        """Store, and see that all of them can be found."""
        receipts = self.store(documents)
        wrong = {one.document: f"{one.status} ({one.error})" for one in receipts.values() if one.status != "done"}
        assert not wrong, f"these are not done: {wrong}"
        return receipts

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """Hits."""
        return list(self.service.search(self.scope, query, limit=limit, as_of=DATE))

    def documents(self, hit: Hit) -> list[str]:
        """Which documents of ours a hit comes from, as the engine works it out."""
        return list(hit.documents) or [name for source in hit.sources for name in self.sources.get(source, ())]

    def found(self, query: str, limit: int = 10) -> list[str]:
        """Our ids in the order of the hits, each once."""
        return list(dict.fromkeys(name for hit in self.search(query, limit) for name in self.documents(hit)))


@contextmanager
def stage(subject: Subject, wrap: Callable[[Wire], Wire] = lambda wire: wire) -> Iterator[Stage]:
    """An empty container, which is emptied again at the end; what was told meanwhile must keep the law.

    ``wrap`` puts another wire between the adapter and the recorder.
    """
    with subject.wire() as wire:
        recorder = Recorder(wire, subject.texts)
        service = subject.service(wrap(recorder))
        scope = opened(service)
        yield Stage(subject, recorder, service, scope)
        service.clear(scope)
        assert not recorder.broken, f"requests told what must not leave: {recorder.broken[:5]}"


def opened(service: RemoteService) -> Scope:
    """A container that nobody has used."""
    name = secrets.token_hex(_CONTAINER)
    return Scope(name, service.prepare(name))


def document(name: str, *texts: str, date: datetime | None = DATE) -> Document:
    """A session under an id such as the engine gives; ``texts`` are its turns."""
    messages = [Message(("user", "assistant")[turn % 2], text) for turn, text in enumerate(texts)]
    return Document(name, messages, date)
