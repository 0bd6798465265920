"""Small benchmarks for the tests of scoring: a board is a set of questions, each with its own haystack and search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import polars as pl

from converters.tables import CORPUS, SEARCH_RESULTS
from judges.retrieval import score

WHEN = datetime(2024, 5, 20, 2, 21, tzinfo=UTC)


@dataclass
class Ask:
    """One question: its haystack, its evidence and what its search returned. Sessions are named by their text.

    A hit is a session, several, or one with turns; a session that the haystack lacks is an unmapped hit.
    """

    hits: Sequence[str | tuple[str, ...] | tuple[str, list[int]]]
    evidence: Sequence[str]
    haystack: Sequence[str] = tuple(f"s{n}" for n in range(60))
    status: str = ""
    limit: int = 1000
    own_k: int | None = None
    abstention: bool = False
    type: str = "multi-session"
    text: str = "What did I say?"
    turns: Sequence[tuple[str, int]] = field(default=())

    def hit(self, number: int) -> dict[str, object]:
        what = self.hits[number]
        turns = what[1] if isinstance(what, tuple) and len(what) == 2 and isinstance(what[1], list) else None
        names = (what,) if isinstance(what, str) else what[:1] if turns is not None else what
        return {
            "rank": number + 1,
            "provider_id": f"m{number}",
            "session_keys": [f"key-{name}" for name in names],
            "turns": turns,
            "content": "text",
            "score": 1.0,
            "date": None,
        }


@dataclass(frozen=True)
class Board:
    """The frames that scoring takes."""

    results: pl.DataFrame
    questions: pl.DataFrame
    haystacks: pl.DataFrame
    ground_truth: pl.DataFrame
    query_options: pl.DataFrame

    def score(self, **options: object) -> pl.DataFrame:
        return score(**{**vars(self), **options})


def board(asks: Iterable[Ask]) -> Board:
    """The tables of these questions, named q0, q1, and so on."""
    rows: dict[str, list[dict[str, object]]] = {
        name: [] for name in ("results", "questions", "haystacks", "ground_truth", "query_options")
    }
    for number, ask in enumerate(asks):
        name = {"question_id": f"q{number}"}
        rows["results"].append(
            {
                **name,
                "status": ask.status or ("ok" if ask.hits else "empty"),
                "error": None,
                "retryable": False,
                "limit": ask.limit,
                "latency_ms": 1.5,
                "hits": [ask.hit(place) for place in range(len(ask.hits))],
            }
        )
        rows["questions"].append(
            {
                **name,
                "ordinal": number,
                "haystack_id": f"h{number}",
                "question": ask.text,
                "question_date": WHEN,
                "as_of": WHEN,
            }
        )
        rows["haystacks"].extend(
            {
                "haystack_id": f"h{number}",
                "position": position,
                "session_key": f"key-{session}",
                # "s1@2" is the text of s1 on another day.
                "content_hash": session.split("@")[0],
                "session_date": WHEN,
            }
            for position, session in enumerate(ask.haystack)
        )
        rows["ground_truth"].append(
            {
                "overlay": "base",
                **name,
                "question_type": ask.type,
                "is_abstention": ask.abstention,
                "answer": "42",
                "answer_type": "str",
                "source_session_ids": list(ask.haystack),
                "answer_session_ids": list(ask.evidence),
                "evidence_hashes": list(ask.evidence),
                "evidence_turns": [{"content_hash": text, "turn_index": turn} for text, turn in ask.turns],
                "turn_labels": [],
            }
        )
        rows["query_options"].append({**name, "k": ask.own_k, "client_id": None})
    schemas = {"results": SEARCH_RESULTS, **CORPUS}
    return Board(**{kind: pl.DataFrame(found, schema=schemas[kind].empty.schema) for kind, found in rows.items()})


def scored(*asks: Ask, **options: object) -> pl.DataFrame:
    """``RetrievalScores`` of these questions."""
    return board(asks).score(**options)


def values(scores: pl.DataFrame, level: str = "session") -> list[dict[str, float | None]]:
    """For each question, value by ``metric@k``."""
    return [
        {f"{s['metric']}@{s['k']}": s["value"] for s in row if s["level"] == level}
        for row in scores["scores"].to_list()
    ]
