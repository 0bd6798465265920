"""Questions asked of a service, several at a time, each answered by the ledger if it was answered before."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NoReturn

import polars as pl

from eval_assets.ledger.ledger import ContainerRow
from eval_assets.ledger.wire import LedgerWire
from eval_assets.remote.errors import StoreLost
from eval_assets.remote.link import Link
from providers.protocol import REPLIES, Progress
from providers.remote.errors import CallFailed, Degraded, NotRecorded, Stop
from providers.remote.pace import threads
from providers.remote.service import Hit, Scope


@dataclass(frozen=True)
class _Piece:
    session_key: str
    first_turn: int
    last_turn: int


@dataclass
class Container:
    """What a container's receipts say.

    Attributes:
        build: how often it was filled.
        pieces: by our id.
        sources: by the service's ids, our ids.
        lacking: why it cannot be asked; None where it is as complete as it will be.
        retryable: whether that may change.
        refused: pieces that the service will not take, whatever is tried: answers are given without them, and are
            degraded.
    """

    build: int
    pieces: dict[str, _Piece] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)
    lacking: str | None = None
    retryable: bool = False
    refused: int = 0


def containers(receipts: pl.DataFrame, wanted: Sequence[str]) -> dict[str, Container]:
    """The containers that are asked, from ``providers.remote.idmap.Receipts``."""
    found: dict[str, Container] = {}
    for row in receipts.filter(pl.col("container").is_in(list(wanted))).iter_rows(named=True):
        one = found.setdefault(row["container"], Container(row["build"]))
        one.pieces[row["piece"]] = _Piece(row["session_key"], row["first_turn"], row["last_turn"])
        for source in row["provider_ids"]:
            one.sources.setdefault(source, []).append(row["piece"])
        if row["status"] == "failed" and not row["retryable"]:
            one.refused += 1
        elif row["status"] in ("failed", "pending"):
            one.lacking = f"its container is not complete: a document is {row['status']} ({row['error']})"
            one.retryable = True
    for one in found.values():
        if one.refused == len(one.pieces) and one.lacking is None:
            one.lacking = f"the service took none of the {one.refused} documents of its container"
    return found


@dataclass
class Asking:
    """One search step.

    Attributes:
        link: the system's, with its retrieval settings.
        known: the containers, by name.
        limit: hits asked for.
        progress: told of questions answered.
        made: calls made so far.
        replayed: calls answered by the ledger.
        unmapped: hits that name no session of ours.
    """

    link: Link
    known: Mapping[str, Container]
    limit: int
    progress: Progress
    made: int = 0
    replayed: int = 0
    unmapped: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._checked: dict[str, threading.Lock] = {name: threading.Lock() for name in self.known}
        self._fine: set[str] = set()
        rows = self.link.ledger.containers(service=self.link.name, store=self.link.store, benchmark=self.link.benchmark)
        self._handles = {row.container: row.handle for row in rows}
        self._probed = False
        self._stop = threading.Event()

    def ask(self, queries: pl.DataFrame) -> pl.DataFrame:
        """One row of ``providers.protocol.Replies`` a query, in order.

        Raises:
            Stop: the service cannot be reached, or answers nothing more; what was answered is in the ledger.
            StoreLost: it no longer holds what it was given.
        """
        asked = queries.sort("query").rows(named=True)
        done = 0
        rows: list[dict[str, Any]] = []
        with ThreadPoolExecutor(threads(self.link.concurrency)) as pool:
            try:
                for row in pool.map(self._one, asked):
                    rows.append(row)
                    done += 1
                    self.progress("questions", done, len(asked))
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return REPLIES.validate(_frame(rows))

    def _one(self, query: Mapping[str, Any]) -> dict[str, Any]:
        container = self.known.get(query["container"])
        if container is None:
            return _row(query, "error", "its container was never filled", retryable=True)
        if container.lacking:
            return _row(query, "error", container.lacking, retryable=container.retryable)
        context = {"revision": self.link.revision, "build": container.build}
        wire = self.link.ledgered(context, lambda: self._check(query["container"], container))
        try:
            hits = self._search(wire, query)
            status, error, again = ("ok" if hits else "empty"), None, False
            if container.refused:
                status = "degraded"
                error = f"the service took all but {container.refused} documents of its container"
        except Degraded as failure:
            hits, status, error, again = list(failure.value), "degraded", str(failure), True  # type: ignore[call-overload]
        except NotRecorded as failure:
            return _row(query, "not_run", str(failure), retryable=True)
        except CallFailed as failure:
            return _row(query, "error", str(failure), retryable=failure.retryable)
        finally:
            with self._lock:
                self.made += wire.made
                self.replayed += wire.replayed
        mapped = [self._hit(container, hit, rank) for rank, hit in enumerate(hits[: self.limit], start=1)]
        row = _row(query, status, error, retryable=again, latency_ms=wire.latency_ms)
        return {**row, "hits": mapped}

    def _search(self, wire: LedgerWire, query: Mapping[str, Any]) -> list[Hit]:
        scope = Scope(query["container"], self._handles.get(query["container"], {}))
        service = self.link.service(wire)
        limit = min(self.limit, service.describe().max_hits)
        return list(service.search(scope, query["text"], limit=limit, as_of=query["as_of"]))

    def _check(self, name: str, container: Container) -> None:
        """Before the first real search of a container: the service must hold what the ledger put there."""
        if self._stop.is_set():
            raise Stop("stopped")
        with self._lock:
            if not self._probed:
                self.link.probe()
                self._probed = True
        with self._checked[name]:
            if name in self._fine:
                return
            row = self.link.ledger.container(self.link.name, name)
            if row is None or row.state != "ready" or row.build != container.build:
                self._lose(name, container, "the ledger does not know how it was filled")
            held, wanted = self.link.service().count(Scope(name, row.handle)), row.counted or 0
            if held < wanted:
                self._lose(name, container, f"{self.link.name} holds {held} of {wanted} things")
            self._fine.add(name)

    def _lose(self, name: str, container: Container, why: str) -> NoReturn:
        link = self.link
        link.ledger.open_container(
            ContainerRow(link.name, name, link.store, link.benchmark, container.build, "lost", {}, counted=None)
        )
        raise StoreLost(f"store {link.store}: container {name}: {why}; the store must be built again")

    def _hit(self, container: Container, hit: Hit, rank: int) -> dict[str, Any]:
        named = [name for name in hit.documents if name in container.pieces]
        if not named:
            named = [name for source in hit.sources for name in container.sources.get(source, ())]
        found = [container.pieces[name] for name in dict.fromkeys(named)]
        if not found:
            with self._lock:
                self.unmapped += 1
        turns = None
        if hit.whole and len(found) == 1:
            turns = list(range(found[0].first_turn, found[0].last_turn + 1))
        return {
            "rank": rank,
            "provider_id": hit.provider_id,
            "session_keys": list(dict.fromkeys(one.session_key for one in found)),
            "turns": turns,
            "content": hit.content,
            "score": hit.score,
            "date": hit.date,
        }


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Of rows of ``Replies``. Columns first: polars takes long over structs in lists in rows."""
    replies = REPLIES.empty
    found = [{"query": row["query"], **hit} for row in rows for hit in row["hits"]]
    told = replies.select("query", pl.col("hits").explode()).unnest("hits")
    hits = _columns(found, told).group_by("query", maintain_order=True).agg(hits=pl.struct(pl.exclude("query")))
    return (
        _columns(rows, replies.drop("hits"))
        .join(hits, on="query", how="left", maintain_order="left")
        .with_columns(pl.col("hits").fill_null(pl.lit([], dtype=replies.schema["hits"])))
    )


def _columns(rows: Sequence[Mapping[str, Any]], like: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({name: [row[name] for row in rows] for name in like.columns}, schema=like.schema)


def _row(
    query: Mapping[str, Any], status: str, error: str | None, *, retryable: bool, latency_ms: float | None = None
) -> dict[str, Any]:
    return {
        "query": query["query"],
        "status": status,
        "error": error,
        "retryable": retryable,
        "latency_ms": latency_ms,
        "hits": [],
    }
