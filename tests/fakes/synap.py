"""Synap as its contract says: mixed prefixes, two kinds of instances, memories made later, writes never repeated."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fakes.server import Answer, Fake, Seen

_WORD = re.compile(r"\w+")
_TYPES = ("facts", "preferences", "episodes", "emotions", "temporal_events")
_CLIENT, _INSTANCE = "cl-1", "inst-1"
_GATED = ("/v1/context/user/fetch", "/api/v1/memories/create", "/api/v1/memories/batch")
_DOCUMENT_TYPES = (
    "ai-chat-conversation",
    "document",
    "email",
    "pdf",
    "image",
    "audio",
    "meeting-transcript",
)
_LABELLED = re.compile(r"^(User|Assistant|System): ", re.MULTILINE)


@dataclass
class Stored:
    """A document that was taken, and what is made of it after ``polls`` questions for its status."""

    given: Mapping[str, Any]
    ingestion_id: str
    polls: int = 0
    memories: list[dict[str, Any]] = field(default_factory=list)
    status: str = "queued"


class FakeSynap(Fake):
    """See the contract. Words in a document say what becomes of it: "unprocessable", "halfway", "forgettable".

    Attributes:
        isolation: what ``whoami`` says; None for a server that predates it.
        polls: how often a document's status must be asked for until it is there.
        ranked: whether the server knows ``response_shape``.
        excerpts: whether ranked answers hold a quote of the document beside each memory.
        echoes: whether hits bring back the metadata of their document.
        names_documents: whether a memory says which document it comes from.
        degraded: the ``retrieval`` block of every search.
        building: this many gated requests are refused, because the instance is being built.
        build_failed: they all are, for good.
        stop: a payment stop of all gated requests.
        accepts: status of a batch that was taken.
        a_call: documents that one call deletes.
        stuck: stores that a deletion does not clear.
        stored_twice: how often a document was taken that was there already.
        undated: searches without a query date.
    """

    texts = frozenset({"document", "search_query"})

    def __init__(self, *, isolation: str | None = "equals_customer", polls: int = 2, **more: Any) -> None:
        super().__init__(**more)
        self.isolation = isolation
        self.polls = polls
        self.ranked = True
        self.excerpts = False
        self.echoes = False
        self.names_documents = True
        self.degraded: dict[str, Any] | None = None
        self.building = 0
        self.build_failed = False
        self.stop: Literal["credits", "trial", "lapsed"] | None = None
        self.accepts = 200
        self.a_call = 1000
        self.stuck: list[str] = []
        self.stored_twice = 0
        self.undated = 0
        self.stored: list[Stored] = []

    def answer(self, seen: Seen) -> Answer:
        if seen.headers.get("authorization") != f"Bearer {self.key}":
            return Answer(401, {"detail": "invalid API key"})
        if not seen.headers.get("x-correlation-id"):
            return Answer(400, {"detail": "X-Correlation-ID is required"})
        if (seen.method, seen.path) == ("GET", "/api/v1/auth/whoami"):
            told = {"client_id": _CLIENT, "instance_id": _INSTANCE, "user_context_isolation": self.isolation}
            return Answer(200, {key: value for key, value in told.items() if value is not None})
        if (seen.headers.get("x-client-id"), seen.headers.get("x-instance-id")) != (_CLIENT, _INSTANCE):
            return Answer(403, {"detail": "this key is of another instance"})
        if seen.path in _GATED and (refused := self._gate()):
            return refused
        match (seen.method, seen.raw_path):
            case ("POST", "/api/v1/memories/create"):
                return self._create(seen.body)
            case ("POST", "/api/v1/memories/batch"):
                return self._batch(seen.body)
            case ("POST", "/v1/context/user/fetch"):
                return self._fetch(seen.body)
            case ("POST", "/v1/data/delete"):
                return self._delete(seen.body)
        if seen.method == "GET" and seen.raw_path.startswith("/api/v1/memories/status/"):
            return self._status(seen.path.removeprefix("/api/v1/memories/status/"))
        if seen.method == "GET" and seen.raw_path.startswith("/api/v1/memories/"):
            return self._memory(seen.path.removeprefix("/api/v1/memories/"))
        return Answer(404, {"detail": "Not Found"})

    def _gate(self) -> Answer | None:
        if self.build_failed:
            inner = {"code": "instance_build_failed", "attempts": 3, "hint": "instances rebuild inst-1"}
            return Answer(409, {"error": "instance_build_failed", "message": "gave up", "detail": inner})
        if self.building:
            self.building -= 1
            told = {"error": "instance_not_ready", "retry_after_seconds": 0.01, "state": "building"}
            return Answer(409, {**told, "detail": {"code": "instance_not_ready"}}, {"Retry-After": "1"})
        if self.stop == "credits":
            return Answer(402, {"detail": {"error": "insufficient_credits", "message": "no credits left"}})
        if self.stop == "trial":
            return Answer(429, {"detail": {"error": "trial_limit_reached"}}, {"Retry-After": "0"})
        if self.stop == "lapsed":
            return Answer(429, {"reason": "subscription_inactive", "message": "past due"}, {"Retry-After": "0"})
        return None

    def _wrong(self, body: Mapping[str, Any]) -> str | None:
        if not body.get("user_id"):
            return "user_id is required"
        if self.isolation == "equals_customer":
            return "customer_id is not accepted on this instance" if body.get("customer_id") else None
        return None if body.get("customer_id") else "customer_id is required"

    def _create(self, given: Mapping[str, Any]) -> Answer:
        result = self._take(given)
        if result["error_message"]:
            return Answer(422, {"detail": result["error_message"]})
        return Answer(200, result)

    def _batch(self, body: Mapping[str, Any]) -> Answer:
        if not isinstance(body.get("documents"), list) or not isinstance(body.get("fail_fast"), bool):
            return Answer(422, {"detail": "documents must be an array"})
        for given in body["documents"]:
            if wrong := self._wrong(given):
                return Answer(400, {"detail": wrong})
        results = [self._take(given) for given in body["documents"]]
        failed = sum(result["status"] == "failed" for result in results)
        told = {"batch_id": str(uuid.uuid4()), "total": len(results), "failed": failed}
        return Answer(self.accepts, {**told, "succeeded": len(results) - failed, "results": results[::-1]})

    def _take(self, given: Mapping[str, Any]) -> dict[str, Any]:
        wrong = self._wrong(given)
        if not isinstance(given.get("document"), str) or not given["document"].strip():
            wrong = "document must not be empty"
        elif given.get("document_type") not in _DOCUMENT_TYPES or given.get("mode") not in ("fast", "long-range"):
            wrong = "unknown document_type or mode"
        elif given["document_type"] == "ai-chat-conversation" and not _LABELLED.match(given["document"]):
            wrong = "a conversation without speakers"
        own = str(uuid.uuid4())
        told = {"ingestion_id": own, "document_id": given.get("document_id"), "queued_at": "2026-01-01T00:00:00Z"}
        if wrong:
            return {**told, "status": "failed", "error_message": wrong}
        same = (given["user_id"], given["document_id"])
        self.stored_twice += any((one.given["user_id"], one.given["document_id"]) == same for one in self.stored)
        self.stored.append(Stored(given, own))
        return {**told, "status": "queued", "error_message": None}

    def _status(self, own: str) -> Answer:
        one = next((one for one in self.stored if one.ingestion_id == own), None)
        if one is None:
            return Answer(404, {"detail": "no such ingestion"})
        one.polls += 1
        if one.polls > self.polls and one.status in ("queued", "processing"):
            self._make(one)
        elif one.status == "queued":
            one.status = "processing"
        told = {"ingestion_id": own, "document_id": one.given["document_id"], "status": one.status}
        told["error_message"] = "the pipeline failed" if one.status in ("failed", "partial_success") else None
        ids = [memory["id"] for memory in one.memories]
        return Answer(200, {**told, "memories_created": len(ids), "memory_ids": ids})

    def _make(self, one: Stored) -> None:
        lines = one.given["document"].splitlines()
        one.status = "completed"
        if "unprocessable" in one.given["document"]:
            one.status, lines = "failed", []
        elif "halfway" in one.given["document"]:
            one.status, lines = "partial_success", lines[:1]
        elif "forgettable" in one.given["document"]:
            lines = []
        for index, line in enumerate(lines):
            text = _LABELLED.sub("", line)
            one.memories.append({"id": str(uuid.uuid4()), "content": text, "category": _TYPES[index % 2]})

    def _memory(self, own: str) -> Answer:
        for one in self.stored:
            if own == f"chunk/{one.ingestion_id}" or any(memory["id"] == own for memory in one.memories):
                told = {"memory_id": own, "memory_type": "fact", "content": "...", "confidence": 0.5}
                source = one.given["document_id"] if self.names_documents else None
                return Answer(200, {**told, "source_document_id": source})
        return Answer(404, {"detail": "no such memory"})

    def _fetch(self, body: Mapping[str, Any]) -> Answer:
        if wrong := self._wrong(body):
            return Answer(400, {"detail": wrong})
        queries = body.get("search_query")
        if not isinstance(queries, list) or body.get("mode") not in ("fast", "accurate"):
            return Answer(422, {"detail": "search_query must be an array"})
        if not any(query.strip() for query in queries):
            return Answer(200, {"context": {"facts": []}, "profile": {"overview": "a person"}})
        self.undated += not re.fullmatch(r"\d{4}-\d\d-\d\d", body.get("query_date", ""))
        found = self._found(body["user_id"], " ".join(queries))
        limit = body.get("max_results", 10)
        told: dict[str, Any] = {"ttl_seconds": 300}
        if self.degraded is not None:
            told["retrieval"] = self.degraded
        if self.ranked and body.get("response_shape") == "ranked":
            items = [{**item, "rank": rank} for rank, item in enumerate(found[:limit], start=1)]
            return Answer(200, {**told, "context": {"items": items}})
        # Each type in an order of its own, which is not that of the scores.
        kinds = {kind: [item for item in found if item["category"] == kind][:limit][::-1] for kind in _TYPES}
        return Answer(200, {**told, "context": kinds})

    def _found(self, user: str, query: str) -> list[dict[str, Any]]:
        asked = set(_WORD.findall(query.lower()))
        found = []
        for one in self.stored:
            if one.given["user_id"] != user:
                continue
            quote = {"id": f"chunk/{one.ingestion_id}", "content": one.given["document"], "category": "excerpts"}
            for memory in [*one.memories, *([{**quote, "source": "chunks"}] if self.excerpts and one.memories else [])]:
                share = len(asked & set(_WORD.findall(memory["content"].lower()))) / max(len(asked), 1)
                metadata = {**(one.given["metadata"] if self.echoes else {}), "rank_score": share}
                said = {"said_at": one.given["document_created_at"], "extracted_at": "2026-01-01T00:00:00Z"}
                found.append({**memory, **said, "confidence": 1 - share, "metadata": metadata})
        return sorted(found, key=lambda item: -item["metadata"]["rank_score"])

    def _delete(self, body: Mapping[str, Any]) -> Answer:
        if wrong := self._wrong(body):
            return Answer(400, {"detail": wrong})
        if body.get("scope") != "user" or body.get("instance_id") != _INSTANCE:
            return Answer(400, {"detail": "scope or instance_id"})
        mine = [one for one in self.stored if one.given["user_id"] == body["user_id"]]
        counts = {"postgres": {"documents": len(mine), "memories": sum(len(one.memories) for one in mine)}}
        told: dict[str, Any] = {"found": bool(mine), "counts": counts, "dry_run": body.get("dry_run")}
        if body.get("dry_run"):
            return Answer(200, {**told, "status": "dry_run", "fully_removed": False, "continue": False})
        if body.get("confirm") != body["user_id"]:
            return Answer(400, {"detail": "confirm must equal the user_id"})
        gone = {one.ingestion_id for one in mine[: self.a_call]}
        self.stored = [one for one in self.stored if one.ingestion_id not in gone]
        more = len(gone) < len(mine)
        told |= {"status": "in_progress" if more else "complete", "continue": more}
        done = not more and not self.stuck
        return Answer(200, {**told, "fully_removed": done, "still_present_in": self.stuck})
