"""A provider that records all it is given, finds each container's first document, and fails as it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import dataframely as dy
import polars as pl
from pydantic import BaseModel, ConfigDict

from converters.schema import Table
from providers.protocol import REPLIES, Progress, StoreBuild, quiet
from providers.registry import ProviderEntry


@dataclass
class Script:
    """What goes wrong (searches that fail row by row, no replies, the whole call, documents lost), and what came in."""

    failing_rows: int = 0
    silent: bool = False
    loses: int = 0
    broken: Exception | None = None
    received: list[Any] = field(default_factory=list)
    searches: int = 0
    builds: int = 0


SCRIPT = Script()


class IngestSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RetrievalSettings(IngestSettings):
    depth: int = 1


class Notes(dy.Schema):
    container = dy.String(primary_key=True)
    document_id = dy.String(primary_key=True)
    session_key = dy.String()
    position = dy.UInt32()


NOTES = Table("notes", Notes)
STORE_TABLES = {"notes": NOTES}


class ScriptedSystem:
    def build(self, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
        SCRIPT.builds += 1
        SCRIPT.received += [documents, turns]
        notes = documents.select(Notes.column_names())
        return StoreBuild({"notes": notes}, sent=documents.height, stored=documents.height - SCRIPT.loses)

    def search(self, *, store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int) -> pl.DataFrame:
        SCRIPT.searches += 1
        SCRIPT.received += [*store.values(), queries, limit]
        if SCRIPT.broken:
            raise SCRIPT.broken
        failing = SCRIPT.failing_rows > 0
        SCRIPT.failing_rows -= failing
        first = store["notes"].filter(pl.col("position") == 0)
        found = dict(first.select("container", "session_key").iter_rows())
        asked = [] if SCRIPT.silent else queries.iter_rows(named=True)
        rows = [_reply(query["query"], found[query["container"]], failing) for query in asked]
        return pl.DataFrame(rows, schema=REPLIES.empty.schema)


def _reply(query: int, session_key: str, failing: bool) -> dict[str, Any]:
    hit = {"rank": 1, "provider_id": "1", "session_keys": [session_key], "content": "text", "turns": None}
    return {
        "query": query,
        "status": "error" if failing else "ok",
        "error": "not now" if failing else None,
        "retryable": failing,
        "latency_ms": 1.0,
        "hits": [] if failing else [{**hit, "score": 1.0, "date": None}],
    }


def create(_: BaseModel, __: BaseModel | None) -> ScriptedSystem:
    return ScriptedSystem()


ENTRY = ProviderEntry(name="scripted", settings="scripted", system="scripted", ingest_code=(), retrieval_code=())
SETTINGS: dict[str, Any] = {
    "stores": {"notes": {"provider": "scripted"}},
    "systems": {"first": {"store": "notes"}},
    "targets": [{"systems": ["first"], "benchmarks": ["tiny"]}],
}
