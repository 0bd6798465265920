"""Reading and writing the ledger. Every write is a transaction of its own: what was answered once stays answered."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, Engine, create_engine, delete, event, func, insert, make_url, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from converters.errors import BadInput
from eval_assets.ledger.tables import CALLS, CONTAINERS, DOCUMENTS, METADATA
from providers.remote.errors import one_line
from providers.remote.service import Receipt

Mode = Literal["record", "replay", "refresh"]
CallStatus = Literal["usable", "degraded", "unreadable", "failed"]
ContainerState = Literal["open", "ready", "lost", "cleared"]
SENT: Final = "sent"
_WAIT_S: Final = 60


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
    """A ledger in a database. Safe to use from several threads; close it when done."""

    def __init__(self, url: str) -> None:
        """Open or create; raises ``BadInput`` where that is impossible."""
        self._engine = _engine(url)
        self._lock = threading.Lock()
        self._alone = self._engine.dialect.name == "sqlite"
        self._insert = sqlite.insert if self._alone else postgresql.insert
        shown = self._engine.url.render_as_string(hide_password=True)
        try:
            METADATA.create_all(self._engine)
        except OperationalError as error:
            said = one_line(str(error.orig))
            raise BadInput(shown, f"the ledger cannot be opened: {said}", "look at EVAL_ASSETS_LEDGER") from None

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction; SQLite takes one writer at a time, and waiting in line here is cheaper than there."""
        if not self._alone:
            with self._engine.begin() as connection:
                yield connection
            return
        with self._lock, self._engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read with."""
        with self._engine.connect() as connection:
            yield connection

    def look(self, key: str) -> Kept | None:
        """The newest usable reply to this call, if there is one."""
        wanted = (
            select(CALLS.c.reply, CALLS.c.latency_ms, CALLS.c.input_tokens, CALLS.c.output_tokens, CALLS.c.cost_usd)
            .where(CALLS.c.key == key, CALLS.c.status == "usable")
            .order_by(CALLS.c.id.desc())
            .limit(1)
        )
        with self.reading() as connection:
            row = connection.execute(wanted).first()
        return Kept(json.loads(row[0]), row[1] or 0.0, row[2], row[3], row[4]) if row else None

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
        before = select(func.count() + 1).where(CALLS.c.key == call.key).scalar_subquery()
        attempt = before if call.key else 1
        with self.writing() as connection:
            connection.execute(insert(CALLS).values(**vars(call), attempt=attempt, at=time.time()))

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
            fresh = self._insert(CONTAINERS).values(values)
            connection.execute(fresh.on_conflict_do_update(index_elements=["service", "container"], set_=values))

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
        changed = self._insert(DOCUMENTS)
        upsert = changed.on_conflict_do_update(
            index_elements=["service", "container", "document"],
            set_={name: changed.excluded[name] for name in (*common, *fresh) if name not in ("service", "container")},
        )
        with self.writing() as connection:
            connection.execute(upsert, rows)

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


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "postgresql" and parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise ArgumentError(f"{parsed.get_backend_name()} is not supported")
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(parsed, pool_size=64, max_overflow=-1)
    except ModuleNotFoundError:
        raise BadInput(
            "EVAL_ASSETS_LEDGER", "psycopg is not installed", 'pip install "eval-assets[postgres]"'
        ) from None
    except (ArgumentError, SQLAlchemyError) as error:
        remedy = "give sqlite:///PATH or postgresql://USER@HOST/NAME"
        raise BadInput("EVAL_ASSETS_LEDGER", one_line(str(error)), remedy) from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    # A killed process loses nothing in this mode; only a power cut could take the last calls.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={_WAIT_S * 1000}"):
        connection.execute(f"PRAGMA {pragma}").close()


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
