"""An adapter of Notebook, a hosted service that keeps notes.

Facts of the wire. A note is put under an id of ours, and putting it again changes nothing. A notebook comes with its
first note and is gone when it is deleted; searches of one that is not there find nothing. Texts hold 5,000 characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from providers.registry import ProviderEntry
from providers.remote.access import Access, AccessDefaults
from providers.remote.service import Description, Document, Hit, Receipt, Scope
from providers.remote.values import content, count, date_of, iso, mapping, name, number, rows, some_name
from providers.remote.wire import Reply, Request, Wire

ACCESS: Final = AccessDefaults(base_url="https://notebook.example", key_env="NOTEBOOK_API_KEY", requests_per_minute=600)


class IngestSettings(BaseModel):
    """What shapes a store."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RetrievalSettings(BaseModel):
    """Options of a search."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    fuzzy: bool = False


@dataclass(frozen=True)
class Notebook:
    """See ``providers.remote.service.RemoteService``."""

    retrieval: RetrievalSettings
    wire: Wire

    def describe(self) -> Description:
        """``resend``, because a note that is put twice is there once."""
        return Description(
            name="notebook",
            api="1",
            container_length=64,
            max_hits=50,
            batch=1,
            longest=5_000,
            measure="characters",
            recovery="resend",
            takes_as_of=False,
            indexing=False,
        )

    def probe(self) -> Mapping[str, str]:
        """Needs the key."""
        self.wire.send(Request("GET", "/ping", "probe", repeatable=True), lambda reply: mapping(reply.body))
        return {}

    def prepare(self, container: str) -> Mapping[str, str]:
        """Nothing to make."""
        return {}

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """A call a note."""
        return [self._put(scope, document) for document in documents]

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """Nothing is ever pending."""
        return pending

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Not asked for: recovery is ``resend``."""
        return []

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """Best first."""
        body = {"query": query, "limit": limit, "fuzzy": self.retrieval.fuzzy}
        request = Request("POST", f"{_path(scope)}/search", "search", body=body, repeatable=True)
        return self.wire.send(request, lambda reply: [_hit(one) for one in rows(_body(reply).get("notes"), "notes")])

    def count(self, scope: Scope) -> int:
        """Notes."""
        request = Request("GET", _path(scope), "count", repeatable=True)
        return self.wire.send(request, lambda reply: count(_body(reply).get("count"), "count"))

    def clear(self, scope: Scope) -> None:
        """All at once."""
        self.wire.send(Request("DELETE", _path(scope), "clear", repeatable=True), lambda reply: reply.status)

    def _put(self, scope: Scope, document: Document) -> Receipt:
        if not document.text.strip():
            return Receipt(document.id, "skipped", error="it holds no text")
        body = {"text": document.text, "date": iso(document.date) if document.date else None}
        path = f"{_path(scope)}/notes/{quote(document.id, safe='')}"
        request = Request("PUT", path, "ingest", body=body, repeatable=True)
        return self.wire.send(request, lambda reply: Receipt(document.id, "done", (name(_body(reply).get("id")),)))


def create(ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Notebook:
    """What the registry calls."""
    return Notebook(RetrievalSettings.model_validate(retrieval.model_dump() if retrieval else {}), wire)


def open_wire(ingest: BaseModel, access: Access) -> Wire:
    """HTTP with the key as bearer."""
    return access.http("notebook", {"Authorization": f"Bearer {access.key}"})


def _path(scope: Scope) -> str:
    return f"/notebooks/{quote(scope.name, safe='')}"


def _body(reply: Reply) -> Mapping[str, Any]:
    return mapping(reply.body)


def _hit(note: Mapping[str, Any]) -> Hit:
    own = name(note.get("id"))
    return Hit(own, content(note.get("text")), some_name(own), (), number(note.get("score")), date_of(note.get("date")))


_HERE: Final = ("notebook_provider",)
_VERSION: Final = ("notebook-provider",)
ENTRY: Final = ProviderEntry("notebook", *_HERE, *_HERE, _HERE, _HERE, _VERSION, _VERSION, remote=True)
