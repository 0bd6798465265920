"""Zengram, a self-hosted memory server: its REST interface of 4.x (older servers ignore what they do not know).

Facts of the wire. Imports are counted, not itemised, and say 200 even if every record failed; what is stored is read
back from the export. A record's id is the primary key of the whole database, so ids carry the container's name. Records
with the text of another one of the same container are skipped. Searches change ranking unless they are ``read_only``,
and cut by words such as "yesterday" relative to ``reference_date``, which is the server's clock where it is missing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from providers.remote.access import Access, AccessDefaults
from providers.remote.errors import Degraded
from providers.remote.service import Description, Document, Hit, Receipt, Scope
from providers.remote.values import content, count, date_of, iso, mapping, name, number, rows, some_name
from providers.remote.wire import Purpose, Reply, Request, Wire

ACCESS: Final = AccessDefaults(base_url="http://localhost:8084", key_env="ZENGRAM_API_KEY", requests_per_minute=55)

_RECORDS: Final = 100
_BODY: Final = 900_000
_PAGE: Final = 5000
_LONGEST: Final = 10_000
_IMPORT_S: Final = 900.0
_REFUSED_SOME: Final = "?"
_SKIPPED_ONLY: Final = "="
_ATTRIBUTES: Final = ("type", "key", "subject", "importance", "knowledge_category", "category", "confidence")


class IngestSettings(BaseModel):
    """What shapes a store: nothing but the records themselves."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RetrievalSettings(BaseModel):
    """Options of a search.

    Attributes:
        format: how much of a record a hit holds. ``index`` and ``compact`` give the beginning of its text.
        include_superseded: also records that a newer one replaced.
        type: only records of this type.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["full", "compact", "index"] = "full"
    include_superseded: bool = False
    type: Literal["event", "fact", "decision", "status"] | None = None


@dataclass(frozen=True)
class Zengram:
    """See ``providers.remote.service.RemoteService``."""

    retrieval: RetrievalSettings
    wire: Wire

    def describe(self) -> Description:
        """Clients of at most 64 characters; texts of 10,000 UTF-16 units; searches of at most 100 hits."""
        return Description(
            name="zengram",
            api="4",
            container_length=64,
            max_hits=100,
            batch=_RECORDS,
            longest=_LONGEST,
            measure="utf16",
            recovery="look",
            takes_as_of=True,
            indexing=False,
        )

    def probe(self) -> Mapping[str, str]:
        """``/health`` needs no key; one record of nobody's shows whether the key is good."""
        about = self.wire.send(Request("GET", "/health", "probe", repeatable=True), lambda reply: reply.body)
        self._exported("probe", "eval-assets-probe", limit=1)
        known = about.items() if isinstance(about, Mapping) else ()
        return {key: str(value)[:100] for key, value in known if isinstance(value, str | int | float)}

    def prepare(self, container: str) -> Mapping[str, str]:
        """A client id needs no making."""
        return {}

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Import, in requests below the server's limit of 1 MB; which records it took is read back by ``settle``."""
        errors = 0
        for records in _chunks([_record(scope.name, document) for document in documents]):
            body = {"operator_approved": True, "data": records}
            request = Request("POST", "/export/import", "ingest", body=body, timeout_s=_IMPORT_S)
            errors += self.wire.send(request, _imported)
        mark = _REFUSED_SOME if errors else _SKIPPED_ONLY
        return [Receipt(document.id, "pending", ticket=mark + _digest(document)) for document in documents]

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """What the export holds is done; of the rest, what has the text of another record was skipped."""
        held = _Held.of(scope.name, self._export("status", scope.name))
        return [held.receipt(one.document, one.ticket) for one in pending]

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Those that the export holds."""
        held = _Held.of(scope.name, self._export("status", scope.name))
        found = [held.receipt(document.id, _REFUSED_SOME + _digest(document)) for document in documents]
        return [receipt for receipt in found if receipt.status != "failed"]

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """Array order is the rank, not the score. A ``degraded`` answer came from the keyword index alone."""
        params: dict[str, str | int | bool] = {
            "q": query,
            "limit": min(limit, 100),
            "client_id": scope.name,
            "format": self.retrieval.format,
            "read_only": "true",
        }
        if as_of:
            params["reference_date"] = iso(as_of)
        if self.retrieval.include_superseded:
            params["include_superseded"] = "true"
        if self.retrieval.type:
            params["type"] = self.retrieval.type
        request = Request("GET", "/memory/search", "search", params=params, repeatable=True)
        return self.wire.send(request, lambda reply: _hits(scope.name, reply))

    def count(self, scope: Scope) -> int:
        """Active records of the client."""
        return self._exported("count", scope.name, limit=1)[1]

    def clear(self, scope: Scope) -> None:
        """Delete record by record, which is the only way; each deletion leaves an inactive row behind."""
        while page := self._exported("clear", scope.name, limit=_PAGE)[0]:
            for record in page:
                path = f"/memory/{quote(name(record.get('id')), safe='')}"
                self.wire.send(Request("DELETE", path, "clear", repeatable=True), lambda reply: reply.status)

    def _export(self, purpose: Purpose, client: str) -> Iterator[Mapping[str, Any]]:
        offset = 0
        while True:
            page, total = self._exported(purpose, client, limit=_PAGE, offset=offset)
            yield from page
            offset += len(page)
            if not page or offset >= total:
                return

    def _exported(
        self, purpose: Purpose, client: str, *, limit: int, offset: int = 0
    ) -> tuple[Sequence[Mapping[str, Any]], int]:
        params: Mapping[str, str | int] = {"client_id": client, "limit": limit, "offset": offset}
        request = Request("GET", "/export", purpose, params=params, repeatable=True)

        def read(reply: Reply) -> tuple[Sequence[Mapping[str, Any]], int]:
            body = mapping(reply.body)
            return rows(body.get("memories"), "memories"), count(body.get("total"), "total")

        return self.wire.send(request, read)


@dataclass(frozen=True)
class _Held:
    """What a client holds: the server's id of each document of ours, and of each text."""

    documents: Mapping[str, str]
    texts: Mapping[str, str]

    @classmethod
    def of(cls, container: str, records: Iterator[Mapping[str, Any]]) -> _Held:
        documents: dict[str, str] = {}
        texts: dict[str, str] = {}
        for record in records:
            server_id = name(record.get("id"))
            texts.setdefault(_text_digest(str(record.get("content") or record.get("text") or "")), server_id)
            for document in _named(container, record):
                documents[document] = server_id
        return cls(documents, texts)

    def receipt(self, document: str, ticket: str | None) -> Receipt:
        if document in self.documents:
            return Receipt(document, "done", (self.documents[document],))
        mark, text = (ticket or _REFUSED_SOME)[:1], (ticket or "")[1:]
        # The server compares texts after taking out what looks like a secret, so ours may differ from its own.
        if text in self.texts or mark == _SKIPPED_ONLY:
            held = (self.texts[text],) if text in self.texts else ()
            return Receipt(document, "skipped", held, error="its text is stored under another record")
        return Receipt(document, "failed", error="the import refused it, without saying why")


def create(ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Zengram:
    """The adapter with these settings."""
    return Zengram(retrieval if isinstance(retrieval, RetrievalSettings) else RetrievalSettings(), wire)


def open_wire(ingest: BaseModel, access: Access) -> Wire:
    """HTTP with the key in ``x-api-key``."""
    return access.http("zengram", {"x-api-key": access.key})


def _record(container: str, document: Document) -> dict[str, Any]:
    told = {key: document.attributes[key] for key in _ATTRIBUTES if document.attributes.get(key) is not None}
    return {
        "type": "event",
        **told,
        "id": f"{container}:{document.caller_id or document.id}",
        "content": document.text,
        "client_id": container,
        "source_agent": "import",
        "metadata": {"session_id": document.id},
        **({"created_at": iso(document.date)} if document.date else {}),
    }


def _chunks(records: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    held: list[dict[str, Any]] = []
    size = 0
    for record in records:
        length = len(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")) + 1
        if held and size + length > _BODY:
            yield held
            held, size = [], 0
        held.append(record)
        size += length
    if held:
        yield held


def _imported(reply: Reply) -> int:
    """How many records it refused."""
    body = mapping(reply.body)
    count(body.get("imported"), "imported")
    return count(body.get("errors"), "errors")


def _hits(container: str, reply: Reply) -> Sequence[Hit]:
    body = mapping(reply.body)
    hits = [_hit(container, one) for one in rows(body.get("results"), "results")]
    retrieval = body.get("retrieval")
    if isinstance(retrieval, Mapping) and retrieval.get("degraded"):
        raise Degraded("zengram: the vector index did not answer", hits)
    return hits


def _hit(container: str, hit: Mapping[str, Any]) -> Hit:
    text = next((hit[key] for key in ("text", "content", "summary") if hit.get(key) is not None), "")
    return Hit(
        provider_id=name(hit.get("id")),
        content=content(text),
        documents=tuple(_named(container, hit)),
        sources=some_name(hit.get("id")),
        score=number(hit.get("effective_score", hit.get("score"))),
        date=date_of(hit.get("created_at")),
        whole="text" in hit,
    )


def _named(container: str, record: Mapping[str, Any]) -> Iterator[str]:
    """Our id of a record: in its metadata (also if the server gives ids itself), else behind the container's name."""
    metadata = record.get("metadata")
    named = some_name(metadata.get("session_id")) if isinstance(metadata, Mapping) else ()
    own = record.get("id")
    if not named and isinstance(own, str) and own.startswith(f"{container}:"):
        named = (own.removeprefix(f"{container}:"),)
    yield from named


def _digest(document: Document) -> str:
    return _text_digest(document.text)


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
