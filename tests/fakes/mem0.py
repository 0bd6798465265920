"""Mem0's platform v3 as its contract says: events, deduplication, a floor by default, deletes that lag.

Its clock counts requests, so that nothing depends on time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from fakes.server import Answer, Fake, Seen

_HTML = {"Content-Type": "text/html"}
_WORD = re.compile(r"\w+")
_ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
_GONE = ("version", "async_mode", "output_format", "enable_graph", "org_id", "project_id", "limit", "filters")
_SEARCH = {
    "query",
    "filters",
    "top_k",
    "threshold",
    "rerank",
    "reference_date",
    "latest_only",
    "include_merged",
    "explain",
}
_PACIFIC = timezone(timedelta(hours=-7))


class FakeMem0(Fake):
    """See the contract.

    Attributes:
        memories: in the order of writing; each has ``gone_at``, the request from which on no read shows it.
        delay: requests until an event is worked off.
        lag: requests after that for which reads show what was deleted.
        direct_pending: additions without inference are events too.
        extraction_fails: for sessions whose text holds this.
        adds_left: additions until the plan's quota stops them.
        quota_status: how it stops them: 403 or 413.
        stored_twice: how often a session was written a second time where the first is not deleted.
        everybody_deleted: deletions that named nobody, or everybody.
    """

    texts = frozenset({"content", "query"})

    def __init__(self, *, delay: int = 3, lag: int = 4, direct_pending: bool = False, **more: Any) -> None:
        super().__init__(**more)
        self.memories: list[dict[str, Any]] = []
        self.events: dict[str, dict[str, Any]] = {}
        self.delay = delay
        self.lag = lag
        self.direct_pending = direct_pending
        self.extraction_fails: str | None = None
        self.adds_left = 10**9
        self.quota_status = 403
        self.stored_twice = 0
        self.everybody_deleted = 0
        self.clock = 0
        self._jobs: list[tuple[int, Callable[[], None]]] = []
        self._written: Counter[tuple[str, str]] = Counter()

    def answer(self, seen: Seen) -> Answer:
        if seen.headers.get("authorization") != f"Token {self.key}":
            return Answer(401, {"detail": f"Invalid token {seen.headers.get('authorization')}"})
        self.clock += 1
        due = [job for job in self._jobs if job[0] <= self.clock]
        self._jobs = [job for job in self._jobs if job[0] > self.clock]
        for _, work in due:
            work()
        if not seen.raw_path.endswith("/"):
            return Answer(404, b"<html>Not Found</html>", _HTML)
        match (seen.method, seen.path):
            case ("GET", "/v1/ping/"):
                return Answer(
                    200, {"status": "ok", "org_id": "org", "project_id": "p", "user_email": "who@example.com"}
                )
            case ("POST", "/v3/memories/add/"):
                return self._add(seen.body)
            case ("POST", "/v3/memories/search/"):
                return self._search(seen.body)
            case ("POST", "/v3/memories/"):
                return self._list(seen.body, seen.params)
            case ("DELETE", "/v1/memories/"):
                return self._delete(seen.params)
        if seen.method == "GET" and seen.path.startswith("/v1/event/"):
            event = self.events.get(seen.path.removeprefix("/v1/event/").rstrip("/"))
            return Answer(200, event) if event else Answer(404, {"error": "Event not found!"})
        return Answer(404, {"error": "not found"})

    def live(self) -> list[dict[str, Any]]:
        """What reads show now."""
        return [one for one in self.memories if one["gone_at"] is None or self.clock < one["gone_at"]]

    def _add(self, body: Any) -> Answer:
        wrong = _wrong_addition(body)
        if wrong:
            return _invalid(wrong)
        if self.adds_left <= 0:
            return Answer(self.quota_status, {"detail": "Add quota is used up.", "upgrade_required": True})
        self.adds_left -= 1
        if body.get("infer", True) or self.direct_pending:
            event = self._event(lambda own: self._work(own, body))
            return Answer(200, {"message": "queued", "status": "PENDING", "event_id": event})
        event = self._event(None)
        self._work(self.events[event], body)
        return Answer(200, {"message": "stored", "event_id": event, **_only(self.events[event], "status", "results")})

    def _event(self, work: Callable[[dict[str, Any]], None] | None) -> str:
        name = f"event-{len(self.events)}"
        own: dict[str, Any] = {"id": name, "status": "PENDING", "results": None, "latency": None}
        self.events[name] = own
        if work is not None:
            job = work
            self._jobs.append((self.clock + self.delay, lambda: job(own)))
        return name

    def _work(self, event: dict[str, Any], body: Mapping[str, Any]) -> None:
        infer = body.get("infer", True)
        texts = [one["content"] for one in body["messages"] if one["role"] != "system"]
        if infer and self.extraction_fails and any(self.extraction_fails in text for text in texts):
            event |= {"status": "FAILED", "error": "the model gave up"}
            return
        results = []
        for text in [f"It was said: {text}" for text in texts] if infer else texts:
            twin = next((one for one in self.memories if one["gone_at"] is None and _same(one, body, text)), None)
            if twin and infer:
                continue
            if not twin:
                twin = self._keep(body, text)
            results.append({"id": twin["id"], "data": {"memory": text}, "event": "ADD"})
        self._count(body, infer=infer, wrote=bool(results))
        event |= {"status": "SUCCEEDED", "results": results, "latency": 400.0}

    def _count(self, body: Mapping[str, Any], *, infer: bool, wrote: bool) -> None:
        user, session = body["user_id"], body.get("metadata", {}).get("session_id", "")
        if infer:
            # A repeated extraction is paid and may say other things, even if nothing new was kept of it.
            self._written[user, session] += 1
            self.stored_twice += self._written[user, session] > 1
        elif wrote:
            same = [one for one in self.memories if one["gone_at"] is None and _is(one, user, session)]
            self.stored_twice += len(same) > len(body["messages"])

    def _keep(self, body: Mapping[str, Any], text: str) -> dict[str, Any]:
        at = body.get("timestamp")
        memory = {
            "id": f"m{len(self.memories)}/{len(text)}",
            "memory": text,
            **{key: body.get(key) for key in _ENTITIES},
            "metadata": body.get("metadata"),
            "at": datetime.fromtimestamp(at, UTC) if at is not None else datetime(2026, 9, 25, 1, 2, 3, 4567, UTC),
            "merged": False,
            "replaced_by": None,
            "gone_at": None,
        }
        self.memories.append(memory)
        return memory

    def _search(self, body: Any) -> Answer:
        wrong = _wrong_search(body)
        if wrong:
            return _invalid(wrong)
        asked = set(_WORD.findall(body["query"].lower()))
        found = []
        for memory in self._matching(body["filters"], body):
            shared = asked & set(_WORD.findall(memory["memory"].lower()))
            score = 0.05 + 0.4 * len(shared) / len(asked)
            if score >= body.get("threshold", 0.1):
                found.append((score, memory))
        found.sort(key=lambda one: (-one[0], one[1]["id"]))
        hits = [
            {
                **_only(memory, "id", "memory", *_ENTITIES, "metadata", "replaced_by"),
                "categories": None,
                "score": score,
                "score_breakdown": {"semantic": score + 0.4},
                "created_at": memory["at"].isoformat(timespec="microseconds"),
            }
            for score, memory in found[: body.get("top_k", 10)]
        ]
        return Answer(200, {"results": hits})

    def _list(self, body: Any, params: Mapping[str, str]) -> Answer:
        wrong = _wrong_filters((body or {}).get("filters"))
        page, size = int(params.get("page", 1)), int(params.get("page_size", 100))
        if wrong or page < 1 or not 1 <= size <= 200:
            return _invalid(wrong or "page or page_size")
        all_of_them = list(self._matching(body["filters"], body))
        some = all_of_them[(page - 1) * size : page * size]
        results = [
            {
                **_only(memory, "id", "memory", "user_id", "agent_id", "app_id", "metadata"),
                "session_id": memory["run_id"],
                "created_at": memory["at"].astimezone(_PACIFIC).isoformat(timespec="seconds"),
            }
            for memory in some
        ]
        more = page * size < len(all_of_them)
        return Answer(200, {"count": len(all_of_them), "next": "more" if more else None, "results": results})

    def _matching(self, filters: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for memory in self.live():
            known = memory["metadata"] or {}
            if any(known.get(key) != value for key, value in (filters.get("metadata") or {}).items()):
                continue
            if any(memory[key] != filters[key] for key in _ENTITIES if key in filters):
                continue
            if memory["merged"] and not body.get("include_merged"):
                continue
            if body.get("latest_only") and (memory["merged"] or memory["replaced_by"]):
                continue
            yield memory

    def _delete(self, params: Mapping[str, str]) -> Answer:
        named = {key: params[key] for key in _ENTITIES if key in params}
        if not named:
            self.everybody_deleted += "filters" in params
            return _invalid("at least one filter is required")
        self.everybody_deleted += "*" in named.values()

        def work(event: dict[str, Any]) -> None:
            for memory in self.memories:
                if memory["gone_at"] is None and all(value in ("*", memory[key]) for key, value in named.items()):
                    memory["gone_at"] = self.clock + self.lag
            for user, session in [key for key in self._written if key[0] == named.get("user_id")]:
                del self._written[user, session]
            event |= {"status": "SUCCEEDED", "results": []}

        return Answer(200, {"message": "Memories deletion is queued.", "event_id": self._event(work)})


def _invalid(what: str) -> Answer:
    return Answer(400, {"error": "validation failed", "details": {"message": what}})


def _only(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: record[name] for name in names}


def _is(memory: Mapping[str, Any], user: str, session: str) -> bool:
    return bool(memory["user_id"] == user and (memory["metadata"] or {}).get("session_id") == session)


def _same(memory: Mapping[str, Any], body: Mapping[str, Any], text: str) -> bool:
    return memory["memory"] == text and all(memory[key] == body.get(key) for key in ("user_id", "agent_id", "app_id"))


def _wrong_addition(body: Any) -> str | None:
    if not isinstance(body, dict):
        return "body"
    stray = [key for key in _GONE if key in body]
    if stray:
        return f"unknown: {stray}"
    if not any(body.get(key) for key in _ENTITIES):
        return "one of user_id, agent_id, app_id, run_id is required at the top level"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages"
    if any(one.get("role") not in ("user", "assistant", "system") or not one.get("content") for one in messages):
        return "role or content of a message"
    at = body.get("timestamp", 0)
    if isinstance(at, bool) or not isinstance(at, int):
        return "timestamp must be an integer"
    return None if isinstance(body.get("metadata", {}), dict) else "metadata"


def _wrong_search(body: Any) -> str | None:
    if not isinstance(body, dict) or set(body) - _SEARCH:
        return f"unknown: {sorted(set(body or ()) - _SEARCH)}"
    if not isinstance(body.get("query"), str) or not body["query"].strip():
        return "query must not be blank"
    if not 1 <= body.get("top_k", 10) <= 1000 or not 0 <= body.get("threshold", 0.1) <= 1:
        return "top_k or threshold"
    if "reference_date" in body:
        datetime.fromisoformat(body["reference_date"])
    return _wrong_filters(body.get("filters"))


def _wrong_filters(filters: Any) -> str | None:
    if not isinstance(filters, dict) or not any(key in filters for key in _ENTITIES):
        return "filters must name an entity"
    unknown = set(filters) - {*_ENTITIES, "metadata", "AND", "OR", "NOT", "created_at", "categories"}
    return f"unknown filters: {sorted(unknown)}" if unknown else None
