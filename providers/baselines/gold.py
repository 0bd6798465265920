"""``provider: oracle``: exactly the evidence. Its search alone is told what to find: a bound for reader and judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import dataframely as dy
import polars as pl
from pydantic import BaseModel

from converters.schema import Table
from providers.baselines.whole_texts import KEPT, STORE_TABLES, build, by_container, reply
from providers.protocol import REPLIES, Progress, StoreBuild, quiet

__all__ = ["EVIDENCE", "STORE_TABLES", "Gold", "create"]


class Evidence(dy.Schema):
    """What there is to find: one row a query that has evidence."""

    query = dy.UInt32(primary_key=True, description="number of the query")
    evidence_hashes = dy.List(dy.String(), description="content_hash of each evidence session")


EVIDENCE: Final = Table("evidence", Evidence)


class Gold:
    """See ``providers.protocol.MemorySystem``."""

    def build(self, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
        """See ``providers.baselines.whole_texts.build``."""
        return build(documents=documents, turns=turns, progress=progress)

    def search(
        self,
        *,
        store: Mapping[str, pl.DataFrame],
        queries: pl.DataFrame,
        limit: int,
        evidence: pl.DataFrame = EVIDENCE.empty,
    ) -> pl.DataFrame:
        """The evidence of each query that is in its container, oldest first; status ``empty`` where there is none.

        Args:
            store: see ``STORE_TABLES``.
            queries: see ``providers.protocol.Queries``; only their numbers and containers are read.
            limit: more evidence than this is an error.
            evidence: see ``Evidence``; who is told nothing finds nothing.
        """
        here, texts = by_container(store["kept"]), store["whole_texts"]
        told = dict(EVIDENCE.validate(evidence).iter_rows())
        rows = []
        for query, container in queries.select("query", "container").iter_rows():
            found = here.get(container, KEPT.empty).filter(pl.col("content_hash").is_in(told.get(query, [])))
            rows.append(reply(query, found, texts, limit, "the evidence's documents"))
        return REPLIES.validate(pl.DataFrame(rows, schema=REPLIES.empty.schema))


def create(_: BaseModel, __: BaseModel | None) -> Gold:
    """The system; it has no settings."""
    return Gold()
