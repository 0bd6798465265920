"""The kit notices adapters that are wrong: each kind of fault fails the check that is about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.connect import FAST
from fakes.everyone import at_once
from fakes.mem0_server import FakeMem0Server
from fakes.zengram import FakeZengram
from pydantic import BaseModel

from providers import mem0_server
from providers.mem0_server import Mem0Server
from providers.registry import PROVIDERS, ProviderEntry
from providers.remote.errors import Unavailable
from providers.remote.service import Description, Document, Hit, Receipt, Scope
from providers.remote.wire import Request, Wire
from providers.testing import checks as kit
from providers.testing.checks import Check
from providers.testing.stage import Subject
from providers.zengram import RetrievalSettings, Zengram

Make = Callable[[RetrievalSettings, Wire], Zengram]


@dataclass(frozen=True)
class Entry(ProviderEntry):
    """The real entry with another adapter."""

    make: Make = Zengram

    def service(self, ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Zengram:
        return self.make(RetrievalSettings(), wire)


class Boundless(Zengram):
    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        return super().search(scope, query, limit=100, as_of=as_of)


class Everywhere(Zengram):
    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        hits = super().search(scope, query, limit=limit, as_of=as_of)
        return hits or [Hit("x", "from elsewhere")]


class Backwards(Zengram):
    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        return super().search(scope, query, limit=limit, as_of=as_of)[::-1]


class Nameless(Zengram):
    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        return [
            replace(one, documents=(), sources=()) for one in super().search(scope, query, limit=limit, as_of=as_of)
        ]


class Uploaded(Zengram):
    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        now = datetime(2026, 1, 1, tzinfo=UTC)
        return [replace(one, date=now) for one in super().search(scope, query, limit=limit, as_of=as_of)]


class Counting(Zengram):
    """Asks for something else while it searches, which no ledger can replay."""

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        self.count(scope)
        return super().search(scope, query, limit=limit, as_of=as_of)


class Sticky(Zengram):
    def clear(self, scope: Scope) -> None:
        pass


class Telling(Zengram):
    """Sends where a document comes from."""

    def probe(self) -> Mapping[str, str]:
        return {}

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        receipts = super().ingest(scope, documents)
        request = Request("GET", "/export", "status", params={"client_id": "haystack_17", "limit": 1}, repeatable=True)
        self.wire.send(request, lambda reply: None)
        return receipts


class Believing(Zengram):
    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        return [Receipt(one.id, "done") for one in documents]


class Nervous(Zengram):
    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        hits = super().search(scope, query, limit=limit, as_of=as_of)
        if not hits:
            raise Unavailable("nothing was found")
        return hits


class Short(Zengram):
    def describe(self) -> Description:
        return replace(super().describe(), name="other", container_length=10)


class Boasting(Zengram):
    """Says that more fits than the server takes."""

    def describe(self) -> Description:
        return replace(super().describe(), longest=30_000)


class Silent(Zengram):
    """Takes any answer of the probe, and none at all."""

    def probe(self) -> Mapping[str, str]:
        return {}


FAULTS: dict[str, tuple[type[Zengram], Check]] = {
    "no-limit": (Boundless, kit.keeps_the_limit),
    "hits-in-an-empty-container": (Everywhere, kit.finds_nothing_in_nothing),
    "worst-first": (Backwards, kit.ranks_the_best_first),
    "hits-without-a-document": (Nameless, kit.finds_what_is_stored),
    "dates-of-upload": (Uploaded, kit.dates_are_the_conversations),
    "other-calls-in-a-search": (Counting, kit.answers_searches_from_a_record),
    "clears-nothing": (Sticky, kit.counts_and_clears),
    "tells-the-source": (Telling, kit.finds_what_is_stored),
    "finds-what-was-never-sent": (Believing, kit.finds_only_what_is_there),
    "wrong-name": (Short, kit.describes_itself),
    "no-real-limit": (Boasting, kit.takes_long_documents),
    "no-probe": (Silent, kit.is_probed),
    "no-key": (Silent, kit.refuses_a_wrong_key),
    "no-deadline": (Silent, kit.gives_up_in_time),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(fault: str) -> None:
    make, check = FAULTS[fault]
    known: Any = vars(PROVIDERS["zengram"])
    with at_once(50), FakeZengram() as fake:
        subject = Subject(Entry(**known, make=make), fake.url, fake.key, fake.texts, manners=FAST)
        with pytest.raises(AssertionError) as caught:
            check(subject)
        assert "\n" not in str(caught.value)
        fake.breaches.clear()


class Resending(Mem0Server):
    """Says that a second sending does no harm."""

    def describe(self) -> Description:
        return replace(super().describe(), recovery="resend")


@dataclass(frozen=True)
class ResendingEntry(ProviderEntry):
    def service(self, ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Resending:
        return Resending(mem0_server.IngestSettings(infer=False), mem0_server.RetrievalSettings(), wire)


def test_storing_twice_is_noticed() -> None:
    with FakeMem0Server() as fake:
        subject = Subject(
            ResendingEntry(**vars(PROVIDERS["mem0_server"])), fake.url, fake.key, fake.texts, manners=FAST
        )
        with pytest.raises(AssertionError, match="counts 4 instead of 3"):
            kit.recovers_from_lost_replies(subject)
