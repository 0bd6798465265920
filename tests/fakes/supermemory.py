"""Supermemory as its contract says: two clocks, one store behind two interfaces, ids that append, no order kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.server import Answer, Fake, Seen

_TAG = re.compile(r"[a-zA-Z0-9_-]{1,100}")
_CUSTOM = re.compile(r"[a-zA-Z0-9_.-]{1,100}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")
_WORD = re.compile(r"\w+")
_UPLOADED = {"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z"}
_LONGEST = 1_000_000
_NOT_FOUND = Answer(404, {"error": "Document not found"})
_STEPS = ("queued", "extracting", "chunking", "embedding", "indexing")
UNPROCESSABLE = "unprocessable"


class Invalid(Exception):  # noqa: N818
    """A request that fails validation, and where."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = list(path)


@dataclass
class Doc:
    """A document; ``age`` is how often anybody asked for a status since it was taken."""

    container: str
    custom: str
    server: str
    content: str
    metadata: dict[str, Any]
    date: str | None
    dreams: int
    polls: int
    age: int = field(default=0)

    @property
    def status(self) -> str:
        if self.age < self.polls:
            return _STEPS[min(self.age, len(_STEPS) - 1)]
        return "failed" if UNPROCESSABLE in self.content else "done"

    @property
    def dreaming(self) -> str:
        return "done" if self.age >= self.polls + self.dreams else "dreaming"

    @property
    def removed(self) -> bool:
        return self.status == "failed" and self.age >= self.polls + 1


class FakeSupermemory(Fake):
    """See the contract. ``/ns/...`` is v5, ``/v3/...`` and ``/v4/...`` the older interface.

    Attributes:
        docs: by the id that we gave, which is one document's in all containers.
        polls: requests for a status until a text is indexed; ``dreams``: how many more until its memories are made, if
            they are made dynamically; two more otherwise.
        keeps_ids: v5 tells the id that a document came with, not one of its own.
        inherits: a memory bears the metadata of its document.
        merged: all of a container's documents make one memory.
        lag: lists after a deletion by tag that still show what was deleted.
        conflicts: batches that are taken and answered 409.
        unpaid: everything is answered 402.
        stored_twice: texts that were appended to themselves, or stored under a second id.
        unchanged: documents that were sent again as they are.
    """

    texts = frozenset({"content", "query", "q"})

    def __init__(
        self,
        *,
        polls: int = 2,
        dreams: int = 3,
        keeps_ids: bool = True,
        inherits: bool = True,
        merged: bool = False,
        lag: int = 0,
        conflicts: int = 0,
        unpaid: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.docs: dict[str, Doc] = {}
        self.polls, self.dreams = polls, dreams
        self.keeps_ids, self.inherits, self.merged = keeps_ids, inherits, merged
        self.lag, self.conflicts, self.unpaid = lag, conflicts, unpaid
        self.stored_twice = self.unchanged = self.made = 0
        self._ghosts: dict[str, tuple[int, list[Doc]]] = {}

    def answer(self, seen: Seen) -> Answer:
        if seen.headers.get("authorization") != f"Bearer {self.key}":
            return Answer(401, {"error": "Unauthorized", "details": seen.headers.get("authorization")})
        if self.unpaid:
            return Answer(402, {"error": "token limit reached"})
        try:
            return self._v5(seen) if seen.path.startswith("/ns/") else self._v4(seen)
        except Invalid as error:
            issue = {"message": str(error), "path": error.path}
            return Answer(400, {"success": False, "error": [issue], "data": seen.body})

    def _v5(self, seen: Seen) -> Answer:
        container, _, rest = seen.path.removeprefix("/ns/").partition("/")
        _tag(container)
        match (seen.method, rest.split("/")):
            case ("POST", ["document", "batch"]):
                _keys(seen.body, {"documents", "dreaming", "taskType"})
                return self._batch(container, seen.body, "id", "date")
            case ("GET", ["document", name]):
                found = next((one for one in self._of(container) if name in (one.custom, one.server)), None)
                return Answer(200, self._shown5(_older(found))) if found else _NOT_FOUND
            case ("POST", ["list", "documents"]):
                _keys(seen.body, {"filter", "include"})
                page, limit = int(seen.params.get("page", 1)), int(seen.params.get("limit", 10))
                shown, pagination = self._list(container, page, limit, 100)
                documents = [self._shown5(one) for one in shown]
                return Answer(200, {"documents": documents, "chunks": [], "memories": [], "pagination": pagination})
            case ("POST", ["search"]):
                if seen.params:
                    raise Invalid("options belong into the body", *seen.params)
                return self._search5(container, seen.body)
            case ("DELETE", [""]):
                if seen.params:
                    raise Invalid("a move is not wanted here")
                count = len(self._drop(container))
                counts = {"deletedDocumentsCount": count, "deletedMemoriesCount": count}
                return Answer(200, {"status": "deleted", "namespace": container, **counts})
        return Answer(404, b"<html>not found</html>", {"Content-Type": "text/html"})

    def _v4(self, seen: Seen) -> Answer:
        match (seen.method, seen.path.split("/")[1:]):
            case ("POST", ["v3", "documents", "batch"]):
                _keys(seen.body, {"documents", "containerTag", "dreaming"})
                return self._batch(_tag(seen.body.get("containerTag")), seen.body, "customId", "documentDate")
            case ("POST", ["v3", "documents", "list"]):
                _keys(seen.body, {"containerTags", "limit", "page", "sort", "order"})
                (container,) = seen.body["containerTags"]
                page, limit = int(seen.body.get("page", 1)), int(seen.body.get("limit", 50))
                shown, pagination = self._list(container, page, limit, 200)
                return Answer(200, {"memories": [_shown4(one) for one in shown], "pagination": pagination})
            case ("GET", ["v3", "documents", name]):
                found = next((one for one in self.docs.values() if one.server == name and not one.removed), None)
                if found is None:
                    return _NOT_FOUND
                more = {"content": found.content, "raw": None, "latestRevision": 1}
                return Answer(200, {**_shown4(_older(found)), "dreamingStatus": found.dreaming, **more})
            case ("POST", ["v4", "search"]):
                return self._search4(seen.body)
            case ("DELETE", ["v3", "documents", "bulk"]):
                _keys(seen.body, {"containerTags"})
                (container,) = seen.body["containerTags"]
                dropped = self._drop(container)
                if dropped and self.lag:
                    self._ghosts[container] = (self.lag, dropped)
                return Answer(200, {"success": True, "deletedCount": len(dropped), "containerTags": [container]})
        return Answer(404, b"<html>not found</html>", {"Content-Type": "text/html"})

    def _batch(self, container: str, body: Mapping[str, Any], own: str, date: str) -> Answer:
        documents = body.get("documents")
        if not isinstance(documents, list) or not 1 <= len(documents) <= 600:
            raise Invalid("1 to 600 documents", "documents")
        if body.get("dreaming", "dynamic") not in ("dynamic", "instant"):
            raise Invalid("invalid mode", "dreaming")
        for index, one in enumerate(documents):
            _keys(one, {"content", own, "metadata", date}, "documents", index)
            _checked(one, one.get(own), one.get(date), index)
        good = [one for one in documents if len(one["content"].encode()) <= _LONGEST]
        # Oldest first, whatever the order of the request.
        made = [self._store(container, one, one[own], one.get(date), body) for one in sorted(good, key=_by(date))]
        said = {doc.custom: doc.status for doc in made}
        failed = [one for one in documents if one not in good]
        error = {"status": "error", "error": "Content too large", "details": "at most 1 MB"}
        if self.conflicts:
            self.conflicts -= 1
            return Answer(409, {"error": "the document is being processed"})
        if own == "id":
            results = [{"id": self._named(one[own]), "status": said[one[own]]} for one in good]
            results += [{"id": one[own], **error} for one in failed]
            return Answer(200, {"results": results, "count": len(good), "failed": len(failed)})
        results = [{"id": doc.server, "status": doc.status} for doc in reversed(made)] + [{"id": "", **error}] * len(
            failed
        )
        return Answer(200, {"results": results, "success": len(good), "failed": len(failed)})

    def _store(self, container: str, given: Mapping[str, Any], own: str, date: str | None, body: Any) -> Doc:
        old = self.docs.get(own)
        if old is not None and not old.removed:
            if old.content == given["content"]:
                self.unchanged += 1
            else:
                self.stored_twice += 1
                old.content += f"\n{given['content']}"
                old.age = 0
            return old
        metadata = dict(given.get("metadata") or {})
        self.stored_twice += any(one.metadata == metadata for one in self._of(container))
        self.made += 1
        dreams = 2 if body.get("dreaming") == "instant" else self.dreams
        doc = Doc(container, own, f"srv{self.made:06}", given["content"], metadata, date, dreams, self.polls)
        self.docs[own] = doc
        return doc

    def _of(self, container: str) -> list[Doc]:
        return [one for one in self.docs.values() if one.container == container and not one.removed]

    def _named(self, own: str) -> str:
        return own if self.keeps_ids else self.docs[own].server

    def _drop(self, container: str) -> list[Doc]:
        dropped = self._of(container)
        self.docs = {key: one for key, one in self.docs.items() if one.container != container}
        return dropped

    def _list(self, container: str, page: int, limit: int, most: int) -> tuple[list[Doc], dict[str, Any]]:
        if not 1 <= limit <= most or page < 1:
            raise Invalid(f"a limit of 1 to {most}", "limit")
        left, ghosts = self._ghosts.pop(container, (0, []))
        if left > 1:
            self._ghosts[container] = (left - 1, ghosts)
        if not ghosts and limit > 1:
            for one in self._of(container):
                _older(one)
        held = ghosts or self._of(container)
        pages = -(-len(held) // limit)
        pagination = {"currentPage": page, "limit": limit, "totalItems": len(held), "totalPages": pages}
        return held[(page - 1) * limit : page * limit], pagination

    def _search5(self, container: str, body: Any) -> Answer:
        _keys(body, {"query", "searchMode", "limit", "threshold", "include", "rerank", "rewriteQuery", "filter"})
        mode = body.get("searchMode", "hybrid")
        if mode not in ("hybrid", "memories", "chunks") or body.get("rerank", "none") not in ("none", "order"):
            raise Invalid("invalid option", "searchMode")
        results = []
        for kind, text, docs, score in self._found(container, body, body.get("query"), mode):
            metadata = docs[0].metadata if self.inherits else {}
            hit = {"id": f"{kind}-{docs[0].server}", kind: text, "metadata": metadata, "similarity": score}
            hit |= {"isLatest": True, "isInference": False, "system": _UPLOADED}
            if body.get("include", {}).get("documents") is True:
                source = {"id": self._named(docs[0].custom), "type": "text", "system": _UPLOADED}
                hit["included"] = {"document": {**source, "metadata": docs[0].metadata}}
            results.append(hit)
        return Answer(200, {"results": results, "searchTime": 12.5})

    def _search4(self, body: Any) -> Answer:
        _keys(body, {"q", "containerTag", "limit", "threshold", "searchMode", "rerank", "rewriteQuery", "include"})
        mode = body.get("searchMode", "memories")
        if mode not in ("hybrid", "memories", "documents") or not isinstance(body.get("rerank", False), bool):
            raise Invalid("invalid option", "searchMode")
        results = []
        for kind, text, docs, score in self._found(_tag(body.get("containerTag")), body, body.get("q"), mode):
            metadata = docs[0].metadata if self.inherits else None
            hit: dict[str, Any] = {"id": f"{kind}-{docs[0].server}", kind: text, "metadata": metadata}
            hit["similarity"] = score
            hit["updatedAt"] = _UPLOADED["updatedAt"]
            if body.get("include", {}).get("documents") is True:
                hit["documents"] = [{"id": one.server, **_UPLOADED, "metadata": one.metadata} for one in docs]
            results.append(hit)
        return Answer(200, {"results": results, "timing": 12.5, "total": len(results)})

    def _found(self, container: str, body: Any, query: Any, mode: str) -> Iterator[tuple[str, str, list[Doc], float]]:
        limit, threshold = body.get("limit", 10), body.get("threshold", 0.6)
        if not isinstance(query, str) or not query or not 1 <= limit <= 100 or not 0 <= threshold <= 1:
            raise Invalid("invalid search", "query")
        ready = [one for one in self._of(container) if one.status == "done"]
        dreamt = [one for one in ready if one.dreaming == "done"]
        groups = [dreamt] if self.merged and dreamt else [[one] for one in dreamt]
        found = []
        if mode != "memories":
            found += [("chunk", one.content, [one]) for one in ready]
        if mode in ("memories", "hybrid"):
            found += [("memory", " ".join(one.content.splitlines()[0] for one in docs), docs) for docs in groups]
        asked = set(_WORD.findall(query.lower()))
        scored = [
            (kind, text, docs, 0.2 + 0.8 * len(asked & set(_WORD.findall(text.lower()))) / max(len(asked), 1))
            for kind, text, docs in found
        ]
        scored.sort(key=lambda one: (-one[3], one[2][0].server, one[0]))
        yield from [one for one in scored if one[3] >= threshold][:limit]

    def _shown5(self, doc: Doc) -> dict[str, Any]:
        system = {"status": doc.status, "dreamingStatus": doc.dreaming, **_UPLOADED}
        return {
            "id": self._named(doc.custom),
            "type": "text",
            "metadata": doc.metadata,
            "system": system,
        }


def _older(doc: Doc) -> Doc:
    doc.age += 1
    return doc


def _shown4(doc: Doc) -> dict[str, Any]:
    told = {"id": doc.server, "customId": doc.custom, "metadata": doc.metadata, "status": doc.status}
    return {**told, "type": "text", **_UPLOADED, "containerTags": [doc.container]}


def _tag(value: Any) -> str:
    if not isinstance(value, str) or not _TAG.fullmatch(value):
        raise Invalid("1 to 100 letters, digits, - and _", "containerTag")
    return value


def _keys(body: Any, known: set[str], *where: str | int) -> None:
    if not isinstance(body, dict):
        raise Invalid("expected object", *where)
    for name in body:
        if name not in known:
            raise Invalid("unrecognized key", *where, name)


def _checked(document: Mapping[str, Any], own: Any, date: Any, index: int) -> None:
    if not isinstance(document.get("content"), str) or not document["content"].strip():
        raise Invalid("content is required", "documents", index, "content")
    if not isinstance(own, str) or not _CUSTOM.fullmatch(own):
        raise Invalid("an id of 1 to 100 letters, digits, dots, - and _", "documents", index, "id")
    if date is not None and not _DATE.fullmatch(str(date)):
        raise Invalid("not ISO 8601", "documents", index, "date")
    for name, value in document.get("metadata", {}).items():
        if name.startswith("sm_") or not isinstance(value, str | int | float | bool):
            raise Invalid("reserved or nested", "documents", index, "metadata", name)


def _by(date: str) -> Any:
    return lambda one: one.get(date) or "9999"
