"""Zengram 4.x as its contract says: counts without reasons, global ids, deduplication, floors, hard cuts by time."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

from fakes.server import Answer, Fake, Seen

_HTML = {"Content-Type": "text/html"}
_WORD = re.compile(r"\w+")
_SECRET = re.compile(r"password: \S+")
_DAYS = {"yesterday": (1, 1), "today": (0, 0), "last week": (7, 14)}


class FakeZengram(Fake):
    """See the contract.

    Attributes:
        records: by id, deleted ones too, which are inactive.
        keeps_ids: whether a record keeps the id that it came with.
        floor: hits below are cut.
        degraded: the vector index is down.
        stored_twice: how often a text was stored under a second id or an id a second time.
    """

    texts = frozenset({"content", "q", "key", "subject"})

    def __init__(
        self, *, keeps_ids: bool = True, floor: float = 0.0, writes_a_minute: int = 10**9, **more: Any
    ) -> None:
        super().__init__(**more)
        self.records: dict[str, dict[str, Any]] = {}
        self.keeps_ids = keeps_ids
        self.floor = floor
        self.degraded = False
        self.stored_twice = 0
        self.writes_a_minute = writes_a_minute
        self.writes = 0
        self.unread_only_searches = 0

    def answer(self, seen: Seen) -> Answer:
        if seen.method == "GET" and seen.path == "/health":
            return Answer(200, {"status": "ok", "version": "4.5.0"})
        if seen.headers.get("x-api-key") != self.key:
            return Answer(401, {"error": f"invalid key {seen.headers.get('x-api-key')}"})
        if len(seen.raw) > 1_000_000:
            return Answer(413, b"<html>request entity too large</html>", _HTML)
        if seen.raw and seen.body is None:
            return Answer(400, b"<html>bad JSON</html>", _HTML)
        if seen.method != "GET":
            self.writes += 1
            if self.writes > self.writes_a_minute:
                self.writes = 0
                return Answer(429, {"error": "rate", "limit": 60, "window_seconds": 60}, {"Retry-After": "1"})
        match (seen.method, seen.path):
            case ("POST", "/export/import"):
                return self._import(seen)
            case ("GET", "/export"):
                return self._export(seen.params)
            case ("GET", "/memory/search"):
                return self._search(seen.params)
        if seen.method == "DELETE" and seen.raw_path.startswith("/memory/"):
            return self._delete(unquote(seen.raw_path.removeprefix("/memory/")))
        return Answer(404, {"error": "not found"})

    def _import(self, seen: Seen) -> Answer:
        approved = (seen.body or {}).get("operator_approved") or seen.params.get("operator_approved")
        if not approved:
            return Answer(403, {"error": "operator approval required"})
        data = seen.body.get("data")
        if not isinstance(data, list) or len(data) > 500:
            return Answer(400, {"error": "data must be an array of at most 500 records"})
        counts = {"imported": 0, "skipped": 0, "errors": 0}
        for record in data:
            counts[self._store(record)] += 1
        return Answer(200, counts)

    def _store(self, given: Mapping[str, Any]) -> str:
        content = given.get("content") or given.get("text")
        if not _valid(given, content):
            return "errors"
        text = _SECRET.sub("password: [removed]", str(content))
        record = {"type": "event", "client_id": "global", **given, "content": text, "active": True, "access_count": 0}
        scope = (record["client_id"], record["type"], text)
        twin = next((one for one in self.records.values() if one["active"] and _scope(one) == scope), None)
        own = str(given.get("id") or f"server-{len(self.records)}")
        if twin is not None:
            return "skipped"
        record["id"] = own if self.keeps_ids else f"server-{len(self.records)}"
        old = self.records.get(record["id"])
        self.stored_twice += bool(old and old["active"])
        self.records[record["id"]] = record
        return "imported"

    def _export(self, params: Mapping[str, str]) -> Answer:
        limit, offset = int(params.get("limit", 1000)), int(params.get("offset", 0))
        if not 1 <= limit <= 5000:
            return Answer(400, {"error": "limit"})
        found = [one for one in self.records.values() if one["active"] and one["client_id"] == params.get("client_id")]
        page = found[offset : offset + limit]
        more = offset + limit < len(found)
        return Answer(200, {"memories": page, "total": len(found), "limit": limit, "offset": offset, "has_more": more})

    def _search(self, params: Mapping[str, str]) -> Answer:
        if not params.get("q"):
            return Answer(400, {"error": "q is required"})
        if params.get("read_only") != "true":
            self.unread_only_searches += 1
        asked = set(_WORD.findall(params["q"].lower()))
        low, high = _window(params["q"], params.get("reference_date"))
        found = []
        for record in self.records.values():
            if not record["active"] or record["client_id"] != params.get("client_id", record["client_id"]):
                continue
            at = datetime.fromisoformat(record.get("created_at", "2020-01-01T00:00:00Z"))
            words = set(_WORD.findall(record["content"].lower()))
            score = 0.3 + 0.7 * len(asked & words) / max(len(asked), 1)
            if score >= self.floor and (low is None or low <= at <= high):
                found.append((score, record))
        found.sort(key=lambda one: (-one[0], one[1]["id"]))
        limit = min(int(params.get("limit", 10)), 100)
        hits = [_hit(record, score, params.get("format")) for score, record in found[:limit]]
        retrieval = {"multi_path": True, "paths": {"vector": len(hits), "keyword": 0}}
        if self.degraded:
            retrieval["degraded"] = True
        return Answer(200, {"query": params["q"], "count": len(hits), "results": hits, "retrieval": retrieval})

    def _delete(self, name: str) -> Answer:
        record = self.records.get(name)
        if record is None:
            return Answer(404, {"error": "not found"})
        if not record["active"]:
            return Answer(200, {"id": name, "already_inactive": True})
        record["active"] = False
        return Answer(200, {"id": name, "deleted": True, "deleted_at": "2025-01-01T00:00:00Z"})


def _valid(record: Mapping[str, Any], content: object) -> bool:
    if not isinstance(content, str) or not content or len(content.encode("utf-16-le", "surrogatepass")) // 2 > 10_000:
        return False
    metadata = record.get("metadata", {})
    return (
        record.get("type", "event") in ("event", "fact", "decision", "status")
        and record.get("importance", "low") in ("critical", "high", "medium", "low")
        and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", record.get("source_agent", "import")) is not None
        and len(record.get("client_id", "global")) <= 64
        and len(record.get("key") or "") <= 128
        and len(record.get("subject") or "") <= 256
        and isinstance(metadata, dict)
        and len(json.dumps(metadata)) <= 10_240
    )


def _scope(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record["client_id"], record["type"], record["content"]


def _window(query: str, reference: str | None) -> tuple[datetime | None, datetime]:
    today = datetime.fromisoformat(reference) if reference else datetime.now(UTC)
    for words, (least, most) in _DAYS.items():
        if words in query.lower():
            return today - timedelta(days=most + 1), today - timedelta(days=max(least - 1, 0))
    return None, today


def _hit(record: Mapping[str, Any], score: float, form: str | None) -> dict[str, Any]:
    short = {"id": record["id"], "effective_score": score, "type": record["type"], "client_id": record["client_id"]}
    short["created_at"] = record.get("created_at")
    if form == "index":
        return {**short, "summary": record["content"].splitlines()[0][:80]}
    if form == "compact":
        return {**short, "score": score, "content": record["content"][:200] + "..."}
    whole = {key: value for key, value in record.items() if key != "content"}
    return {**whole, **short, "score": score, "confidence": 1, "text": record["content"]}
