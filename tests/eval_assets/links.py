"""A store at a service without Dagster: documents made by hand, a ledger in a folder, real HTTP to a fake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
from fakes.server import Fake

from eval_assets.ledger.ledger import Ledger, Mode
from eval_assets.remote.link import Link
from eval_assets.remote.system import RemoteSystem
from providers.protocol import DOCUMENTS, QUERIES, StoreBuild
from providers.registry import PROVIDERS
from providers.remote.access import Access
from providers.remote.retry import Manners

MANNERS = Manners(concurrency=8, timeout_s=1.0, deadline_s=20.0, attempts=8, backoff_s=0.005)


@dataclass(frozen=True)
class Bench:
    """A corpus of containers, each with sessions of two turns; question ``i`` asks container ``i`` for its first."""

    documents: pl.DataFrame
    turns: pl.DataFrame
    queries: pl.DataFrame


def bench(containers: int, sessions: int, *, text: str = "") -> Bench:
    """``containers`` of ``sessions`` each; every text is another one."""
    documents, turns, queries = [], [], []
    first = datetime(2023, 5, 1, tzinfo=UTC)
    for c in range(containers):
        name = f"{c:032x}"
        for s in range(sessions):
            digest = f"{c:08x}{s:08x}".rjust(32, "0")
            documents.append(
                {
                    "container": name,
                    "document_id": digest,
                    "position": s,
                    "session_key": digest,
                    "content_hash": digest,
                    "date": first + timedelta(hours=s),
                }
            )
            for turn, role in enumerate(("user", "assistant")):
                says = f"word{c}x{s} {role} number {turn} {text}"
                turns.append({"content_hash": digest, "turn_index": turn, "role": role, "content": says})
        queries.append(
            {"query": c, "container": name, "text": f"where is word{c}x0", "as_of": first + timedelta(days=9)}
        )
    return Bench(
        pl.DataFrame(documents, schema=DOCUMENTS.empty.schema),
        pl.DataFrame(turns, schema_overrides={"turn_index": pl.UInt32}),
        QUERIES.validate(pl.DataFrame(queries, schema=QUERIES.empty.schema)),
    )


@contextmanager
def linked(
    fake: Fake,
    provider: str,
    folder: Path,
    *,
    ingest: Mapping[str, Any] | None = None,
    retrieval: Mapping[str, Any] | None = None,
    mode: Mode = "record",
    manners: Manners = MANNERS,
    clear: bool = False,
    index_deadline_s: float = 10.0,
    key: str | None = None,
) -> Iterator[RemoteSystem]:
    """A remote system whose ledger is in ``folder``."""
    entry = PROVIDERS[provider]
    settings = entry.ingest_settings(ingest or {})
    wire: Any = None
    if mode != "replay":
        wire = entry.open_wire(settings, Access(fake.url, fake.key if key is None else key, manners))
    ledger = Ledger(f"sqlite:///{folder / 'ledger.sqlite'}")
    link = Link(
        entry,
        settings,
        entry.retrieval_settings(retrieval or {}),
        wire,
        ledger,
        mode,
        "there",
        "made",
        concurrency=manners.concurrency,
        index_deadline_s=index_deadline_s,
        clear=clear,
    )
    try:
        yield RemoteSystem(link)
    finally:
        ledger.close()
        if wire is not None:
            wire.close()


def built(system: RemoteSystem, made: Bench) -> StoreBuild:
    """The store of a bench."""
    return system.build(documents=made.documents, turns=made.turns)


def searched(system: RemoteSystem, made: Bench, store: StoreBuild, limit: int = 5) -> pl.DataFrame:
    """All questions of a bench, answered."""
    return system.search(store=store.tables, queries=made.queries, limit=limit)


def right(made: Bench, replies: pl.DataFrame) -> int:
    """How many questions found first what they ask for."""
    firsts = made.documents.filter(pl.col("position") == 0)["session_key"].to_list()
    rows = replies.sort("query")["hits"].to_list()
    return sum(bool(hits) and hits[0]["session_keys"] == [key] for hits, key in zip(rows, firsts, strict=True))


def revised(system: RemoteSystem, **changes: Any) -> RemoteSystem:
    """The same with another link."""
    return RemoteSystem(replace(system.link, **changes))
