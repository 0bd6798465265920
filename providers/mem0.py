"""Mem0's platform: its REST interface v3.

Facts of the wire (paths end in a slash). What is added names its user at the top level, what is searched or listed in
``filters``. With ``infer`` a language model makes memories of a session, and the reply is an event to ask after;
without, every message is stored as it is, one memory a message, and an exact repeat within a user gives the memory that
is there. ``threshold`` is 0.1 where it is missing. Deletions are events too, and lists show them later.

Not confirmed: whether ``infer: false`` may also be answered with PENDING (both are read), how long a message may be,
and whether a list counts memories that the service merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from providers.mem0_texts import (
    MARKS,
    NO_TEXT,
    found,
    fresh_user,
    has_text,
    hits,
    joined,
    made,
    metadata,
    turn_by_turn,
)
from providers.remote.access import Access, AccessDefaults
from providers.remote.errors import Absent, CallFailed, OutOfQuota, Refused, TimedOut, Unreadable, one_line
from providers.remote.service import Description, Document, Hit, Receipt, Scope
from providers.remote.values import count, iso, mapping, name, rows
from providers.remote.wire import Purpose, Reply, Request, Wire

ACCESS: Final = AccessDefaults(base_url="https://api.mem0.ai", key_env="MEM0_API_KEY", requests_per_minute=900)

_PAGE: Final = 200
_MOST: Final = 1000
_CLEAR_S: Final = 600.0
_WAITING: Final = ("PENDING", "RUNNING")


class IngestSettings(BaseModel):
    """What shapes a store.

    Attributes:
        api: version of the interface.
        infer: whether memories are made of a session by the service's language model. Otherwise a session is stored as
            it is, as one memory, with its date on the first line and its id on the last.
        longest: characters of a session, at most; longer ones are split between turns. The service's limit is not
            known; 40,000 are known to be stored whole.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    api: Literal["v3"] = "v3"
    infer: bool = True
    longest: Annotated[int, Field(ge=1000)] = 40_000


class RetrievalSettings(BaseModel):
    """Options of a search.

    Attributes:
        threshold: hits with a lower score are left out; 0 leaves out none. The service's own default is 0.1.
        rerank: whether hits are ordered once more by another model.
        latest_only: leave out memories that newer ones replaced or were merged with.
        include_merged: also give memories that were merged with others, which are hidden otherwise.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0
    rerank: bool = False
    latest_only: bool = False
    include_merged: bool = False


@dataclass(frozen=True)
class Mem0:
    """See ``providers.remote.service.RemoteService``."""

    ingesting: IngestSettings
    retrieval: RetrievalSettings
    wire: Wire

    def describe(self) -> Description:
        """Documents go one at a time, as there is no batch.

        Without inference a second sending does no harm: an exact repeat is not stored. With it, every sending is
        extracted again, and one whose reply was lost has no event to ask after and may be written at any time later;
        so the container is emptied and begun anew, under a user id that was never used.
        """
        return Description(
            name="mem0",
            api=self.ingesting.api,
            container_length=64,
            max_hits=_MOST,
            batch=1,
            longest=self.ingesting.longest - MARKS,
            measure="characters",
            recovery="clear" if self.ingesting.infer else "resend",
            takes_as_of=True,
            indexing=True,
        )

    def probe(self) -> Mapping[str, str]:
        """Ping, which needs the key; whose account it is stays unsaid."""
        about = self.wire.send(Request("GET", "/v1/ping/", "probe", repeatable=True), lambda reply: mapping(reply.body))
        status = about.get("status")
        return {"status": one_line(status, 100)} if isinstance(status, str) else {}

    def prepare(self, container: str) -> Mapping[str, str]:
        """A user needs no making; see ``describe`` for why one may have a name of its own each time."""
        return {"user_id": fresh_user(container) if self.ingesting.infer else container}

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Add one by one; what has no text is not sent."""
        return [self._add(scope, one) if has_text(one) else _nothing(one) for one in documents]

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """Ask after each event; one that cannot be read now stays pending, and holds up no other."""
        return [self._asked(one) for one in pending]

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Those that a memory names; of what is still being extracted nothing can be seen."""
        return found(documents, self._list(scope))

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """Array order is the rank; scores are blends of several signals."""
        body: dict[str, Any] = {
            "query": query.strip(),
            "filters": {"user_id": _user(scope)},
            "top_k": min(limit, _MOST),
            "threshold": self.retrieval.threshold,
            "rerank": self.retrieval.rerank,
        }
        if as_of:
            body["reference_date"] = iso(as_of)
        # Not in the service's schema, so they are not sent unless they are wanted.
        body |= {key: True for key in ("latest_only", "include_merged") if getattr(self.retrieval, key)}
        request = Request("POST", "/v3/memories/search/", "search", body=body, repeatable=True)
        return self.wire.send(request, lambda reply: hits(mapping(reply.body).get("results")))

    def count(self, scope: Scope) -> int:
        """How many memories the user has. With inference 1 for any number: the service merges memories by itself and
        hides them, so that a smaller number would not mean that something was lost.
        """
        held = self._held(scope, "count")
        return min(held, 1) if self.ingesting.infer else held

    def clear(self, scope: Scope) -> None:
        """Delete, wait for the event, and look whether the list is empty; delete again while it is not.

        Raises:
            TimedOut: it is not gone after ten minutes.
        """
        from stamina import retry_context

        ticket: str | None = None
        for attempt in retry_context(
            on=TimedOut, attempts=None, timeout=_CLEAR_S, wait_initial=0.05, wait_max=10.0, wait_jitter=0.05
        ):
            with attempt:
                if ticket and self._deleting(ticket):
                    raise TimedOut(f"mem0: user {_user(scope)} is still being deleted")
                if self._held(scope, "clear"):
                    ticket = self._delete(scope)
                    raise TimedOut(f"mem0: user {_user(scope)} still has memories")

    def _add(self, scope: Scope, document: Document) -> Receipt:
        infer = self.ingesting.infer
        body: dict[str, Any] = {
            "messages": turn_by_turn(document) if infer else joined(document),
            "user_id": _user(scope),
            "metadata": metadata(document),
            "infer": infer,
        }
        if document.date:
            body["timestamp"] = int(document.date.timestamp())
        request = Request("POST", "/v3/memories/add/", "ingest", body=body, repeatable=not infer)
        return self.wire.send(request, lambda reply: _receipt(document.id, reply, ticket=None))

    def _asked(self, pending: Receipt) -> Receipt:
        request = Request("GET", f"/v1/event/{quote(pending.ticket or '', safe='')}/", "status", repeatable=True)
        try:
            return self.wire.send(request, lambda reply: _receipt(pending.document, reply, ticket=pending.ticket))
        except CallFailed as error:
            return Receipt(pending.document, "pending", ticket=pending.ticket, error=str(error))

    def _held(self, scope: Scope, purpose: Purpose) -> int:
        request = _list_request(scope, purpose, page=1, size=1)
        try:
            return self.wire.send(request, lambda reply: count(mapping(reply.body).get("count"), "count"))
        except Absent:
            return 0

    def _list(self, scope: Scope) -> Iterator[Mapping[str, Any]]:
        page, seen = 1, 0
        while True:
            request = _list_request(scope, "status", page=page, size=_PAGE)
            some, total = self.wire.send(request, _page)
            yield from some
            page, seen = page + 1, seen + len(some)
            if not some or seen >= total:
                return

    def _delete(self, scope: Scope) -> str | None:
        # Not by ``filters``, which this path does not know: without a filter of its own it may mean everybody.
        params = {"user_id": _user(scope)}
        request = Request("DELETE", "/v1/memories/", "clear", params=params, repeatable=True)
        try:
            return self.wire.send(request, _event)
        except Absent:
            return None

    def _deleting(self, ticket: str) -> bool:
        request = Request("GET", f"/v1/event/{quote(ticket, safe='')}/", "clear", repeatable=True)
        try:
            return self.wire.send(request, _status) in _WAITING
        except Absent:
            return False


def create(ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Mem0:
    """The adapter with these settings."""
    return Mem0(
        IngestSettings.model_validate(ingest.model_dump()),
        RetrievalSettings.model_validate(retrieval.model_dump() if retrieval else {}),
        wire,
    )


def open_wire(ingest: BaseModel, access: Access) -> Wire:
    """HTTP with the word ``Token`` before the key."""
    return access.http("mem0", {"Authorization": f"Token {access.key}"}, _judge)


def _judge(status: int, headers: Mapping[str, str], body: Any) -> Exception | None:
    """413, and 403 that asks for an upgrade, are quotas; 400 says in its details what is wrong."""
    known = body if isinstance(body, Mapping) else {}
    details = known["details"] if isinstance(known.get("details"), Mapping) else {}
    told = [str(known[key]) for key in ("detail", "error", "message") if known.get(key)][:1]
    told += [str(details["message"])] if details.get("message") else []
    said = one_line(f"mem0: status {status}: {': '.join(told) or 'nothing said'}")
    if status == 413 or (status == 403 and (known.get("upgrade_required") or details.get("upgrade_required"))):
        return OutOfQuota(f"{said}; look at the plan and its quota")
    if status == 404:
        return Absent(said)
    return Refused(said) if status == 400 else None


def _nothing(document: Document) -> Receipt:
    return Receipt(document.id, "skipped", error=NO_TEXT)


def _user(scope: Scope) -> str:
    return scope.handle.get("user_id", scope.name)


def _list_request(scope: Scope, purpose: Purpose, *, page: int, size: int) -> Request:
    params, body = {"page": page, "page_size": size}, {"filters": {"user_id": _user(scope)}}
    return Request("POST", "/v3/memories/", purpose, params=params, body=body, repeatable=True)


def _page(reply: Reply) -> tuple[Sequence[Mapping[str, Any]], int]:
    body = mapping(reply.body)
    return rows(body.get("results"), "results"), count(body.get("count"), "count")


def _status(reply: Reply) -> str:
    status = mapping(reply.body).get("status")
    if not isinstance(status, str):
        raise Unreadable("the reply has no status")
    return status


def _event(reply: Reply) -> str | None:
    event = mapping(reply.body).get("event_id")
    if event is None and "message" not in mapping(reply.body):
        raise Unreadable("the reply has neither an event_id nor a message")
    return None if event is None else name(event)


def _receipt(document: str, reply: Reply, *, ticket: str | None) -> Receipt:
    """Of an addition, or of an event that was asked after under ``ticket``."""
    body = mapping(reply.body)
    match _status(reply):
        case "PENDING" | "RUNNING":
            return Receipt(document, "pending", ticket=ticket or name(body.get("event_id")))
        case "SUCCEEDED":
            return made(document, body.get("results"))
        case "FAILED":
            said = body.get("error") or body.get("message") or "without a reason"
            return Receipt(document, "failed", error=one_line(f"mem0: extraction failed: {said}"))
        case other:
            raise Unreadable(f"an event is {one_line(other, 80)}")
