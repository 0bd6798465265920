"""Synap (Maximem), a hosted memory service: plain JSON over HTTPS, no bootstrap but ``whoami``.

Facts of the wire, from the vendor's own client 0.6.9. Paths under ``/api/v1`` and under ``/v1`` are mixed on purpose.
Documents are taken at once and made into memories later; a document's status names its memories, which is how a hit is
traced back. Whether ``document_id`` keeps a document from being stored twice is told both ways, so a document whose
request got no answer may be there or not, and there is no list to look it up in: the container is emptied and begun
anew. An instance either knows users alone (then a customer's id is refused) or users of customers (then it is needed).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from providers.remote.access import Access, AccessDefaults
from providers.remote.errors import (
    CallFailed,
    Degraded,
    NotRecorded,
    OutOfQuota,
    Refused,
    Stop,
    Unavailable,
    Unreadable,
    one_line,
)
from providers.remote.service import Description, Document, Hit, Receipt, Scope
from providers.remote.values import content, date_of, iso, mapping, name, number, rows, some_name
from providers.remote.wire import Method, Purpose, Reply, Request, Wire

ACCESS: Final = AccessDefaults(base_url="https://synap-cloud-prod.maximem.ai", key_env="SYNAP_API_KEY")

_BATCH: Final = 50
_MOST_HITS: Final = 100
_INGEST_S: Final = 300.0
_DELETE_CALLS: Final = 1000
_USERS_ALONE: Final = "equals_customer"
_EXCERPTS: Final = "excerpts"
_TYPES: Final = ("facts", "preferences", "episodes", "emotions", "temporal_events")
_CREDIT_STOPS: Final = ("insufficient_credits", "trial_limit_reached")


class IngestSettings(BaseModel):
    """What shapes a store.

    Attributes:
        mode: how thoroughly documents are worked through.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["long-range", "fast"] = "long-range"


class RetrievalSettings(BaseModel):
    """Options of a search.

    Attributes:
        mode: how thoroughly memories are looked for.
        types: which kinds of memories.
        look_up: of which hits the service is asked what document they come from, a call each: ``excerpts`` (quotes,
            whose ids no document's status names), ``all`` or ``none``. It counts in the latency of the search.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["accurate", "fast"] = "accurate"
    types: tuple[Literal["all", "facts", "preferences", "episodes", "emotions", "temporal_events"], ...] = ("all",)
    look_up: Literal["excerpts", "all", "none"] = "excerpts"


@dataclass(frozen=True)
class Synap:
    """See ``providers.remote.service.RemoteService``. A container is a user, maybe of a customer of its own."""

    ingest_settings: IngestSettings
    retrieval: RetrievalSettings
    wire: Wire

    def describe(self) -> Description:
        """Limits are not published: batches are as large as the vendor's own evaluation sends, and a document has no
        length that is known to be too long.

        ``clear`` because the vendor's client never repeats a write whose outcome is unknown, and nothing lists what a
        user holds.
        """
        return Description(
            name="synap",
            api="0.6.9",
            container_length=64,
            max_hits=_MOST_HITS,
            batch=_BATCH,
            longest=None,
            measure="characters",
            recovery="clear",
            takes_as_of=True,
            indexing=True,
        )

    def probe(self) -> Mapping[str, str]:
        """Whose key it is."""
        return self._who("probe")

    def prepare(self, container: str) -> Mapping[str, str]:
        """A user needs no making; what the key belongs to goes into every request."""
        return self._who("prepare")

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Queue a batch; what is refused singly says so in its place."""
        whose = self._whose(scope)
        body = {"documents": [self._document(scope, whose, one) for one in documents], "fail_fast": False}
        read = _Queued(scope.name, [document.id for document in documents]).read
        request = _request("POST", "/api/v1/memories/batch", "ingest", scope, body=body, timeout_s=_INGEST_S)
        return self.wire.send(request, read)

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """One call a document. One that cannot be asked after now stays pending."""
        return [self._settled(scope, receipt) for receipt in pending]

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """None: the service lists nothing (recovery is ``clear``)."""
        return []

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """Ranked across types: by the service, or by ``rank_score`` where an older one answers type by type.

        Raises:
            Refused: the query is blank, which the service takes for no search at all.
            Degraded: the answer says itself that it is thinner than it should be.
        """
        if not query.strip():
            raise Refused("synap: a blank query is no search")
        body = {
            **self._whose(scope),
            "conversation_id": None,
            "search_query": [query],
            "max_results": limit,
            "types": list(self.retrieval.types),
            "mode": self.retrieval.mode,
            "response_shape": "ranked",
            # Without it the service takes its own clock.
            **({"query_date": as_of.astimezone(UTC).date().isoformat()} if as_of else {}),
        }
        request = _request("POST", "/v1/context/user/fetch", "search", scope, body=body, repeatable=True)
        try:
            found = self.wire.send(request, lambda reply: _found(scope, reply))
        except Degraded as error:
            raise Degraded(str(error), self._traced(scope, list(error.value)[:limit])) from None  # type: ignore[call-overload]
        return self._traced(scope, found[:limit])

    def count(self, scope: Scope) -> int:
        """1 if a deletion would remove anything, else 0.

        Not the numbers that the service gives: they are rows of stores that merge and expire by themselves.
        """
        return self.wire.send(self._deletion(scope, "count"), lambda reply: int(_would_remove(reply)))

    def clear(self, scope: Scope) -> None:
        """Delete the user, in as many calls as the service wants; raises ``Unavailable`` if something stays."""
        for _ in range(_DELETE_CALLS):
            answer = self.wire.send(self._deletion(scope, "clear"), _deleted)
            if not answer["continue"]:
                break
        if not answer["fully_removed"]:
            left = answer.get("still_present_in")
            raise Unavailable(f"synap: {scope.name} is deleted, but not from {left or 'every store'}")

    def _who(self, purpose: Purpose) -> Mapping[str, str]:
        def read(reply: Reply) -> Mapping[str, str]:
            body = _body(reply)
            isolation = body.get("user_context_isolation")
            known = {key: name(body.get(key)) for key in ("client_id", "instance_id")}
            return {**known, **({"isolation": name(isolation)} if isolation is not None else {})}

        return self.wire.send(_request("GET", "/api/v1/auth/whoami", purpose, repeatable=True), read)

    def _whose(self, scope: Scope) -> dict[str, str | None]:
        alone = scope.handle.get("isolation") == _USERS_ALONE
        return {"user_id": scope.name, "customer_id": None if alone else scope.name}

    def _document(self, scope: Scope, whose: Mapping[str, str | None], document: Document) -> dict[str, Any]:
        return {
            "document": _text(document),
            "document_type": "ai-chat-conversation" if document.caller_id is None else "document",
            "document_id": f"{scope.name}:{document.id}",
            "document_created_at": iso(document.date) if document.date else None,
            **whose,
            "scope": None,
            "mode": self.ingest_settings.mode,
            "metadata": {"session_id": document.id},
        }

    def _settled(self, scope: Scope, receipt: Receipt) -> Receipt:
        path = f"/api/v1/memories/status/{quote(receipt.ticket or '', safe='')}"
        request = _request("GET", path, "status", scope, repeatable=True)
        try:
            return self.wire.send(request, lambda reply: _status(receipt, reply))
        except Refused as error:
            return Receipt(receipt.document, "failed", error=str(error))
        except CallFailed as error:
            return Receipt(receipt.document, "pending", ticket=receipt.ticket, error=str(error))

    def _deletion(self, scope: Scope, purpose: Literal["count", "clear"]) -> Request:
        body = {
            "scope": "user",
            "instance_id": scope.handle.get("instance_id"),
            **self._whose(scope),
            "conversation_id": None,
            "dry_run": purpose == "count",
            "confirm": scope.name if purpose == "clear" else None,
        }
        return _request("POST", "/v1/data/delete", purpose, scope, body=body, repeatable=True)

    def _traced(self, scope: Scope, found: Sequence[_Found]) -> list[Hit]:
        how = self.retrieval.look_up
        return [
            replace(one.hit, documents=self._looked_up(scope, one.hit.provider_id))
            if not one.hit.documents and (how == "all" or (how == _EXCERPTS and one.excerpt))
            else one.hit
            for one in found
        ]

    def _looked_up(self, scope: Scope, memory: str) -> tuple[str, ...]:
        def read(reply: Reply) -> tuple[str, ...]:
            return _ours(scope, _body(reply).get("source_document_id"))

        path = f"/api/v1/memories/{quote(memory, safe='')}"
        try:
            return self.wire.send(_request("GET", path, "search", scope, repeatable=True), read)
        except (Refused, NotRecorded):
            # No memory has this id; a refusal is not kept, so that a replay finds nothing at all.
            return ()


def create(ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Synap:
    """The adapter with these settings."""
    given = retrieval.model_dump() if retrieval else {}
    return Synap(IngestSettings.model_validate(ingest.model_dump()), RetrievalSettings.model_validate(given), wire)


def open_wire(ingest: BaseModel, access: Access) -> Wire:
    """HTTP with the key as bearer."""
    return access.http("synap", {"Authorization": f"Bearer {access.key}"}, _judge)


def _judge(status: int, headers: Mapping[str, str], body: Any) -> Exception | None:
    """409 while an instance is being built asks for patience, and 429 with a reason is a stop, not a pause."""
    outer = body if isinstance(body, Mapping) else {}
    detail = outer.get("detail")
    told = {**(detail if isinstance(detail, Mapping) else {}), **outer}
    code = told["error"] if isinstance(told.get("error"), str) else told.get("code")
    said = one_line(" ".join(str(told[key]) for key in ("message", "hint") if told.get(key)) or str(code))
    if status == 409 and code == "instance_build_failed":
        return Stop(f"synap: the instance could not be built, and must be built anew: {said}")
    if status == 409 and code == "instance_not_ready":
        from providers.remote.http import retry_after
        from providers.remote.retry import Again

        seconds = number(told.get("retry_after_seconds"))
        failure = Unavailable(f"synap: the instance is still being built: {said}")
        return Again(failure, retry_after(headers) if seconds is None else seconds)
    if status == 429 and (told.get("reason") or code in _CREDIT_STOPS):
        return OutOfQuota(f"synap: {one_line(str(told.get('reason') or code))}: {said}")
    return None


def _request(
    method: Method,
    path: str,
    purpose: Purpose,
    scope: Scope | None = None,
    *,
    body: Any = None,
    repeatable: bool = False,
    timeout_s: float | None = None,
) -> Request:
    headers = {"X-Correlation-ID": str(uuid.uuid4())}
    if scope:
        headers |= {f"X-{part.title()}-ID": scope.handle.get(f"{part}_id", "") for part in ("client", "instance")}
    return Request(method, path, purpose, body=body, repeatable=repeatable, headers=headers, timeout_s=timeout_s)


def _body(reply: Reply) -> Mapping[str, Any]:
    """Of a success, which is 200 (or 204, without a body) and no other status."""
    if reply.status not in (200, 204):
        raise Unreadable(f"status {reply.status} is neither 200 nor 204")
    return mapping(reply.body)


def _text(document: Document) -> str:
    """With speakers as the service's own examples have them, because it reads them."""
    if document.caller_id is not None:
        return document.text
    return "\n".join(f"{message.role.capitalize()}: {message.content}" for message in document.messages)


@dataclass(frozen=True)
class _Queued:
    container: str
    documents: Sequence[str]

    def read(self, reply: Reply) -> Sequence[Receipt]:
        found = {name(one.get("document_id")): one for one in rows(_body(reply).get("results"), "results")}
        return [self._receipt(document, found.get(f"{self.container}:{document}")) for document in self.documents]

    def _receipt(self, document: str, result: Mapping[str, Any] | None) -> Receipt:
        if result is None:
            raise Unreadable(f"no result for document {document}")
        if result.get("error_message") or result.get("status") == "failed":
            return Receipt(document, "failed", error=one_line(str(result.get("error_message") or "refused")))
        return Receipt(document, "pending", ticket=name(result.get("ingestion_id")))


def _status(receipt: Receipt, reply: Reply) -> Receipt:
    body = _body(reply)
    status, ids = body.get("status"), body.get("memory_ids") or []
    if not isinstance(ids, list):
        raise Unreadable("memory_ids is no array")
    memories = tuple(name(one) for one in ids)
    error = one_line(str(body["error_message"])) if body.get("error_message") else None
    if status in ("queued", "processing"):
        return Receipt(receipt.document, "pending", ticket=receipt.ticket)
    if status == "completed" and not memories and not body.get("memories_created"):
        return Receipt(receipt.document, "skipped", error=error or "no memory was made of it")
    if status == "completed" or (status == "partial_success" and memories):
        return Receipt(receipt.document, "done", memories, error=error)
    if status in ("failed", "partial_success"):
        return Receipt(receipt.document, "failed", error=error or f"its status is {status}")
    raise Unreadable(f"a document's status is {status!r}")


@dataclass(frozen=True)
class _Found:
    hit: Hit
    excerpt: bool


def _found(scope: Scope, reply: Reply) -> Sequence[_Found]:
    """Best first."""
    body = _body(reply)
    context = mapping(body.get("context"), "context")
    if context.get("items") is None:
        items = [item for kind in _TYPES for item in rows(context.get(kind) or [], kind)]
        found = [_item(scope, item) for item in items]
        found.sort(key=lambda one: (one.hit.score is None, -(one.hit.score or 0.0)))
    else:
        found = [_item(scope, item) for item in rows(context["items"], "items")]
    retrieval = body.get("retrieval")
    if isinstance(retrieval, Mapping) and retrieval.get("degraded", True):
        how = ", ".join(one_line(str(retrieval[key]), 40) for key in ("level", "code") if retrieval.get(key))
        raise Degraded(f"synap: retrieval was out of order ({how or 'nothing said'})", found)
    return found


def _item(scope: Scope, item: Mapping[str, Any]) -> _Found:
    own = name(item.get("id") or item.get("item_id"))
    metadata = item.get("metadata")
    told = metadata if isinstance(metadata, Mapping) else {}
    hit = Hit(
        provider_id=own,
        content=content(item.get("content")),
        # Whether a hit brings back what came with its document is not told; it costs nothing to look.
        documents=some_name(told.get("session_id")) or _ours(scope, item.get("source_document_id")),
        sources=(own,),
        score=number(told.get("rank_score")),
        # When it was said; when the thing itself happened, or was extracted, is something else.
        date=date_of(item.get("said_at")),
    )
    return _Found(hit, item.get("category") == _EXCERPTS or item.get("source") == "chunks")


def _ours(scope: Scope, document: object) -> tuple[str, ...]:
    """Our id of a document of this container; nothing for another's."""
    mark = f"{scope.name}:"
    return (document.removeprefix(mark),) if isinstance(document, str) and document.startswith(mark) else ()


def _deleted(reply: Reply) -> Mapping[str, Any]:
    body = _body(reply)
    if not isinstance(body.get("fully_removed"), bool):
        raise Unreadable("a deletion that does not say whether all is removed")
    return {**body, "continue": body.get("continue") is True}


def _would_remove(reply: Reply) -> bool:
    """Whether a dry run finds anything."""
    return _any(mapping(_body(reply).get("counts"), "counts"))


def _any(counts: object) -> bool:
    """Whether a number above 0 is in it, however the service sorts them by its stores."""
    if isinstance(counts, Mapping):
        return any(_any(one) for one in counts.values())
    return isinstance(counts, int | float) and counts > 0
