"""The interface with namespaces (``/ns/...``), that of the client library 5.0.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from providers.remote.errors import Unreadable, one_line
from providers.remote.service import Document
from providers.remote.values import iso, mapping, name, rows
from providers.remote.wire import Purpose, Request
from providers.supermemory.dialect import KEY, Item, own_id, session_of, why, word
from providers.supermemory.settings import RetrievalSettings


class V5:
    """See ``providers.supermemory.dialect.Dialect``. An unknown namespace is an empty one."""

    api: ClassVar[str] = "v5"
    page: ClassVar[int] = 100
    by_our_id: ClassVar[bool] = True

    def record(self, container: str, document: Document) -> dict[str, Any]:
        """``date`` is what relative dates in the text are resolved against."""
        sent = {"content": document.text, "id": own_id(container, document.id), "metadata": {KEY: document.id}}
        return {**sent, **({"date": iso(document.date)} if document.date else {})}

    def batch(self, container: str, records: Sequence[dict[str, Any]], dreaming: str) -> Request:
        """At most 600."""
        body = {"documents": list(records), "dreaming": dreaming}
        return Request("POST", _path(container, "/document/batch"), "ingest", body=body)

    def listing(self, container: str, page: int, limit: int, purpose: Purpose) -> Request:
        """Limits of 1 to 100, in the query string."""
        params: dict[str, str | int] = {"page": page, "limit": limit, "sort": "createdAt", "order": "asc"}
        path = _path(container, "/list/documents")
        return Request("POST", path, purpose, params=params, body={}, repeatable=True)

    def listed(self, body: Mapping[str, Any]) -> Sequence[Item]:
        """Both statuses are told."""
        return [self.item(one) for one in rows(body.get("documents"), "documents")]

    def one(self, container: str, name: str) -> Request:
        """By the id that we gave it."""
        return Request("GET", _path(container, f"/document/{quote(name, safe='')}"), "status", repeatable=True)

    def item(self, record: Mapping[str, Any]) -> Item:
        """Statuses are below ``system``."""
        system = mapping(record.get("system"), "system")
        dreaming = system.get("dreamingStatus")
        return Item(
            names=(name(record.get("id")),),
            session=session_of(record),
            status=word(system.get("status"), "system.status"),
            dreaming=dreaming if isinstance(dreaming, str) else None,
            error=why(record) or why(system),
        )

    def emptying(self, container: str) -> Request:
        """The namespace; nothing is moved anywhere."""
        return Request("DELETE", _path(container, ""), "clear", repeatable=True)

    def emptied(self, body: Mapping[str, Any]) -> None:
        """Deleting is synchronous."""
        if body.get("status") != "deleted":
            raise Unreadable(f"the status of a deletion is {one_line(repr(body.get('status')), 80)}")

    def searching(self, container: str, query: str, limit: int, settings: RetrievalSettings) -> Request:
        """Options in the query string are refused."""
        body = {
            "query": query,
            "searchMode": settings.search_mode,
            "limit": limit,
            "threshold": settings.threshold,
            "include": {"documents": True},
            "rerank": "order" if settings.rerank else "none",
            "rewriteQuery": settings.rewrite_query,
        }
        return Request("POST", _path(container, "/search"), "search", body=body, repeatable=True)

    def origins(self, hit: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """One, even of a memory made of several."""
        included = hit.get("included")
        document = included.get("document") if isinstance(included, Mapping) else None
        return [document] if isinstance(document, Mapping) else []


def _path(container: str, rest: str) -> str:
    return f"/ns/{quote(container, safe='')}{rest}"
