"""Zep Cloud v4: ids of the server's, pages, tasks, idempotency keys, deletions that take a while."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from fakes.server import Answer, Seen
from fakes.zep_graph import (
    ROLES,
    Thread,
    User,
    Work,
    Wrong,
    ZepGraph,
    bounded,
    checked_extras,
    checked_messages,
    checked_search,
    only,
)

_SEARCH = {"query", "reranker", "mmr_lambda", "center_node_uuid", "bfs_origin_node_uuids", "filters"}


class FakeZep(ZepGraph):
    """See the contract.

    Attributes:
        remembers: whether a request with a known idempotency key is answered as before, and not done again.
        says_total: whether the list of threads says how many there are.
        keyless: POST and DELETE requests without a key.
    """

    def __init__(self, *, remembers: bool = True, says_total: bool = True, **more: Any) -> None:
        super().__init__(**more)
        self.remembers = remembers
        self.says_total = says_total
        self.keyless = 0
        self._answers: dict[str, tuple[str, Any, Answer]] = {}

    def answer(self, seen: Seen) -> Answer:
        try:
            if seen.headers.get("authorization") != f"Api-Key {self.key}":
                raise Wrong(401, "unauthorized", f"bad key {seen.headers.get('authorization')}")
            return self._once(seen)
        except Wrong as wrong:
            body = {"code": wrong.code, "message": str(wrong), "param": None, "request_id": "r"}
            return Answer(wrong.status, {"error": body})

    def _once(self, seen: Seen) -> Answer:
        key = seen.headers.get("idempotency-key")
        if seen.method in ("POST", "DELETE"):
            self.keyless += key is None
        if key is None or not self.remembers:
            return self._route(seen)
        what = (str(seen), seen.body)
        if key in self._answers:
            path, body, answer = self._answers[key]
            if (path, body) != what:
                raise Wrong(409, "idempotency_conflict", "the key belongs to another request")
            return answer
        answer = self._route(seen)
        self._answers[key] = (*what, answer)
        return answer

    def _route(self, seen: Seen) -> Answer:
        match seen.method, *seen.raw_path.removeprefix("/api/v4/").split("/"):
            case "POST", "users":
                only(seen.body, {"user_id", "first_name", "last_name", "email", "metadata"})
                return Answer(201, _user(self.add_user(seen.body["user_id"])))
            case "POST", "users", "lookup":
                users = [one for one in self.users.values() if one.user_id == seen.body.get("user_id")]
                return Answer(200, _user(self.there(users[0] if users else None)))
            case "DELETE", "users", uuid:
                return self._delete(self._user(uuid))
            case "GET", "threads":
                return self._threads(seen)
            case "POST", "threads":
                only(seen.body, {"user_uuid"})
                thread = self.add_thread(self._user(seen.body.get("user_uuid")), self.new())
                return Answer(201, _thread(thread))
            case "POST", "threads", uuid, "messages":
                thread = self._thread_of(uuid)
                work = self.add_messages(thread, checked_messages(seen, "reference_time", ROLES), "reference_time")
                added = thread.messages[-len(work.episodes) :]
                return Answer(202, {"messages": added, "task": _task(work, "pending")})
            case "GET", "threads", uuid, "messages":
                thread = self._thread_of(uuid)
                self.look_at_thread(thread)
                return _paged(seen, [dict(one) for one in thread.messages], total=True)
            case "GET", "threads", uuid, "episodes":
                return _paged(seen, [self._episode_out(one) for one in self.of_thread(self._thread_of(uuid))])
            case "GET", "tasks", uuid:
                if uuid not in self.work:
                    raise Wrong(404, "not_found", "task not found")
                return Answer(200, _task(self.work[uuid], self.look(self.work[uuid])))
            case _, "graphs", graph, *rest:
                return self._route_graph(seen, graph, rest)
        raise Wrong(404, "not_found", "no such path")

    def _route_graph(self, seen: Seen, graph: str, rest: Sequence[str]) -> Answer:
        match seen.method, *rest:
            case "POST", "episodes":
                return self._add_episode(self._of_graph(graph), seen.body)
            case "POST", "episodes", "list":
                return self._list(self._of_graph(graph), seen)
            case "GET", "episodes", uuid:
                return Answer(200, self._episode_out(self._one(self._of_graph(graph), uuid)))
            case "POST", "search", ("episodes" | "edges") as scope:
                return self._search(self._of_graph(graph), scope, seen)
        raise Wrong(404, "not_found", "no such path")

    def _user(self, uuid: object) -> User:
        return self.there(self.users.get(_uuid(uuid)))

    def _of_graph(self, uuid: str) -> User:
        """A user's graph may be called by the user's name."""
        users = [one for one in self.users.values() if _uuid(uuid) in (one.graph, one.uuid)]
        return self.there(users[0] if users else None)

    def _thread_of(self, uuid: str) -> Thread:
        if _uuid(uuid) not in self.threads:
            raise Wrong(404, "not_found", "thread not found")
        return self.threads[uuid]

    def _one(self, user: User, uuid: str) -> dict[str, Any]:
        found = self.episodes.get(_uuid(uuid))
        if found is None or found["user"] != user.uuid:
            raise Wrong(404, "not_found", "episode not found")
        for work in self.work.values():
            if found in work.episodes and work.left > 0:
                self.look(work)
        return found

    def _threads(self, seen: Seen) -> Answer:
        user = self._user(seen.params.get("user_uuid"))
        found = [_thread(one) for one in self.threads.values() if one.user == user.uuid]
        return _paged(seen, found, total=self.says_total)

    def _delete(self, user: User) -> Answer:
        if user.leaving is None:
            user.leaving = self.lag
        work = self.begin([], [])
        return Answer(202, {"task": _task(work, "pending")})

    def _add_episode(self, user: User, body: Mapping[str, Any]) -> Answer:
        only(body, {"data", "type", "reference_time", "metadata", "source_description"})
        checked_extras(body, "reference_time")
        if body.get("type") != "text" or not 1 <= len(body["data"]) <= 10_000:
            raise Wrong(400, "invalid_argument", "data must be a text of 1 to 10000 characters")
        episode, work = self.add_text(user, body, "reference_time")
        return Answer(202, {"episode": self._episode_out(episode), "task": _task(work, "pending")})

    def _list(self, user: User, seen: Seen) -> Answer:
        filters = (seen.body or {}).get("filters") or {}
        only(filters, {"mentioned_node_uuids", "metadata_filters"})
        wanted = filters.get("mentioned_node_uuids")
        if wanted is not None and len(wanted) > 256:
            raise Wrong(400, "invalid_argument", "at most 256")
        found = [one for one in self.episodes.values() if one["user"] == user.uuid]
        if wanted is not None:
            found = [one for one in found if one["uuid"] in wanted]
        return _paged(seen, [self._episode_out(one) for one in reversed(found)])

    def _search(self, user: User, scope: str, seen: Seen) -> Answer:
        body = checked_search(seen.body, _SEARCH)
        size = bounded(seen.params.get("page_size", 50), 1, 50)
        hits = []
        for score, one in list(self.found(user, body["query"], scope))[:size]:
            if scope == "edges":
                hits.append({"uuid": one["uuid"], "fact": one["content"], "episode_uuids": one["of"], "score": score})
            else:
                hits.append({**self._episode_out(one), "score": score})
        return Answer(200, {"items": hits})

    def _episode_out(self, one: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "uuid": one["uuid"],
            "content": one["content"],
            "metadata": one["metadata"],
            "reference_time": one["date"],
            "created_at": "2026-11-30T10:00:00Z",
            "processed": one["processed"],
            "source": "message" if one["thread"] else "text",
            **({"thread_uuid": one["thread"]} if one["thread"] else {}),
        }


def _uuid(value: object) -> str:
    """v4 knows things by their UUID only."""
    try:
        return str(UUID(str(value)))
    except ValueError:
        raise Wrong(400, "invalid_identifier", "not a UUID") from None


def _user(user: User) -> dict[str, Any]:
    return {"uuid": user.uuid, "user_id": user.user_id, "graph_uuid": user.graph}


def _thread(thread: Thread) -> dict[str, Any]:
    return {"uuid": thread.uuid, "user_uuid": thread.user, "created_at": thread.created_at}


def _task(work: Work, status: str) -> dict[str, Any]:
    error = {"code": "processing_failed", "message": "a message could not be read"}
    return {"uuid": work.uuid, "status": status, **({"error": error} if status in ("failed", "partial") else {})}


def _paged(seen: Seen, items: Sequence[Any], *, total: bool = False) -> Answer:
    size = bounded(seen.params.get("page_size", 50), 1, 100)
    start = int(re.sub(r"\D", "", seen.params.get("cursor", "c0")))
    more = {"next_cursor": f"c{start + size}"} if start + size < len(items) else {}
    page = list(items[start : start + size])
    # An empty list is left out.
    return Answer(200, {**({"items": page} if page else {}), **more, **({"total_size": len(items)} if total else {})})
