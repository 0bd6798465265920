"""A ledger as one Parquet file: what a machine without keys replays, and what two ledgers exchange."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

import polars as pl
from sqlalchemy import ColumnElement, Connection, Select, func, select
from sqlalchemy import Table as Stored

from converters.folder import writing
from converters.parquet import TableWriter
from converters.schema import Table, dy
from converters.whole import refuse_present
from eval_assets.ledger.engine import is_sqlite, snapshot
from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.tables import CALLS, CONTAINERS, DOCUMENTS

KINDS: Final[Mapping[str, Stored]] = {"container": CONTAINERS, "document": DOCUMENTS, "call": CALLS}
"""What the rows of a file are, in the order of the file."""

_ROWS: Final = 2_000
_BYTES: Final = 1 << 24
"""A row group is full at either; replies may be long."""
_RENAMED: Final = {"status": "state"}


class PortableRows(dy.Schema):
    """One row a container, document or call: containers and documents by name, calls by time.

    Columns are those of ``eval_assets.ledger.tables``, null where a row is of another kind. Times are seconds since the
    epoch, UTC.
    """

    row = dy.UInt64(primary_key=True, description="place in the file, from 0")
    kind = dy.String(description="container, document or call")
    service = dy.String(description="name of the service or model, and its interface's version")
    state = dy.String(description="of a container or a document; of a call, whether it can answer (usable)")
    container = dy.String(nullable=True)
    document = dy.String(nullable=True)
    store = dy.String(nullable=True)
    benchmark = dy.String(nullable=True)
    build = dy.UInt32(nullable=True)
    counted = dy.Int64(nullable=True)
    retryable = dy.Bool(nullable=True)
    sent_at = dy.Float64(nullable=True, allow_inf=False, allow_nan=False)
    settled_at = dy.Float64(nullable=True, allow_inf=False, allow_nan=False)
    at = dy.Float64(nullable=True, allow_inf=False, allow_nan=False, description="of containers and calls")
    purpose = dy.String(nullable=True)
    endpoint = dy.String(nullable=True)
    key = dy.String(nullable=True, description="digest of all that determines the answer")
    attempt = dy.UInt32(nullable=True)
    latency_ms = dy.Float64(nullable=True)
    input_tokens = dy.Int64(nullable=True)
    output_tokens = dy.Int64(nullable=True)
    cost_usd = dy.Float64(nullable=True)
    handle = dy.String(nullable=True, description="JSON")
    provider_ids = dy.String(nullable=True, description="JSON")
    ticket = dy.String(nullable=True)
    request = dy.String(nullable=True, description="JSON")
    reply = dy.String(nullable=True, description="JSON")
    error = dy.String(nullable=True)
    digest = dy.String(description="sha256 (hex) of the other columns but the first")

    @dy.rule()
    def known_kind(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.col("kind").is_in(list(KINDS))

    @dy.rule()
    def whole(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.all_horizontal(
            (pl.col("kind") != kind) | pl.col(name).is_not_null()
            for kind, table in KINDS.items()
            for name in required(table)
        )


PORTABLE: Final = Table("ledger", PortableRows, meaning=("row", "digest"))


def fields(table: Stored) -> dict[str, str]:
    """By the name of a column in the database, its name in the file."""
    return {column.name: _RENAMED.get(column.name, column.name) for column in table.c if column.name != "id"}


def required(table: Stored) -> list[str]:
    """Columns of the file that a row of this kind has."""
    return [name for column, name in fields(table).items() if not table.c[column].nullable]


def row_digest(row: Mapping[str, Any]) -> str:
    """Sha256 of what a row says, wherever it stands."""
    said = [value for name, value in row.items() if name not in ("row", "digest")]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def export_ledger(
    ledger: Ledger,
    out: Path,
    *,
    store: str | None = None,
    benchmark: str | None = None,
    force: bool = False,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> Counter[str]:
    """Write a ledger, as it is at one moment, to a file; equal ledgers give equal bytes.

    Args:
        ledger: what is written.
        out: the file.
        store: containers and documents of this store alone. Calls are found by what was asked, and all go with it.
        benchmark: the same of a benchmark.
        force: replace a file that is there.
        told: called with the rows written, and how many there are.

    Returns:
        How many rows of each kind there are.

    Raises:
        BadInput: something is at ``out``, or the place cannot be written to. Nothing is written then.
    """
    refuse_present([out], force=force)
    wanted = {"store": store, "benchmark": benchmark}
    limits = {name: value for name, value in wanted.items() if value is not None}
    counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    with writing(out), snapshot(ledger.engine) as connection, TableWriter(PORTABLE, out) as writer:
        queries = _queries(connection, limits)
        total = sum(
            connection.scalar(select(func.count()).select_from(query.order_by(None).subquery())) or 0
            for query in queries.values()
        )
        rows = chain.from_iterable(_rows(connection, kind, query) for kind, query in queries.items())
        for some in _groups(rows):
            counts.update(row["kind"] for row in some)
            writer.write(pl.DataFrame(some, schema=PORTABLE.empty.schema))
            told(writer.n_rows, total)
        writer.add_provenance({"made_by": "eval-assets ledger export", "limits": limits, "kinds": dict(counts)})
    return counts


def _queries(connection: Connection, limits: Mapping[str, str]) -> dict[str, Select[Any]]:
    def binary(column: ColumnElement[str]) -> ColumnElement[str]:
        # PostgreSQL orders texts by the database's locale.
        return column if is_sqlite(connection.engine) else column.collate("C")

    containers, documents, calls = CONTAINERS.c, DOCUMENTS.c, CALLS.c
    only = [containers[name] == value for name, value in limits.items()]
    here = (documents.service == containers.service) & (documents.container == containers.container)
    names = (documents.service, documents.container, documents.document)
    return {
        "container": select(CONTAINERS)
        .where(*only)
        .order_by(*(binary(name) for name in (containers.service, containers.container))),
        "document": select(DOCUMENTS).join(CONTAINERS, here).where(*only).order_by(*(binary(name) for name in names)),
        "call": select(CALLS).order_by(calls.at, calls.id),
    }


def _rows(connection: Connection, kind: str, query: Select[Any]) -> Iterator[dict[str, Any]]:
    names = fields(KINDS[kind])
    blank = dict.fromkeys(PORTABLE.schema.column_names())
    for found in connection.execution_options(yield_per=200).execute(query).mappings():
        row = {**blank, "kind": kind, **{name: found[column] for column, name in names.items()}}
        if row["retryable"] is not None:
            row["retryable"] = bool(row["retryable"])
        yield row


def _groups(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for number, row in enumerate(rows):
        row["digest"] = row_digest(row)
        row["row"] = number
        group.append(row)
        size += len(row["request"] or "") + len(row["reply"] or "")
        if len(group) >= _ROWS or size >= _BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
