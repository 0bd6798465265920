"""The adapter of Supermemory, over either of its interfaces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from providers.remote.errors import Absent, Refused, Unavailable, Unreachable, Unreadable
from providers.remote.service import Description, Document, Hit, Receipt, Scope
from providers.remote.values import content, count, mapping, name, number, rows, some_name
from providers.remote.wire import Purpose, Reply, Wire
from providers.supermemory.dialect import Dialect, Item, own_id, session_of, why
from providers.supermemory.settings import RetrievalSettings

_BATCH: Final = 100
_BODY: Final = 2_000_000
_LONGEST: Final = 1_000_000
_INGEST_S: Final = 300.0
_FEW: Final = 5
_NOBODY: Final = "eval-assets-probe"
_NO_TEXT: Final = "it has no text"


@dataclass(frozen=True)
class Supermemory:
    """See ``providers.remote.service.RemoteService``."""

    dialect: Dialect
    dreaming: str
    retrieval: RetrievalSettings
    wire: Wire

    def describe(self) -> Description:
        """Ids of 100 characters hold the container's name of at most 64; texts of 1 MB; batches below 600.

        What got no answer is looked for in the list, which holds what was taken and is not indexed yet; what is not
        there is sent again. Should it arrive twice nevertheless, the same text under the same id changes nothing.
        """
        return Description(
            name="supermemory",
            api=self.dialect.api,
            container_length=64,
            max_hits=100,
            batch=_BATCH,
            longest=_LONGEST,
            measure="bytes",
            recovery="look",
            takes_as_of=False,
            indexing=True,
        )

    def probe(self) -> Mapping[str, str]:
        """List the documents of nobody; an address without this interface ends the step."""
        try:
            self._total(_NOBODY, "probe")
        except Refused as error:
            raise Unreachable(f"{error}; is the interface {self.dialect.api} of Supermemory at this address?") from None
        return {}

    def prepare(self, container: str) -> Mapping[str, str]:
        """A namespace or tag needs no making."""
        return {}

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Send, oldest first; what the service takes is pending, for it has said nothing of its memories.

        A request that is refused is sent document by document, so that one which is at fault harms no other.
        """
        blank = [Receipt(one.id, "skipped", error=_NO_TEXT) for one in documents if not one.text.strip()]
        told = [one for one in documents if one.text.strip()]
        return [*blank, *(receipt for some in self._requests(scope, told) for receipt in self._send(scope, some))]

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """Done is what is done on both clocks: its text is indexed, and its memories are made."""
        few = len(pending) <= _FEW and self.dialect.by_our_id
        held = {} if few else self._held(scope, [one.document for one in pending])
        return [self._settled(scope, one, held.get(one.document)) for one in pending]

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Those that the list holds, indexed or not."""
        held = self._held(scope, [one.id for one in documents])
        return [_receipt(document, item) for document, item in held.items()]

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """Hits are memories and chunks, in array order. Their dates are those of the upload, and are left off."""
        request = self.dialect.searching(scope.name, query, limit, self.retrieval)

        def read(reply: Reply) -> Sequence[Hit]:
            return [self._hit(one) for one in rows(mapping(reply.body).get("results"), "results")[:limit]]

        return self.wire.send(request, read)

    def count(self, scope: Scope) -> int:
        """Documents."""
        return self._total(scope.name, "count")

    def clear(self, scope: Scope) -> None:
        """Delete the container, and see that it is empty."""
        with suppress(Absent):
            self.wire.send(self.dialect.emptying(scope.name), lambda reply: self.dialect.emptied(mapping(reply.body)))

        def gone(reply: Reply) -> None:
            left = _total(reply)
            if left:
                raise Unavailable(f"supermemory: {left} documents are still there after their deletion")

        self.wire.send(self.dialect.listing(scope.name, 1, 1, "clear"), gone)

    def _requests(self, scope: Scope, documents: Sequence[Document]) -> Iterator[list[Document]]:
        """Documents in requests of bounded size."""
        held: list[Document] = []
        size = 0
        for document in documents:
            record = self.dialect.record(scope.name, document)
            length = len(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")) + 1
            if held and size + length > _BODY:
                yield held
                held, size = [], 0
            held.append(document)
            size += length
        if held:
            yield held

    def _send(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        records = [self.dialect.record(scope.name, one) for one in documents]
        request = self.dialect.batch(scope.name, records, self.dreaming)
        try:
            return self.wire.send(request, lambda reply: _taken(scope.name, documents, reply))
        except Refused as error:
            if len(documents) == 1:
                return [Receipt(documents[0].id, "failed", error=str(error))]
            return [receipt for one in documents for receipt in self._send(scope, [one])]

    def _held(self, scope: Scope, documents: Sequence[str]) -> dict[str, Item]:
        """Those of these documents that the list holds, by our id."""
        wanted = {own_id(scope.name, document): document for document in documents}
        ids = set(documents)
        found: dict[str, Item] = {}
        for item in self._items(scope):
            named = item.session if item.session in ids else None
            document = named or next((wanted[one] for one in item.names if one in wanted), None)
            if document is not None:
                found.setdefault(document, item)
            if len(found) == len(ids):
                break
        return found

    def _items(self, scope: Scope) -> Iterator[Item]:
        page = seen = 0
        while True:
            page += 1
            request = self.dialect.listing(scope.name, page, self.dialect.page, "status")
            items, total = self.wire.send(
                request, lambda reply: (self.dialect.listed(mapping(reply.body)), _total(reply))
            )
            yield from items
            seen += len(items)
            if not items or seen >= total:
                return

    def _settled(self, scope: Scope, pending: Receipt, item: Item | None) -> Receipt:
        if item is None or (item.status == "done" and item.dreaming is None):
            own = item.names if item else (*pending.provider_ids, own_id(scope.name, pending.document))
            item = self._asked(scope, own[0])
        if item is None:
            said = "the service does not hold it, as it removes what it cannot process"
            told = f"{said} ({pending.ticket})" if pending.ticket else said
            return Receipt(pending.document, "failed", pending.provider_ids, error=told)
        return _receipt(pending.document, item, pending.ticket)

    def _asked(self, scope: Scope, own: str) -> Item | None:
        """One document, asked for by itself; None if it is not there."""

        def read(reply: Reply) -> Item:
            item = self.dialect.item(mapping(reply.body))
            if item.status == "done" and item.dreaming is None:
                raise Unreadable("a document does not say whether its memories are made")
            return item

        try:
            return self.wire.send(self.dialect.one(scope.name, own), read)
        except Absent:
            return None

    def _total(self, container: str, purpose: Purpose) -> int:
        return self.wire.send(self.dialect.listing(container, 1, 1, purpose), _total)

    def _hit(self, hit: Mapping[str, Any]) -> Hit:
        origins = self.dialect.origins(hit)
        own = session_of(hit)
        named = [own] if own else [session for origin in origins if (session := session_of(origin))]
        text = hit["memory"] if hit.get("memory") is not None else hit.get("chunk")
        return Hit(
            provider_id=name(hit.get("id")),
            content=content(text),
            documents=tuple(dict.fromkeys(named)),
            sources=tuple(dict.fromkeys(source for origin in origins for source in some_name(origin.get("id")))),
            score=number(hit.get("similarity")),
        )


def _taken(container: str, documents: Sequence[Document], reply: Reply) -> Sequence[Receipt]:
    """A reply of 2xx may hold failures. Results are in an order of their own and may bear ids of the service's."""
    ours = {own_id(container, one.id): one.id for one in documents}
    failed: dict[str, str] = {}
    nobodys: list[str] = []
    for result in rows(mapping(reply.body).get("results"), "results"):
        if result.get("status") not in ("error", "failed"):
            continue
        said = why(result) or "the service did not take it"
        document = ours.get(str(result.get("id")))
        if document is None:
            nobodys.append(said)
        else:
            failed[document] = said
    # What is not told of is looked for later; should it not be there, this is why.
    ticket = "; ".join(dict.fromkeys(nobodys))[:300] or None
    return [
        Receipt(one.id, "failed", error=failed[one.id])
        if one.id in failed
        else Receipt(one.id, "pending", ticket=ticket)
        for one in documents
    ]


def _receipt(document: str, item: Item, ticket: str | None = None) -> Receipt:
    status: Literal["done", "pending", "failed"] = "pending"
    if item.status == "failed":
        status = "failed"
    elif item.status == "done" and item.dreaming == "done":
        status = "done"
    error = (item.error or "the service could not process it") if status == "failed" else None
    return Receipt(document, status, tuple(dict.fromkeys(item.names)), ticket if status == "pending" else None, error)


def _total(reply: Reply) -> int:
    pagination = mapping(mapping(reply.body).get("pagination"), "pagination")
    total = pagination.get("totalItems")
    # JSON of JavaScript: a count may come as 3.0.
    return count(int(total) if isinstance(total, float) and total.is_integer() else total, "pagination.totalItems")
