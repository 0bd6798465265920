"""What a ledger holds, what its calls cost, and how long they took."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import polars as pl
from sqlalchemy import Connection, Select, func, select

from eval_assets.ledger.engine import size_bytes, snapshot
from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.tables import CALLS, CONTAINERS, DOCUMENTS

_CALL_STATES: Final = ("usable", "degraded", "unreadable", "failed")
_CONTAINER_STATES: Final = ("open", "ready", "lost", "cleared")
_DOCUMENT_STATES: Final = ("sent", "pending", "done", "skipped", "failed")


@dataclass
class CallStats:
    """Calls of one purpose at one service.

    Attributes:
        calls: how many, by status.
        latency_p50_ms: of usable calls, as they really took; what was replayed is in no ledger. None without any.
        latency_p95_ms: the same.
        input_tokens: of all calls that tell; None where none does.
        output_tokens: the same.
        cost_usd: the same.
    """

    service: str
    purpose: str
    calls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_CALL_STATES, 0))
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass
class StoreStats:
    """Containers and documents of one store and benchmark at one service, by state."""

    service: str
    store: str
    benchmark: str
    containers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_CONTAINER_STATES, 0))
    documents: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_DOCUMENT_STATES, 0))


@dataclass(frozen=True)
class Stats:
    """A whole ledger: where it is (without secrets), its size on disk, and what is in it, in order of names."""

    ledger: str
    size_bytes: int
    calls: list[CallStats]
    stores: list[StoreStats]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def ledger_stats(ledger: Ledger) -> Stats:
    """Count and add up what a ledger holds, as it is at one moment."""
    with snapshot(ledger.engine) as connection:
        calls, stores = _calls(connection), _stores(connection)
    return Stats(ledger.place, size_bytes(ledger.engine), calls, stores)


def stats_lines(stats: Stats) -> list[str]:
    """The same for a reader."""
    told = [f"{stats.ledger}: {stats.size_bytes / 1e6:.1f} MB"]
    told += [f"  {_call_line(one)}" for one in stats.calls]
    for one in stats.stores:
        told.append(
            f"  {one.service}  {one.store} [{one.benchmark}]  containers: {_counts(one.containers)}; "
            f"documents: {_counts(one.documents)}"
        )
    return told


def _calls(connection: Connection) -> list[CallStats]:
    columns = CALLS.c
    by = (columns.service, columns.purpose, columns.status)
    sums = (func.sum(columns.input_tokens), func.sum(columns.output_tokens), func.sum(columns.cost_usd))
    found: dict[tuple[str, str], CallStats] = {}
    wanted: Select[Any] = select(*by, func.count(), *sums).group_by(*by)
    for row in connection.execute(wanted):
        service, purpose, status, count, tokens_in, tokens_out, cost = row
        one = found.setdefault((service, purpose), CallStats(service, purpose))
        one.calls[status] = count
        one.input_tokens = _add(one.input_tokens, tokens_in)
        one.output_tokens = _add(one.output_tokens, tokens_out)
        if cost is not None:
            one.cost_usd = (one.cost_usd or 0.0) + cost
    for name, latencies in _latencies(connection).items():
        found[name].latency_p50_ms = latencies.quantile(0.5)
        found[name].latency_p95_ms = latencies.quantile(0.95)
    return [found[name] for name in sorted(found)]


def _latencies(connection: Connection) -> dict[tuple[str, str], pl.Series]:
    columns = CALLS.c
    wanted = select(columns.service, columns.purpose, columns.latency_ms).where(
        columns.status == "usable", columns.latency_ms.is_not(None)
    )
    found: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
    for service, purpose, latency in connection.execute(wanted.execution_options(yield_per=10_000)):
        found[service, purpose].append(latency)
    return {name: pl.Series(values, dtype=pl.Float64) for name, values in found.items()}


def _stores(connection: Connection) -> list[StoreStats]:
    found: dict[tuple[str, str, str], StoreStats] = {}

    def count(rows: Iterable[Any], which: str) -> None:
        for service, store, benchmark, state, number in rows:
            one = found.setdefault((service, store, benchmark), StoreStats(service, store, benchmark))
            getattr(one, which)[state] = number

    containers, documents = CONTAINERS.c, DOCUMENTS.c
    names = (containers.service, containers.store, containers.benchmark)
    here = (documents.service == containers.service) & (documents.container == containers.container)
    all_containers = select(*names, containers.state, func.count()).group_by(*names, containers.state)
    all_documents = (
        select(*names, documents.state, func.count())
        .select_from(CONTAINERS.join(DOCUMENTS, here))
        .group_by(*names, documents.state)
    )
    count(connection.execute(all_containers), "containers")
    count(connection.execute(all_documents), "documents")
    return [found[name] for name in sorted(found)]


def _add(known: int | None, more: Any) -> int | None:
    # PostgreSQL adds whole numbers up to a Decimal.
    return known if more is None else (known or 0) + int(more)


def _call_line(one: CallStats) -> str:
    told = [f"{one.service}  {one.purpose}  {sum(one.calls.values())} calls: {_counts(one.calls)}"]
    if one.latency_p50_ms is not None and one.latency_p95_ms is not None:
        told.append(f"p50 {one.latency_p50_ms:.0f} ms, p95 {one.latency_p95_ms:.0f} ms")
    if one.input_tokens is not None or one.output_tokens is not None:
        told.append(f"{one.input_tokens or 0} tokens in, {one.output_tokens or 0} out")
    if one.cost_usd is not None:
        told.append(f"{one.cost_usd:.4f} USD")
    return "; ".join(told)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"
