"""The keys of the assets, their stages in order, and which assets a system on a benchmark is made of."""

from __future__ import annotations

from typing import Final

import dagster as dg

from converters.tables import CORPUS

STAGES: Final = ("source", "corpus", "store", "search", "scores", "report", "leaderboard")

SOURCE: Final = dg.AssetKey("benchmark_source")
LEADERBOARD: Final = dg.AssetKey("leaderboard")


def corpus_key(table: str) -> dg.AssetKey:
    """A table of the corpus."""
    return dg.AssetKey(["corpus", table])


def store_key(store: str) -> dg.AssetKey:
    """A store."""
    return dg.AssetKey(["stores", store])


def search_key(system: str) -> dg.AssetKey:
    """A system's search results."""
    return dg.AssetKey([system, "search_results"])


def scores_key(system: str) -> dg.AssetKey:
    """A system's retrieval scores."""
    return dg.AssetKey([system, "retrieval_scores"])


def report_key(system: str) -> dg.AssetKey:
    """A system's report."""
    return dg.AssetKey([system, "report"])


_LAST: Final = {"search_results": "search", "retrieval_scores": "scores", "report": "report"}


def stage_of(key: dg.AssetKey) -> str:
    """The stage that an asset belongs to."""
    if key == SOURCE:
        return "source"
    if key == LEADERBOARD:
        return "leaderboard"
    if key.path[0] in ("corpus", "stores"):
        return {"corpus": "corpus", "stores": "store"}[key.path[0]]
    return _LAST[key.path[-1]]


def chain(system: str, store: str) -> list[dg.AssetKey]:
    """All partitioned assets that a system's report on a benchmark is made of, upstream first."""
    return [
        SOURCE,
        *(corpus_key(table) for table in CORPUS),
        store_key(store),
        search_key(system),
        scores_key(system),
        report_key(system),
    ]
