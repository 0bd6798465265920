"""Zep's interface v3, whose address says v2: users and threads have our ids; created_at is the session's date.

There is no idempotency key: a message that is sent again is stored again. Ids of threads are the whole project's, so
they begin with the container's name. This interface ends on 2027-04-13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from providers.remote.errors import Absent, Refused, UnknownOutcome, Unreadable
from providers.remote.service import Document, Hit, Message, Scope
from providers.remote.values import count, mapping, name
from providers.remote.wire import Purpose, Read, Reply, Request
from providers.zep.api import (
    Calls,
    Episode,
    Held,
    answered,
    edge_hit,
    episode,
    episode_hit,
    held,
    optional_rows,
    quoted,
    strings,
)
from providers.zep.settings import RetrievalSettings
from providers.zep.texts import sent

PATH: Final = "/api/v2"
_DATE: Final = "created_at"
_MOST: Final = 1000


@dataclass(frozen=True)
class V3(Calls):
    """See ``providers.zep.api.Api``."""

    def user(self, container: str, purpose: Purpose) -> Mapping[str, str] | None:
        """By our id."""
        try:
            mapping(self.get(f"/users/{quoted(container)}", purpose))
        except Absent:
            return None
        return {"user": container}

    def create_user(self, container: str) -> Mapping[str, str]:
        """A second one of this id is refused."""
        self.wire.send(Request("POST", "/users", "prepare", body={"user_id": container}), _named("user_id"))
        return {"user": container}

    def delete_user(self, scope: Scope) -> str | None:
        """Answered with a message; whether it is complete by then is not documented."""
        request = Request("DELETE", f"/users/{quoted(scope.name)}", "clear", repeatable=True)
        self.wire.send(request, lambda reply: mapping(answered(reply)))
        return None

    def threads(self, scope: Scope, documents: Sequence[Document]) -> Iterator[tuple[str, str | None]]:
        """Their ids follow from the documents'."""
        for document in documents:
            yield _thread(scope, document), document.id

    def count_threads(self, scope: Scope) -> int:
        """Of a list that is not paged."""
        try:
            return len(optional_rows(self.get(f"/users/{quoted(scope.name)}/threads", "count"), "the reply"))
        except Absent:
            return 0

    def open_thread(self, scope: Scope, document: Document) -> str:
        """One that is there already will do if it is empty; if it is not, somebody must look what it holds."""
        thread = _thread(scope, document)
        body = {"thread_id": thread, "user_id": scope.name}
        request = Request("POST", "/threads", "ingest", body=body, repeatable=True)
        try:
            self.wire.send(request, _named("thread_id"))
        except Refused:
            there = self.held(thread)
            if there is None:
                raise
            if there.count:
                raise UnknownOutcome(f"zep: thread {thread} holds messages already") from None
        return thread

    def add(self, scope: Scope, thread: str, document: Document, some: Sequence[Message], first: int) -> Sequence[str]:
        """Not repeatable."""
        body = {"messages": [sent(document, message, _DATE) for message in some]}
        return self.wire.send(Request("POST", f"/threads/{quoted(thread)}/messages", "ingest", body=body), _added)

    def held(self, thread: str) -> Held | None:
        """The reply says how many there are in all."""
        path = f"/threads/{quoted(thread)}/messages"
        try:
            body = mapping(self.get(path, "status", {"limit": _MOST}))
        except Absent:
            return None
        messages = optional_rows(body.get("messages"), "messages")
        total = body.get("total_count")
        return held(messages, len(messages) if total is None else count(total, "total_count"))

    def thread_episodes(self, thread: str) -> Sequence[Episode]:
        """All at once."""
        body = mapping(self.get(f"/threads/{quoted(thread)}/episodes", "status"))
        return [episode(one, _DATE) for one in optional_rows(body.get("episodes"), "episodes")]

    def search(self, scope: Scope, query: str, limit: int, how: RetrievalSettings) -> Sequence[Hit]:
        """Results are under the name of the scope. Facts name their episodes, and have no date of a conversation."""
        body: dict[str, Any] = {
            "user_id": scope.name,
            "query": query,
            "limit": limit,
            "scope": how.scope,
            "reranker": how.reranker,
        }
        if how.mmr_lambda is not None:
            body["mmr_lambda"] = how.mmr_lambda
        request = Request("POST", "/graph/search", "search", body=body, repeatable=True)

        def read(reply: Reply) -> Sequence[Hit]:
            answer = mapping(answered(reply))
            if how.scope not in answer and "message" in answer:
                raise Unreadable(f"no {how.scope}, but a message")
            found = optional_rows(answer.get(how.scope), how.scope)
            if how.scope == "episodes":
                return [episode_hit(one, _DATE, whole=False) for one in found]
            return [edge_hit(one, one.get("episodes"), {}) for one in found]

        return self.wire.send(request, read)


def _thread(scope: Scope, document: Document) -> str:
    return f"{scope.name}-{document.id}"


def _named(field: str) -> Read[str]:
    def read(reply: Reply) -> str:
        return name(mapping(answered(reply)).get(field))

    return read


def _added(reply: Reply) -> Sequence[str]:
    body = mapping(answered(reply))
    task = body.get("task_id")
    if not task and not strings(body.get("message_uuids")):
        raise Unreadable("neither a task nor the messages that were added")
    return (name(task),) if task else ()
