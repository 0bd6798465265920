"""Zep's interface v4: users, graphs and threads have ids that the server gives; reference_time is the session's date.

POST and DELETE carry an ``idempotency-key``, as those of Zep's own client do. What stores a document has the same key
whenever it is sent, so that a server that still knows it does nothing twice. How long it knows it is not documented:
a lost answer is looked into all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid4, uuid5

from providers.remote.errors import Absent, Unreadable
from providers.remote.service import Document, Hit, Message, Scope
from providers.remote.values import count, date_of, mapping, name, rows, some_name
from providers.remote.wire import Method, Purpose, Reply, Request, T
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
from providers.zep.texts import dated, sent

PATH: Final = "/api/v4"
_DATE: Final = "reference_time"
_PAGE: Final = 100
_UNKNOWN: Final = datetime.max.replace(tzinfo=UTC)
_PAGES: Final = 10_000
_RESOLVED: Final = 256
_KEYS: Final = UUID("5b0c3b1e-6f3e-4a52-9a57-0d6a5c9c2f41")


@dataclass(frozen=True)
class V4(Calls):
    """See ``providers.zep.api.Api``.

    Attributes:
        whole: an episode is all of a document.
    """

    whole: bool = False

    def user(self, container: str, purpose: Purpose) -> Mapping[str, str] | None:
        """By the external id, which is unique in the project."""
        try:
            return self._post("/users/lookup", purpose, {"user_id": container}, _user, repeatable=True)
        except Absent:
            return None

    def create_user(self, container: str) -> Mapping[str, str]:
        """Its key is a new one each time: the user that an old one made may have been deleted."""
        return self._post("/users", "prepare", {"user_id": container}, _user)

    def delete_user(self, scope: Scope) -> str | None:
        """Accepted with a task."""
        path = f"/users/{quoted(self._ids(scope, 'clear')['user'])}"
        request = Request("DELETE", path, "clear", repeatable=True, headers=_key())
        return self.wire.send(request, _deleted)

    def threads(self, scope: Scope, documents: Sequence[Document]) -> Iterator[tuple[str, str | None]]:
        """All of the user's, whatever order the list has: a thread does not say which document is in it."""
        params = {"user_uuid": self._ids(scope, "status")["user"]}
        threads = list(self._pages("GET", "/threads", "status", params))
        threads.sort(key=lambda one: date_of(one.get("created_at")) or _UNKNOWN, reverse=True)
        for thread in threads:
            yield name(thread.get("uuid")), None

    def count_threads(self, scope: Scope) -> int:
        """The list says how many there are; where it does not, they are counted."""
        try:
            params = {"user_uuid": self._ids(scope, "count")["user"]}
            total = mapping(self.get("/threads", "count", {**params, "page_size": 1})).get("total_size")
            return sum(1 for _ in self._pages("GET", "/threads", "count", params)) if total is None else _total(total)
        except Absent:
            return 0

    def open_thread(self, scope: Scope, document: Document) -> str:
        """May be sent twice: a second thread would stay empty, and an empty one is no document."""
        user = self._ids(scope, "ingest")["user"]
        return self._post("/threads", "ingest", {"user_uuid": user}, _uuid, _key(user, document.id), repeatable=True)

    def add(self, scope: Scope, thread: str, document: Document, some: Sequence[Message], first: int) -> Sequence[str]:
        """Not repeatable, in spite of its key."""
        body = {"messages": [sent(document, message, _DATE) for message in some]}
        return self._post(f"/threads/{quoted(thread)}/messages", "ingest", body, _added, _key(thread, str(first)))

    def held(self, thread: str) -> Held | None:
        """From the list of messages, which is there before they are processed."""
        try:
            messages = list(self._pages("GET", f"/threads/{quoted(thread)}/messages", "status"))
        except Absent:
            return None
        return held(messages, len(messages))

    def thread_episodes(self, thread: str) -> Sequence[Episode]:
        """All pages."""
        pages = self._pages("GET", f"/threads/{quoted(thread)}/episodes", "status")
        return [episode(one, _DATE) for one in pages]

    def add_episode(self, scope: Scope, document: Document) -> tuple[str, Sequence[str]]:
        """Add a document as one text; its episode and the tasks that process it. Not repeatable."""
        graph = self._ids(scope, "ingest")["graph"]
        metadata = {"session_id": document.id}
        body = {"type": "text", "data": document.text, **dated(document, _DATE), "metadata": metadata}
        return self._post(f"/graphs/{quoted(graph)}/episodes", "ingest", body, _made, _key(graph, document.id))

    def graph_episodes(self, scope: Scope, purpose: Purpose) -> Iterator[Episode]:
        """All of the user's, newest first."""
        graph = quoted(self._ids(scope, purpose)["graph"])
        params = {"order_by": "created_at", "order": "desc"}
        for one in self._pages("POST", f"/graphs/{graph}/episodes/list", purpose, params, {}):
            yield episode(one, _DATE)

    def one_episode(self, scope: Scope, uuid: str) -> Episode:
        """As it is now."""
        graph = quoted(self._ids(scope, "status")["graph"])
        return episode(mapping(self.get(f"/graphs/{graph}/episodes/{quoted(uuid)}", "status")), _DATE)

    def search(self, scope: Scope, query: str, limit: int, how: RetrievalSettings) -> Sequence[Hit]:
        """The first page: the size of a page is in the query string. Facts are resolved to episodes by a list."""
        graph = quoted(self._ids(scope, "search")["graph"])
        body: dict[str, Any] = {"query": query, "reranker": how.reranker}
        if how.mmr_lambda is not None:
            body["mmr_lambda"] = how.mmr_lambda
        path, params = f"/graphs/{graph}/search/{how.scope}", {"page_size": limit}
        request = Request("POST", path, "search", params=params, body=body, repeatable=True, headers=_key())
        if how.scope == "episodes":
            return self.wire.send(
                request, lambda reply: [episode_hit(one, _DATE, whole=self.whole) for one in _page(reply)[0]]
            )
        edges = self.wire.send(request, _edges)
        known = self._resolved(graph, dict.fromkeys(uuid for _, uuids in edges for uuid in uuids))
        return [edge_hit(edge, list(uuids), known) for edge, uuids in edges]

    def _resolved(self, graph: str, uuids: Mapping[str, None]) -> Mapping[str, Episode]:
        """The filter of this name takes episodes as well as nodes."""
        found: dict[str, Episode] = {}
        wanted = list(uuids)
        for start in range(0, len(wanted), _RESOLVED):
            body = {"filters": {"mentioned_node_uuids": wanted[start : start + _RESOLVED]}}
            for one in self._pages("POST", f"/graphs/{graph}/episodes/list", "search", body=body):
                known = episode(one, _DATE)
                found[known.uuid] = known
        return found

    def _ids(self, scope: Scope, purpose: Purpose) -> Mapping[str, str]:
        """The handle; where the caller has none, what the server says."""
        if "user" in scope.handle:
            return scope.handle
        found = self.user(scope.name, purpose)
        if found is None:
            raise Absent(f"zep: there is no user {scope.name}")
        return found

    def _post(
        self,
        path: str,
        purpose: Purpose,
        body: Mapping[str, Any],
        read: Callable[[Mapping[str, Any]], T],
        key: Mapping[str, str] | None = None,
        *,
        repeatable: bool = False,
    ) -> T:
        request = Request("POST", path, purpose, body=body, repeatable=repeatable, headers=key or _key())
        return self.wire.send(request, lambda reply: read(mapping(answered(reply))))

    def _pages(
        self,
        method: Method,
        path: str,
        purpose: Purpose,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Iterator[Mapping[str, Any]]:
        """All items of a list."""
        asked: dict[str, str | int] = {"page_size": _PAGE, **(params or {})}
        for _ in range(_PAGES):
            headers = _key() if method == "POST" else {}
            request = Request(method, path, purpose, params=asked, body=body, repeatable=True, headers=headers)
            items, cursor = self.wire.send(request, _page)
            yield from items
            if not cursor:
                return
            asked = {**asked, "cursor": cursor}
        raise Unreadable(f"{path} has more than {_PAGES} pages")


def _key(*parts: str) -> Mapping[str, str]:
    """A key of its own, or always the same one for the same thing."""
    return {"idempotency-key": str(uuid5(_KEYS, "\0".join(parts)) if parts else uuid4())}


def _page(reply: Reply) -> tuple[Sequence[Mapping[str, Any]], str | None]:
    body = mapping(answered(reply))
    cursor = body.get("next_cursor")
    return optional_rows(body.get("items"), "items"), cursor if isinstance(cursor, str) and cursor else None


def _edges(reply: Reply) -> Sequence[tuple[Mapping[str, Any], tuple[str, ...]]]:
    edges = [(edge, strings(edge.get("episode_uuids"))) for edge in _page(reply)[0]]
    for edge, uuids in edges:
        # What cannot be read fails here, where the wire can ask again and the ledger knows of it.
        edge_hit(edge, list(uuids), {})
    return edges


def _user(body: Mapping[str, Any]) -> Mapping[str, str]:
    """A user's graph may also be addressed by the user."""
    user = name(body.get("uuid"))
    return {"user": user, "graph": next(iter(some_name(body.get("graph_uuid"))), user)}


def _uuid(body: Mapping[str, Any]) -> str:
    return name(body.get("uuid"))


def _added(body: Mapping[str, Any]) -> Sequence[str]:
    rows(body.get("messages"), "messages")
    return _task(body)


def _made(body: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    return name(mapping(body.get("episode"), "episode").get("uuid")), _task(body)


def _deleted(reply: Reply) -> str | None:
    return next(iter(_task(mapping(answered(reply)))), None)


def _task(body: Mapping[str, Any]) -> Sequence[str]:
    task = body.get("task")
    return some_name(task.get("uuid")) if isinstance(task, Mapping) else ()


def _total(value: object) -> int:
    return count(value, "total_size")
