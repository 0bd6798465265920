"""mem0's own library in this process, without a network: messages as they are, embedded here, in Qdrant in a folder.

Facts of the library (mem0ai 2). With ``infer=False`` no model is asked: each message becomes a memory, but one whose
role is ``system`` becomes none. ``created_at`` in the metadata is kept; ``timestamp`` and ``reference_date`` are not.
A threshold cuts by similarity and cannot be negative, so memories less similar than 0 are never found. Writing is not
atomic: a process that dies leaves the first messages of a session behind.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Self
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from converters.errors import BadInput
from providers.remote.access import Access, AccessDefaults
from providers.remote.errors import Unreadable
from providers.remote.service import Description, Document, Hit, Receipt, Scope
from providers.remote.values import content, count, date_of, iso, mapping, name, number, rows, some_name
from providers.remote.wire import Reply, Request, Wire

FOLDER_VARIABLE: Final = "EVAL_ASSETS_MEM0_DIR"
INSTALL: Final = 'pip install "eval-assets[mem0]"'
# Not an address but a folder: nothing is listening anywhere.
ACCESS: Final = AccessDefaults(base_url="data/mem0", key_env=None, key_optional=True, concurrency=2)

_MOST_HITS: Final = 1000
_DECIMALS: Final = 6


class IngestSettings(BaseModel):
    """What shapes a store: nothing but the messages themselves. Needs the library."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def _installed(self) -> Self:
        if find_spec("mem0") is None:
            raise PydanticCustomError("not_installed", f"mem0's library is not installed: {INSTALL}")
        return self


class RetrievalSettings(BaseModel):
    """Options of a search.

    Attributes:
        threshold: memories less similar than this are no hits. The library's own default is 0.1.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0


@dataclass(frozen=True)
class Mem0:
    """See ``providers.remote.service.RemoteService``. A container is a user in a folder of its own."""

    retrieval: RetrievalSettings
    wire: Wire

    def describe(self) -> Description:
        """A session at a time; no limits.

        ``look`` because what a container holds can be listed; what ``find`` sees only half of, it removes.
        """
        return Description(
            name="mem0_oss",
            api="2",
            container_length=64,
            max_hits=_MOST_HITS,
            batch=1,
            longest=None,
            measure="characters",
            recovery="look",
            takes_as_of=False,
            indexing=False,
        )

    def probe(self) -> Mapping[str, str]:
        """Versions of the libraries; the folder can be written."""

        def read(reply: Reply) -> Mapping[str, str]:
            return {key: str(value) for key, value in mapping(reply.body).items()}

        return self.wire.send(Request("GET", "/health", "probe", repeatable=True), read)

    def prepare(self, container: str) -> Mapping[str, str]:
        """Its folder comes with its first memory."""
        return {}

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """A call a session."""
        return [self._add(scope, document) for document in documents]

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """What was written can be found at once."""
        return pending

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Those with a memory for each message; what is there of the others is removed."""
        held: dict[str, list[str]] = {}
        request = Request("GET", "/memories", "status", params={"user_id": scope.name}, repeatable=True)
        for memory in self.wire.send(request, _results):
            for named in _named(memory):
                held.setdefault(named, []).append(name(memory.get("id")))
        found: list[Receipt] = []
        for document in documents:
            ids = held.get(document.id, [])
            if len(ids) == len(_messages(document)):
                found += [_receipt(document, ids)]
                continue
            for own in ids:
                self._remove(scope, own)
        return found

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """In the library's order. It takes no reference date."""
        body = {
            "query": query,
            "filters": {"user_id": scope.name},
            "top_k": min(limit, _MOST_HITS),
            "threshold": self.retrieval.threshold,
        }
        request = Request("POST", "/search", "search", body=body, repeatable=True)
        return self.wire.send(request, lambda reply: [_hit(one) for one in _results(reply)])

    def count(self, scope: Scope) -> int:
        """Memories."""
        request = Request("GET", "/count", "count", params={"user_id": scope.name}, repeatable=True)
        return self.wire.send(request, lambda reply: count(mapping(reply.body).get("count"), "count"))

    def clear(self, scope: Scope) -> None:
        """Remove its folder."""
        request = Request("DELETE", "/memories", "clear", params={"user_id": scope.name}, repeatable=True)
        self.wire.send(request, lambda reply: reply.status)

    def _add(self, scope: Scope, document: Document) -> Receipt:
        messages = _messages(document)
        if not messages:
            return _receipt(document, [])
        metadata = {"session_id": document.id, "created_at": iso(document.date) if document.date else None}
        body = {"messages": messages, "user_id": scope.name, "metadata": metadata, "infer": False}

        def read(reply: Reply) -> Receipt:
            made = _results(reply)
            if len(made) != len(messages):
                raise Unreadable(f"{len(made)} memories of {len(messages)} messages")
            return _receipt(document, [name(one.get("id")) for one in made])

        return self.wire.send(Request("POST", "/memories", "ingest", body=body), read)

    def _remove(self, scope: Scope, memory: str) -> None:
        path, params = f"/memories/{quote(memory, safe='')}", {"user_id": scope.name}
        self.wire.send(Request("DELETE", path, "clear", params=params, repeatable=True), lambda reply: reply.status)


def create(ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Mem0:
    """The adapter with these settings."""
    return Mem0(RetrievalSettings.model_validate(retrieval.model_dump() if retrieval else {}), wire)


def open_wire(ingest: BaseModel, access: Access) -> Wire:
    """Calls of the library, loaded with the first; raises ``BadInput`` where there is none, or for an address."""
    if find_spec("mem0") is None:
        raise BadInput("mem0_oss", "mem0's library is not installed", INSTALL)
    if "://" in access.base_url:
        raise BadInput("service.base_url", "mem0_oss runs in this process", f"leave it out, or set {FOLDER_VARIABLE}")
    from providers.mem0_oss.wire import LibraryWire

    return LibraryWire(_folder(access), access.manners.concurrency)


def _folder(access: Access) -> Path:
    """Where ``EVAL_ASSETS_MEM0_DIR`` says, else the folder that is given in place of an address."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return Path(given).absolute()
    return Path(access.base_url).absolute()


def _messages(document: Document) -> list[dict[str, str]]:
    """What becomes a memory each. The library drops messages of the system, so they are sent as the user's."""
    return [
        {"role": "assistant" if message.role == "assistant" else "user", "content": message.content}
        for message in document.messages
        if message.content.strip()
    ]


def _receipt(document: Document, ids: Sequence[str]) -> Receipt:
    if not ids:
        return Receipt(document.id, "skipped", error="it holds no text")
    return Receipt(document.id, "done", tuple(ids))


def _results(reply: Reply) -> Sequence[Mapping[str, Any]]:
    return rows(mapping(reply.body).get("results"), "results")


def _hit(memory: Mapping[str, Any]) -> Hit:
    score = number(memory.get("score"))
    return Hit(
        provider_id=name(memory.get("id")),
        content=content(memory.get("memory")),
        documents=_named(memory),
        sources=some_name(memory.get("id")),
        # A folder that is opened again gives the same vectors but for their last bits.
        score=None if score is None else round(score, _DECIMALS),
        date=date_of(memory.get("created_at")),
    )


def _named(memory: Mapping[str, Any]) -> tuple[str, ...]:
    metadata = memory.get("metadata")
    return some_name(metadata.get("session_id")) if isinstance(metadata, Mapping) else ()
