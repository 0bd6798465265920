"""The interface with container tags (documents by ``/v3``, searches by ``/v4``), that of the client library 3.62.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import quote

from providers.remote.errors import Unreadable
from providers.remote.service import Document
from providers.remote.values import iso, name, rows, some_name
from providers.remote.wire import Purpose, Request
from providers.supermemory.dialect import KEY, Item, mappings, own_id, session_of, why, word
from providers.supermemory.settings import RetrievalSettings

_MODES: Final = {"hybrid": "hybrid", "memories": "memories", "chunks": "documents"}


class V4:
    """See ``providers.supermemory.dialect.Dialect``. The service gives each document an id beside our ``customId``."""

    api: ClassVar[str] = "v4"
    page: ClassVar[int] = 200
    by_our_id: ClassVar[bool] = False

    def record(self, container: str, document: Document) -> dict[str, Any]:
        """``documentDate`` is what relative dates in the text are resolved against."""
        sent = {"content": document.text, "customId": own_id(container, document.id), "metadata": {KEY: document.id}}
        return {**sent, **({"documentDate": iso(document.date)} if document.date else {})}

    def batch(self, container: str, records: Sequence[dict[str, Any]], dreaming: str) -> Request:
        """At most 600."""
        body = {"documents": list(records), "containerTag": container, "dreaming": dreaming}
        return Request("POST", "/v3/documents/batch", "ingest", body=body)

    def listing(self, container: str, page: int, limit: int, purpose: Purpose) -> Request:
        """Limits of 1 to 200, in the body."""
        body = {"containerTags": [container], "limit": limit, "page": page, "sort": "createdAt", "order": "asc"}
        return Request("POST", "/v3/documents/list", purpose, body=body, repeatable=True)

    def listed(self, body: Mapping[str, Any]) -> Sequence[Item]:
        """The documents are called ``memories``; how far their own memories are is not told."""
        return [self.item(one) for one in rows(body.get("memories"), "memories")]

    def one(self, container: str, name: str) -> Request:
        """By the service's id."""
        return Request("GET", f"/v3/documents/{quote(name, safe='')}", "status", repeatable=True)

    def item(self, record: Mapping[str, Any]) -> Item:
        """``dreamingStatus`` is in the reply about one document alone."""
        dreaming = record.get("dreamingStatus")
        return Item(
            names=(name(record.get("id")), *some_name(record.get("customId"))),
            session=session_of(record),
            status=word(record.get("status"), "status"),
            dreaming=dreaming if isinstance(dreaming, str) else None,
            error=why(record),
        )

    def emptying(self, container: str) -> Request:
        """A DELETE with a body."""
        return Request("DELETE", "/v3/documents/bulk", "clear", body={"containerTags": [container]}, repeatable=True)

    def emptied(self, body: Mapping[str, Any]) -> None:
        """``success`` is said."""
        if body.get("success") is not True:
            raise Unreadable("a deletion does not say that it succeeded")

    def searching(self, container: str, query: str, limit: int, settings: RetrievalSettings) -> Request:
        """One tag, in the singular: several are refused."""
        body = {
            "q": query,
            "containerTag": container,
            "limit": limit,
            "threshold": settings.threshold,
            "searchMode": _MODES[settings.search_mode],
            "rerank": settings.rerank,
            "rewriteQuery": settings.rewrite_query,
            "include": {"documents": True},
        }
        return Request("POST", "/v4/search", "search", body=body, repeatable=True)

    def origins(self, hit: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """All that a memory was made of."""
        return mappings(hit.get("documents"))
