"""Search results as rankings of distinct sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from converters.formats.rows import Groups
from converters.tables import SCORED_STATUSES


class Hit(NamedTuple):
    """A session and the content of the best hit that maps to it."""

    session_key: str
    content: str


@dataclass(frozen=True)
class Ranking:
    """A question's sessions, best first, each once.

    Attributes:
        question_id: which question.
        status: of its search; ``not_run`` where the results have no row.
        hits: its sessions; a hit that names several gives them in its order.
        haystack: the session_keys of its haystack by position.
        cut: whether the search may have found more than it was asked for.
    """

    question_id: str
    status: str
    hits: Sequence[Hit]
    haystack: Sequence[str]
    cut: bool

    @property
    def failed(self) -> bool:
        """Whether the search says nothing about the question."""
        return self.status not in SCORED_STATUSES


def rankings(tables: Mapping[str, pl.DataFrame], results: pl.DataFrame) -> Iterator[Ranking]:
    """One ranking a question, in the order of the source; sessions that its haystack does not hold are dropped.

    The hits of a failed search are not taken.

    Args:
        tables: ``questions`` and ``haystacks``.
        results: ``SearchResults``.
    """
    haystacks = Groups(tables["haystacks"].select("haystack_id", "position", "session_key"), "haystack_id", "position")
    asked = tables["questions"].sort("ordinal").select("question_id", "haystack_id")
    found = results.select("question_id", "status", "limit", "hits")
    rows = asked.join(found, on="question_id", how="left", maintain_order="left")
    for question_id, haystack_id, status, limit, hits in rows.iter_rows():
        haystack = haystacks[haystack_id]["session_key"].to_list()
        held = set(haystack)
        best: dict[str, str] = {}
        if status in SCORED_STATUSES:
            for hit in sorted(hits, key=lambda hit: hit["rank"]):
                for key in hit["session_keys"]:
                    if key in held:
                        best.setdefault(key, hit["content"])
        # A list that holds the whole haystack had nothing left to be cut.
        cut = status in SCORED_STATUSES and len(hits) >= limit and len(best) < len(held)
        yield Ranking(question_id, status or "not_run", [Hit(*item) for item in best.items()], haystack, cut)
