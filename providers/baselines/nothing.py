"""``provider: none``: a memory that keeps nothing and finds nothing. What a reader answers then needs no memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl
from pydantic import BaseModel

from converters.schema import Table
from providers.protocol import REPLIES, Progress, StoreBuild, quiet

STORE_TABLES: Final[Mapping[str, Table]] = {}


class Nothing:
    """See ``providers.protocol.MemorySystem``."""

    def build(self, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
        """Keep nothing; all documents are left out, as ``forgotten``."""
        return StoreBuild({}, sent=documents.height, stored=0, left_out={"forgotten": documents.height})

    def search(self, *, store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int) -> pl.DataFrame:
        """Find nothing: each query's status is ``empty``, in no time."""
        return REPLIES.validate(
            queries.select(
                "query",
                status=pl.lit("empty"),
                error=pl.lit(None, pl.String),
                retryable=pl.lit(value=False),
                latency_ms=pl.lit(None, pl.Float64),
                hits=pl.lit([], REPLIES.empty.schema["hits"]),
            )
        )


def create(_: BaseModel, __: BaseModel | None) -> Nothing:
    """The system; it has no settings."""
    return Nothing()
