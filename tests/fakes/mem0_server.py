"""Mem0's open-source server as its contract says: synchronous, no deduplication without inference, deletes in parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from fakes.server import Answer, Fake, Seen

_WORD = re.compile(r"\w+")
_ENTITIES = ("user_id", "agent_id", "run_id")


class FakeMem0Server(Fake):
    """See the contract.

    Attributes:
        memories: by id.
        auth: whether it wants a key.
        admin: whether the key is of the admin role.
        delete_page: how many memories a deletion deletes.
        broken: the embedder gives errors for texts that hold this.
        stored_twice: how often a session was written a second time where the first is not deleted.
        resets: how often everything was wiped.
    """

    texts = frozenset({"content", "query"})

    def __init__(self, *, auth: bool = True, admin: bool = True, delete_page: int = 100, **more: Any) -> None:
        super().__init__(**more)
        self.memories: dict[str, dict[str, Any]] = {}
        self.auth = auth
        self.admin = admin
        self.delete_page = delete_page
        self.broken: str | None = None
        self.stored_twice = 0
        self.resets = 0
        self._made = 0
        self._written: Counter[tuple[str, str]] = Counter()

    def answer(self, seen: Seen) -> Answer:
        if self.auth and seen.headers.get("x-api-key") != self.key:
            return Answer(401, {"detail": f"Invalid API key {seen.headers.get('x-api-key')}"})
        match (seen.method, seen.raw_path):
            case ("POST", "/memories"):
                return self._add(seen.body)
            case ("POST", "/search"):
                return self._search(seen.body)
            case ("GET", "/memories"):
                return self._list(seen.params)
            case ("DELETE", "/memories"):
                return self._delete(seen.params)
            case ("POST", "/reset"):
                self.resets += 1
                self.memories.clear()
                return Answer(200, {"message": "All memories reset"})
        return Answer(404, {"detail": "Not Found"})

    def _add(self, body: Any) -> Answer:
        if not any(body.get(key) for key in _ENTITIES):
            return Answer(400, {"detail": "At least one identifier (user_id, agent_id, run_id) is required."})
        messages = body.get("messages")
        if not isinstance(messages, list) or any(not isinstance(one.get("content"), str) for one in messages):
            return Answer(422, {"detail": [{"loc": ["body", "messages"], "msg": "Input should be a valid list"}]})
        unknown = set(body) - {"messages", *_ENTITIES, "metadata", "infer"}
        if unknown:
            return Answer(422, {"detail": [{"loc": ["body", *sorted(unknown)], "msg": "Extra inputs"}]})
        texts = [one["content"] for one in messages if one["role"] != "system"]
        if self.broken and any(self.broken in text for text in texts):
            return Answer(502, {"detail": "Upstream provider error: OPENAI_API_KEY is wrong"})
        infer = body.get("infer", True)
        written = (body["user_id"], body.get("metadata", {}).get("session_id", ""))
        self._written[written] += 1
        self.stored_twice += self._written[written] > 1
        results = []
        for text in [f"It was said: {text}" for text in texts] if infer else texts:
            held = (one for one in self.memories.values() if one["user_id"] == body["user_id"])
            if infer and any(one["memory"] == text for one in held):
                continue
            results.append(_only(self._keep(body, text), "id", "memory") | {"event": "ADD"})
        return Answer(200, {"results": results})

    def _keep(self, body: Mapping[str, Any], text: str) -> dict[str, Any]:
        about = dict(body.get("metadata") or {})
        self._made += 1
        memory = {
            "id": f"m{self._made}",
            "memory": text,
            "user_id": body["user_id"],
            "created_at": about.pop("created_at", "2026-09-25T01:02:03.004567+00:00"),
            "metadata": about or None,
        }
        self.memories[memory["id"]] = memory
        return memory

    def _search(self, body: Any) -> Answer:
        filters = body.get("filters") or {}
        if not any(key in filters for key in _ENTITIES):
            return Answer(400, {"detail": "filters must contain at least one of: user_id, agent_id, run_id."})
        if not body.get("query", "").strip():
            return Answer(400, {"detail": "Query must not be blank."})
        asked = set(_WORD.findall(body["query"].lower()))
        found = []
        for memory in self.memories.values():
            if memory["user_id"] != filters.get("user_id"):
                continue
            score = 0.05 + 0.4 * len(asked & set(_WORD.findall(memory["memory"].lower()))) / max(len(asked), 1)
            if score >= body.get("threshold", 0.1):
                found.append((score, memory))
        found.sort(key=lambda one: (-one[0], one[1]["id"]))
        hits = [{**memory, "score": score} for score, memory in found[: body.get("top_k", 20)]]
        return Answer(200, {"results": hits})

    def _list(self, params: Mapping[str, str]) -> Answer:
        if not any(key in params for key in _ENTITIES):
            return Answer(403 if not self.admin else 200, {"detail": "Listing everybody needs the admin role."})
        if not 1 <= int(params.get("top_k", 20)) <= 1000:
            return Answer(422, {"detail": [{"loc": ["query", "top_k"], "msg": "at most 1000"}]})
        held = [one for one in self.memories.values() if one["user_id"] == params.get("user_id")]
        return Answer(200, {"results": held[: int(params.get("top_k", 20))]})

    def _delete(self, params: Mapping[str, str]) -> Answer:
        if not self.admin:
            return Answer(403, {"detail": "Admin role required."})
        if not any(key in params for key in _ENTITIES):
            return Answer(400, {"detail": "At least one identifier is required."})
        held = [key for key, one in self.memories.items() if one["user_id"] == params.get("user_id")]
        for key in held[: self.delete_page]:
            del self.memories[key]
        for written in [key for key in self._written if key[0] == params.get("user_id")]:
            del self._written[written]
        return Answer(200, {"message": "All relevant memories deleted"})


def _only(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: record[name] for name in names}
