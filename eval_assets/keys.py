"""The keys of the assets, their stages in order, and which assets a system on a benchmark is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import dagster as dg

from converters.tables import CORPUS

STAGES: Final = (
    "source",
    "corpus",
    "store",
    "search",
    "scores",
    "answers",
    "judgments",
    "agreement",
    "relevance",
    "corrections",
    "report",
    "comparison",
    "leaderboard",
)

SOURCE: Final = dg.AssetKey("benchmark_source")
CORRECTIONS: Final = dg.AssetKey("corrections")
COMPARISON: Final = dg.AssetKey("comparison")
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


def results_source_key(system: str) -> dg.AssetKey:
    """The files that an imported system's results are read from."""
    return dg.AssetKey([system, _RESULTS_SOURCE])


def answers_key(system: str) -> dg.AssetKey:
    """A system's answers."""
    return dg.AssetKey([system, "answers"])


def judgments_key(system: str, judge: str | None = None) -> dg.AssetKey:
    """What a judge says of a system's answers; without a name, what an imported system's files say of them."""
    return dg.AssetKey([system, "judgments", *([judge] if judge else [])])


def corrected_scores_key(system: str) -> dg.AssetKey:
    """A system's retrieval scores against corrected labels."""
    return dg.AssetKey([system, "corrected_scores"])


def corrected_judgments_key(system: str, judge: str) -> dg.AssetKey:
    """What a judge says of a system's answers against corrected labels."""
    return dg.AssetKey([system, _CORRECTED_JUDGMENTS, judge])


def is_corrected_judgments(key: dg.AssetKey) -> bool:
    """Whether an asset is judgments against corrected labels; its last word is the judge."""
    return len(key.path) > 1 and key.path[1] == _CORRECTED_JUDGMENTS


def agreement_key(system: str) -> dg.AssetKey:
    """How far several judges of a system's answers agree."""
    return dg.AssetKey([system, "agreement"])


def relevance_key(system: str) -> dg.AssetKey:
    """Which hits of a system's search a judge takes for relevant."""
    return dg.AssetKey([system, "relevance"])


_RESULTS_SOURCE: Final = "results_source"
_CORRECTED_JUDGMENTS: Final = "corrected_judgments"
_SECOND: Final = {
    _RESULTS_SOURCE: "source",
    "search_results": "search",
    "retrieval_scores": "scores",
    "answers": "answers",
    "judgments": "judgments",
    "agreement": "agreement",
    "relevance": "relevance",
    "corrected_scores": "corrections",
    _CORRECTED_JUDGMENTS: "corrections",
    "report": "report",
}


def stage_of(key: dg.AssetKey) -> str:
    """The stage that an asset belongs to."""
    if key == SOURCE:
        return "source"
    if key in (CORRECTIONS, COMPARISON, LEADERBOARD):
        return key.path[0]
    if key.path[0] in ("corpus", "stores"):
        return {"corpus": "corpus", "stores": "store"}[key.path[0]]
    return _SECOND[key.path[1]]


def system_of(key: dg.AssetKey) -> str | None:
    """The system that an asset belongs to; None for what systems share."""
    return key.path[0] if len(key.path) > 1 and key.path[0] not in ("corpus", "stores") else None


def is_results_source(key: dg.AssetKey) -> bool:
    """Whether an asset is the files of an imported system."""
    return key.path[-1] == _RESULTS_SOURCE


def chain(
    system: str, store: str, *, reads: bool = False, judges: Sequence[str] = (), relevance: bool = False
) -> list[dg.AssetKey]:
    """All partitioned assets that a system's report on a benchmark is made of, upstream first."""
    return [
        *_CORPUS,
        store_key(store),
        search_key(system),
        scores_key(system),
        *([answers_key(system)] if reads else []),
        *(judgments_key(system, judge) for judge in judges),
        *([agreement_key(system)] if len(judges) > 1 else []),
        *([relevance_key(system)] if relevance else []),
        report_key(system),
    ]


def corrected(system: str, *, results: bool, judges: Sequence[str] = ()) -> list[dg.AssetKey]:
    """What comes on top where a benchmark's labels are corrected; upstream first, and all of it before the report."""
    scores = [corrected_scores_key(system)] if results else []
    return [CORRECTIONS, *scores, *(corrected_judgments_key(system, judge) for judge in judges)]


def imported_chain(system: str, *, results: bool, answers: bool) -> list[dg.AssetKey]:
    """The same for a system whose rankings, answers or both are read from files."""
    return [
        *_CORPUS,
        results_source_key(system),
        *([search_key(system), scores_key(system)] if results else []),
        *([answers_key(system), judgments_key(system)] if answers else []),
        report_key(system),
    ]


_CORPUS: Final = (SOURCE, *(corpus_key(table) for table in CORPUS))
