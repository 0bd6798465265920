"""Reading and writing the ledger. Every write is a transaction of its own: what was answered once stays answered."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, Executable, Table, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from eval_assets.ledger.engine import alone, is_sqlite, open_engine, shown
from eval_assets.ledger.tables import CALLS, CONTAINERS, DOCUMENTS
from providers.remote.service import Receipt

Mode = Literal["record", "replay", "refresh"]
CallStatus = Literal["usable", "degraded", "unreadable", "failed"]
ContainerState = Literal["open", "ready", "lost", "cleared"]
SENT: Final = "sent"

# Built once: building a statement takes longer than running it.
_LOOK: Final = (
    select(CALLS.c.reply, CALLS.c.latency_ms, CALLS.c.input_tokens, CALLS.c.output_tokens, CALLS.c.cost_usd)
    .where(CALLS.c.key == bindparam("wanted"), CALLS.c.status == "usable")
    .order_by(CALLS.c.at.desc(), CALLS.c.id.desc())
    .limit(1)
)
_LAST: Final = (
    select(func.coalesce(func.max(CALLS.c.attempt), 0) + 1)
    .where(CALLS.c.key == bindparam("numbered"))
    .scalar_subquery()
)
_KEEP: Final = insert(CALLS)
_LOOK_MANY: Final = (
    select(
        CALLS.c.key, CALLS.c.reply, CALLS.c.latency_ms, CALLS.c.input_tokens, CALLS.c.output_tokens, CALLS.c.cost_usd
    )
    .where(CALLS.c.key.in_(bindparam("wanted", expanding=True)), CALLS.c.status == "usable")
    .order_by(CALLS.c.at, CALLS.c.id)
)
_KEEP_NUMBERED: Final = insert(CALLS).values(attempt=_LAST)


@dataclass(frozen=True)
class Call:
    """One call as it is kept; see ``eval_assets.ledger.tables.CALLS``."""

    service: str
    purpose: str
    endpoint: str
    status: CallStatus
    key: str | None = None
    request: str | None = None
    reply: str | None = None
    error: str | None = None
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True)
class Kept:
    """A usable reply, how long the real call took, and what it cost."""

    reply: Any
    latency_ms: float
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


@dataclass(frozen=True)
class ContainerRow:
    """A container as the ledger knows it; see ``eval_assets.ledger.tables.CONTAINERS``."""

    service: str
    container: str
    store: str
    benchmark: str
    build: int
    state: ContainerState
    handle: Mapping[str, str]
    counted: int | None


@dataclass(frozen=True)
class DocumentRow:
    """A document as the ledger knows it: its receipt, or that no answer is known; times in seconds since the epoch."""

    state: str
    receipt: Receipt | None
    retryable: bool
    sent_at: float
    settled_at: float | None


def call_key(parts: Any) -> str:
    """The digest of all that determines an answer, given as a JSON value."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Ledger:
    """A ledger in a database. Safe to use from several threads; close it when done.

    Attributes:
        engine: the database.
    """

    def __init__(self, url: str) -> None:
        """Open or create; raises ``BadInput`` where that is impossible."""
        self.engine = open_engine(url)
        self._lock = threading.Lock()
        self._alone = is_sqlite(self.engine)
        self._insert = sqlite.insert if self._alone else postgresql.insert

    @property
    def place(self) -> str:
        """Its URL without secrets."""
        return shown(self.engine.url)

    def close(self) -> None:
        """Close its connections."""
        self.engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction; SQLite takes one writer at a time, and waiting in line here is cheaper than there."""
        if not self._alone:
            with self.engine.begin() as connection:
                yield connection
            return
        with self._lock, self.engine.begin() as connection:
            yield connection

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A transaction beside which nobody writes, in this process or another."""
        with self._lock, alone(self.engine) as connection:
            yield connection

    def upsert(self, table: Table) -> Executable:
        """Insert rows of all columns; those whose primary key is there are replaced."""
        rows = self._insert(table)
        names = [column.name for column in table.primary_key]
        rest = {column.name: rows.excluded[column.name] for column in table.c if column.name not in names}
        return rows.on_conflict_do_update(index_elements=names, set_=rest)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read with."""
        with self.engine.connect() as connection:
            yield connection

    def look(self, key: str) -> Kept | None:
        """The newest usable reply to this call, if there is one."""
        with self.reading() as connection:
            row = connection.execute(_LOOK, {"wanted": key}).first()
        return Kept(json.loads(row[0]), row[1] or 0.0, row[2], row[3], row[4]) if row else None

    def look_many(self, keys: Sequence[str]) -> dict[str, Kept]:
        """The newest usable reply to each of these calls that has one; a query, so a few hundred at a time."""
        with self.reading() as connection:
            rows = connection.execute(_LOOK_MANY, {"wanted": list(keys)})
            return {row[0]: Kept(json.loads(row[1]), row[2] or 0.0, row[3], row[4], row[5]) for row in rows}

    def holds(self, keys: Sequence[str]) -> set[str]:
        """Which of these calls have a usable reply."""
        found: set[str] = set()
        with self.reading() as connection:
            for start in range(0, len(keys), 500):
                some = keys[start : start + 500]
                wanted = select(CALLS.c.key).where(CALLS.c.key.in_(some), CALLS.c.status == "usable")
                found |= set(connection.execute(wanted).scalars())
        return found

    def keep(self, call: Call) -> None:
        """Add a call."""
        values = {**vars(call), "at": time.time()}
        if call.key is None:
            with self.writing() as connection:
                connection.execute(_KEEP, {**values, "attempt": 1})
            return
        with self.writing() as connection:
            if not self._alone:
                # Two writers of one key would give the same number.
                connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(call.key))))
            connection.execute(_KEEP_NUMBERED, {**values, "numbered": call.key})

    def keep_many(self, calls: Sequence[Call]) -> None:
        """Add calls that have keys, all or none of them."""
        now = time.time()
        with self.writing() as connection:
            if not self._alone:
                # As in ``keep``; in one order, so that two writers never wait for each other.
                for key in sorted({str(call.key) for call in calls}):
                    connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(key))))
            rows = [{**vars(call), "at": now, "numbered": call.key} for call in calls]
            connection.execute(_KEEP_NUMBERED, rows)

    def container(self, service: str, container: str) -> ContainerRow | None:
        """What is known of a container."""
        wanted = select(CONTAINERS).where(CONTAINERS.c.service == service, CONTAINERS.c.container == container)
        return next(iter(self._containers(wanted)), None)

    def containers(self, **where: str) -> list[ContainerRow]:
        """All containers with these values (service, store, benchmark, state), by name."""
        wanted = select(CONTAINERS).order_by(CONTAINERS.c.service, CONTAINERS.c.container)
        for name, value in where.items():
            wanted = wanted.where(CONTAINERS.c[name] == value)
        return self._containers(wanted)

    def open_container(self, row: ContainerRow) -> None:
        """Begin to fill it: what is known of its documents is forgotten."""
        values = {**vars(row), "handle": json.dumps(dict(row.handle)), "at": time.time()}
        key = (row.service, row.container)
        with self.writing() as connection:
            _forget(connection, *key)
            connection.execute(self.upsert(CONTAINERS), [values])

    def set_container(self, service: str, container: str, state: ContainerState, counted: int | None = None) -> None:
        """Change its state; a container that is lost or cleared has no documents any more."""
        values: dict[str, Any] = {"state": state, "at": time.time()} | (
            {"counted": counted} if state == "ready" else {}
        )
        here = (CONTAINERS.c.service == service) & (CONTAINERS.c.container == container)
        with self.writing() as connection:
            connection.execute(update(CONTAINERS).where(here).values(values))
            if state in ("lost", "cleared"):
                _forget(connection, service, container)

    def documents(self, service: str, container: str) -> dict[str, DocumentRow]:
        """What is known of a container's documents, by their id."""
        wanted = select(DOCUMENTS).where(DOCUMENTS.c.service == service, DOCUMENTS.c.container == container)
        with self.reading() as connection:
            return {row.document: _document(row) for row in connection.execute(wanted)}

    def sending(self, service: str, container: str, build: int, documents: Sequence[str]) -> None:
        """Documents are about to be sent."""
        common = {"service": service, "container": container, "build": build, "state": SENT, "provider_ids": "[]"}
        fresh = {"ticket": None, "error": None, "retryable": 1, "sent_at": time.time(), "settled_at": None}
        rows = [{**common, **fresh, "document": document} for document in documents]
        with self.writing() as connection:
            connection.execute(self.upsert(DOCUMENTS), rows)

    def not_sent(self, service: str, container: str, documents: Sequence[str]) -> None:
        """They were not taken after all."""
        with self.writing() as connection:
            for document in documents:
                connection.execute(delete(DOCUMENTS).where(*_at(service, container, document)))

    def receive(self, service: str, container: str, receipts: Sequence[Receipt], *, retryable: bool = False) -> None:
        """What became of documents."""
        now = time.time()
        with self.writing() as connection:
            for receipt in receipts:
                values = {
                    "state": receipt.status,
                    "provider_ids": json.dumps(list(receipt.provider_ids)),
                    "ticket": receipt.ticket,
                    "error": receipt.error,
                    "retryable": int(retryable or receipt.status == "pending"),
                    "settled_at": None if receipt.status == "pending" else now,
                }
                connection.execute(update(DOCUMENTS).where(*_at(service, container, receipt.document)).values(values))

    def _containers(self, wanted: Any) -> list[ContainerRow]:
        with self.reading() as connection:
            rows = connection.execute(wanted).mappings().all()
        return [
            ContainerRow(
                **{name: row[name] for name in ContainerRow.__annotations__ if name != "handle"},
                handle=json.loads(row["handle"]),
            )
            for row in rows
        ]


def _at(service: str, container: str, document: str) -> tuple[Any, Any, Any]:
    columns = DOCUMENTS.c
    return columns.service == service, columns.container == container, columns.document == document


def _forget(connection: Connection, service: str, container: str) -> None:
    here = (DOCUMENTS.c.service == service) & (DOCUMENTS.c.container == container)
    connection.execute(delete(DOCUMENTS).where(here))


def _document(row: Any) -> DocumentRow:
    receipt = None
    if row.state != SENT:
        receipt = Receipt(row.document, row.state, tuple(json.loads(row.provider_ids)), row.ticket, row.error)
    return DocumentRow(row.state, receipt, bool(row.retryable), row.sent_at, row.settled_at)
