"""The store of baselines that return sessions whole: each container's documents, and each distinct text once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import dataframely as dy
import polars as pl

from converters.schema import Table
from providers.protocol import Progress, StoreBuild, quiet

_ROLE_OF_A_MEMORY: Final = "memory"


class Kept(dy.Schema):
    """One row a document of a container."""

    container = dy.String(primary_key=True, description="scope of the search")
    document_id = dy.String(primary_key=True, description="session_key, or container:caller id for a memory")
    position = dy.UInt32(description="place in the container, from 0")
    session_key = dy.String(description="its session")
    content_hash = dy.String(description="its text")
    date = dy.Datetime(time_unit="us", time_zone="UTC", nullable=True, description="when it took place")


class WholeTexts(dy.Schema):
    """One row a distinct text that is not blank."""

    content_hash = dy.String(primary_key=True, description="digest of the session's roles and texts")
    text = dy.String(description="a line `role: content` a turn; of a memory its content; blank turns left out")
    turns = dy.List(dy.UInt32(), description="indices of the turns in it")


KEPT: Final = Table("kept", Kept)
WHOLE_TEXTS: Final = Table("whole_texts", WholeTexts)
STORE_TABLES: Final[Mapping[str, Table]] = {table.name: table for table in (KEPT, WHOLE_TEXTS)}


def build(*, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
    """Keep every document whose session has text; see ``providers.protocol.MemorySystem.build``. Left out: ``blank``.

    Args:
        documents: see ``providers.protocol.Documents``.
        turns: their text, see ``converters.tables.Turns``.
        progress: not told anything: it is done at once.
    """
    bare = pl.col("role") == _ROLE_OF_A_MEMORY
    line = pl.when(bare).then("content").otherwise(pl.format("{}: {}", "role", "content"))
    texts = (
        turns.join(documents.select("content_hash").unique(), on="content_hash", how="semi")
        .filter(pl.col("content").str.strip_chars() != "")
        .sort("content_hash", "turn_index")
        .group_by("content_hash", maintain_order=True)
        .agg(text=line.str.join("\n"), turns=pl.col("turn_index"))
    )
    kept = documents.select(KEPT.schema.column_names()).join(texts, on="content_hash", how="semi")
    return StoreBuild(
        {"kept": KEPT.validate(kept.sort("container", "position")), "whole_texts": WHOLE_TEXTS.validate(texts)},
        sent=documents.height,
        stored=kept.height,
        left_out={"blank": documents.height - kept.height},
        notes={"texts": texts.height},
    )


def by_container(kept: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Each container's documents, oldest first, those without a date last; of one date in the container's order."""
    ordered = kept.sort("container", "date", "position", nulls_last=True)
    return {str(part["container"][0]): part for part in ordered.partition_by("container", maintain_order=True)}


def hits_of(documents: pl.DataFrame, texts: pl.DataFrame) -> list[dict[str, Any]]:
    """One hit a document, in the order given, without a score: see ``converters.tables.HIT``."""
    rows = documents.join(texts, on="content_hash", how="left", maintain_order="left")
    return [
        {
            "rank": rank,
            "provider_id": row["document_id"],
            "session_keys": [row["session_key"]],
            "turns": row["turns"],
            "content": row["text"],
            "score": None,
            "date": row["date"],
        }
        for rank, row in enumerate(rows.iter_rows(named=True), start=1)
    ]


def reply(query: int, found: pl.DataFrame, texts: pl.DataFrame, limit: int, what: str) -> dict[str, Any]:
    """A row of ``providers.protocol.Replies``: all that was found, or an error where that is more than ``limit``.

    Half of it would be taken for the whole.
    """
    known = {"query": query, "error": None, "retryable": False, "latency_ms": None}
    if found.height > limit:
        said = f"{what} are {found.height} and the system's limit is {limit}: raise it"
        return {**known, "status": "error", "error": said, "hits": []}
    return {**known, "status": "ok" if found.height else "empty", "hits": hits_of(found, texts)}
