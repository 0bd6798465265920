"""Mem0's open-source REST server, which a team runs itself.

Facts of the wire. No version in the paths and no slash at their end. All calls are synchronous: an addition comes back
when the model is through. There is no ``timestamp``; memories take ``created_at`` of the metadata as their date.
Without inference every message is stored as it is, and the same message once more is stored once more. Lists give
1,000 memories at most, and only a key of the admin role may delete. A failing model or embedder is a 502.

Not confirmed: how many hits a search gives at most, and whether older servers honour ``threshold`` and ``top_k``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

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
    memories,
    metadata,
    turn_by_turn,
)
from providers.remote.access import Access, AccessDefaults
from providers.remote.errors import BadKey, Unavailable, one_line
from providers.remote.service import Description, Document, Hit, Receipt, Scope
from providers.remote.values import iso, name
from providers.remote.wire import Purpose, Request, Wire

ACCESS: Final = AccessDefaults(
    base_url="http://localhost:8888", key_env="MEM0_SERVER_API_KEY", key_optional=True, concurrency=4
)

_MOST: Final = 1000
_ADD_S: Final = 600.0
_NOBODY: Final = "eval-assets-probe"


class IngestSettings(BaseModel):
    """What shapes a store.

    Attributes:
        infer: whether the server's language model makes memories of a session. Otherwise a session is stored as it is,
            as one memory, with its date on the first line and its id on the last.
        date_in_text: with ``infer``, whether a session's first message begins with its date, which the model is not
            told otherwise.
        longest: characters of a session, at most; longer ones are split between turns. What fits is decided by the
            server's embedder (without inference) or model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    infer: bool = True
    date_in_text: bool = True
    longest: Annotated[int, Field(ge=1000)] = 20_000


class RetrievalSettings(BaseModel):
    """Options of a search.

    Attributes:
        threshold: hits with a lower score are left out; 0 leaves out none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0


@dataclass(frozen=True)
class Mem0Server:
    """See ``providers.remote.service.RemoteService``."""

    ingesting: IngestSettings
    retrieval: RetrievalSettings
    wire: Wire

    def describe(self) -> Description:
        """Documents go one at a time, as there is no batch.

        A second sending stores twice, and one whose reply was lost may still be worked on when the list is looked at;
        so the container is emptied and begun anew, under a user id that was never used.
        """
        return Description(
            name="mem0_server",
            api="rest",
            container_length=64,
            max_hits=_MOST,
            batch=1,
            longest=self.ingesting.longest - MARKS,
            measure="characters",
            recovery="clear",
            takes_as_of=False,
            indexing=False,
        )

    def probe(self) -> Mapping[str, str]:
        """A list of nobody's memories, which needs the key where the server wants one."""
        self._list(_NOBODY, "probe", most=1)
        return {}

    def prepare(self, container: str) -> Mapping[str, str]:
        """A user id of its own for each filling; see ``describe``."""
        return {"user_id": fresh_user(container)}

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Add one by one; what has no text is not sent."""
        return [
            self._add(scope, one) if has_text(one) else Receipt(one.id, "skipped", error=NO_TEXT) for one in documents
        ]

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """Nothing is ever pending; what a memory names is done."""
        held = {one.document: one for one in found([Document(one.document, ()) for one in pending], self._all(scope))}
        return [held.get(one.document, one) for one in pending]

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Those that one of the first 1,000 memories names."""
        return found(documents, self._all(scope))

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """Array order is the rank. The server takes no reference date."""
        body = {
            "query": query.strip(),
            "filters": {"user_id": _user(scope)},
            "top_k": min(limit, _MOST),
            "threshold": self.retrieval.threshold,
        }
        request = Request("POST", "/search", "search", body=body, repeatable=True)
        return self.wire.send(request, lambda reply: hits(memories(reply.body)))

    def count(self, scope: Scope) -> int:
        """Memories of the user; 1,000 for that many and more."""
        return len(self._list(_user(scope), "count", most=_MOST))

    def clear(self, scope: Scope) -> None:
        """Delete until the list is empty: older servers delete only a part at a time.

        Raises:
            BadKey: the key is not of the admin role.
            Unavailable: a deletion deleted nothing.
        """
        before: set[str] = set()
        while held := self._list(_user(scope), "clear", most=_MOST):
            now = {name(one.get("id")) for one in held}
            if now == before:
                raise Unavailable(f"mem0_server: user {_user(scope)} still has {len(now)} memories after a deletion")
            before = now
            params = {"user_id": _user(scope)}
            self.wire.send(
                Request("DELETE", "/memories", "clear", params=params, repeatable=True), lambda reply: reply.status
            )

    def _add(self, scope: Scope, document: Document) -> Receipt:
        infer = self.ingesting.infer
        messages = turn_by_turn(document) if infer else joined(document)
        about = metadata(document)
        if document.date:
            about["created_at"] = iso(document.date)
            if infer and self.ingesting.date_in_text:
                messages[0]["content"] = f"[{iso(document.date)}]\n{messages[0]['content']}"
        body: dict[str, Any] = {"messages": messages, "user_id": _user(scope), "metadata": about, "infer": infer}
        request = Request("POST", "/memories", "ingest", body=body, timeout_s=_ADD_S)
        return self.wire.send(request, lambda reply: made(document.id, memories(reply.body)))

    def _all(self, scope: Scope) -> Sequence[Mapping[str, Any]]:
        return self._list(_user(scope), "status", most=_MOST)

    def _list(self, user: str, purpose: Purpose, *, most: int) -> Sequence[Mapping[str, Any]]:
        params: Mapping[str, str | int] = {"user_id": user, "top_k": most}
        request = Request("GET", "/memories", purpose, params=params, repeatable=True)
        return self.wire.send(request, lambda reply: memories(reply.body))


def create(ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Mem0Server:
    """The adapter with these settings."""
    return Mem0Server(
        IngestSettings.model_validate(ingest.model_dump()),
        RetrievalSettings.model_validate(retrieval.model_dump() if retrieval else {}),
        wire,
    )


def open_wire(ingest: BaseModel, access: Access) -> Wire:
    """HTTP with the key in ``X-API-Key``; without a key for a server whose authentication is off."""
    return access.http("mem0_server", {"X-API-Key": access.key}, _judge)


def _judge(status: int, headers: Mapping[str, str], body: Any) -> Exception | None:
    """403 is a role that may not do this; other answers are read as usual."""
    if status != 403:
        return None
    said = body.get("detail") if isinstance(body, Mapping) else None
    return BadKey(one_line(f"mem0_server: status 403: {said or 'forbidden'}; deleting needs a key of the admin role"))


def _user(scope: Scope) -> str:
    return scope.handle.get("user_id", scope.name)
