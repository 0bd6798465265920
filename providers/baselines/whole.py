"""``provider: full``: the whole haystack, in the order of its dates. What a reader reads of it, its budget says."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from pydantic import BaseModel

from providers.baselines.whole_texts import KEPT, STORE_TABLES, build, by_container, reply
from providers.protocol import REPLIES, Progress, StoreBuild, quiet

__all__ = ["STORE_TABLES", "Whole", "create"]


class Whole:
    """See ``providers.protocol.MemorySystem``."""

    def build(self, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
        """See ``providers.baselines.whole_texts.build``."""
        return build(documents=documents, turns=turns, progress=progress)

    def search(self, *, store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int) -> pl.DataFrame:
        """All documents of each query's container, oldest first; no query is read. More than ``limit`` fail."""
        here, texts = by_container(store["kept"]), store["whole_texts"]
        rows = [
            reply(query, here.get(container, KEPT.empty), texts, limit, "the haystack's documents")
            for query, container in queries.select("query", "container").iter_rows()
        ]
        return REPLIES.validate(pl.DataFrame(rows, schema=REPLIES.empty.schema))


def create(_: BaseModel, __: BaseModel | None) -> Whole:
    """The system; it has no settings."""
    return Whole()
