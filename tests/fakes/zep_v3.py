"""Zep Cloud v3, at /api/v2: our own ids, threads that are the whole project's, no idempotency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from fakes.server import Answer, Seen
from fakes.zep_graph import ROLES, Thread, User, Wrong, ZepGraph, bounded, checked_messages, checked_search, only

_SEARCH = {"user_id", "graph_id", "query", "limit", "scope", "reranker", "mmr_lambda"}


class FakeZepV3(ZepGraph):
    """See the contract."""

    def answer(self, seen: Seen) -> Answer:
        try:
            if seen.headers.get("authorization") != f"Api-Key {self.key}":
                raise Wrong(401, "", f"unauthorized {seen.headers.get('authorization')}")
            return self._route(seen)
        except Wrong as wrong:
            return Answer(400 if wrong.status == 409 else wrong.status, {"message": str(wrong)})

    def _route(self, seen: Seen) -> Answer:
        match seen.method, *(unquote(one) for one in seen.raw_path.removeprefix("/api/v2/").split("/")):
            case "POST", "users":
                only(seen.body, {"user_id", "first_name", "last_name", "email", "metadata"})
                self.add_user(seen.body["user_id"], seen.body["user_id"])
                return Answer(201, {"user_id": seen.body["user_id"], "uuid": self.new()})
            case "GET", "users", user:
                return Answer(200, {"user_id": self._user(user).user_id})
            case "DELETE", "users", user:
                self._user(user).leaving = self.lag
                return Answer(200, {"message": "OK"})
            case "GET", "users", user, "threads":
                found = [one for one in self.threads.values() if one.user == self._user(user).uuid]
                return Answer(200, [{"thread_id": one.uuid, "created_at": one.created_at} for one in found] or None)
            case "POST", "threads":
                only(seen.body, {"thread_id", "user_id"})
                if seen.body["thread_id"] in self.threads:
                    raise Wrong(400, "", "thread already exists")
                thread = self.add_thread(self._user(seen.body["user_id"]), seen.body["thread_id"])
                return Answer(201, {"thread_id": thread.uuid, "user_id": thread.user})
            case "POST", "threads", name, "messages":
                messages = checked_messages(seen, "created_at", ROLES | {"norole"})
                work = self.add_messages(self._thread_of(name), messages, "created_at")
                return Answer(200, {"task_id": work.uuid, "message_uuids": [self.new() for _ in messages]})
            case "GET", "threads", name, "messages":
                thread = self._thread_of(name)
                self.look_at_thread(thread)
                held = thread.messages[: int(seen.params.get("limit", 100))]
                return Answer(200, {"messages": held, "row_count": len(held), "total_count": len(thread.messages)})
            case "GET", "threads", name, "episodes":
                return Answer(200, {"episodes": [_episode(one) for one in self.of_thread(self._thread_of(name))]})
            case "GET", "tasks", uuid:
                # What its states are called is not known; only that there is one for failure.
                if uuid not in self.work:
                    raise Wrong(404, "", "task not found")
                failed = self.look(self.work[uuid]) == "failed"
                return Answer(200, {"task_id": uuid, "status": "failed" if failed else "working"})
            case "POST", "graph", "search":
                return self._search(seen.body)
        raise Wrong(404, "", "no such path")

    def _user(self, name: str) -> User:
        return self.there(self.users.get(name))

    def _thread_of(self, name: str) -> Thread:
        if name not in self.threads:
            raise Wrong(404, "", "thread not found")
        return self.threads[name]

    def _search(self, given: Any) -> Answer:
        body = checked_search(given, _SEARCH)
        limit = bounded(body.get("limit", 10), 1, 50)
        scope = body.get("scope", "edges")
        hits = []
        for score, one in list(self.found(self._user(body["user_id"]), body["query"], scope))[:limit]:
            if scope == "edges":
                hits.append({"uuid": one["uuid"], "fact": one["content"], "episodes": one["of"], "score": score})
            else:
                hits.append({**_episode(one), "score": score})
        return Answer(200, {scope: hits} if hits else {})


def _episode(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "uuid": one["uuid"],
        "content": one["content"],
        "metadata": one["metadata"],
        "created_at": one["date"],
        "processed": one["processed"],
        "thread_id": one["thread"],
    }
