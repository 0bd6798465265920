"""What the ids of a result file name: sessions of a question's haystack, and perhaps turns of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import polars as pl

from converters.results.retrieval_log import source_id
from converters.tables import BASE_OVERLAY

# LongMemEval's ids of turns: the session's, and the number of the turn from 1.
_TURN: Final = re.compile(r"(.+)_([1-9][0-9]{0,8})", re.ASCII | re.DOTALL)


class Place(NamedTuple):
    """A session of a haystack."""

    session_key: str
    date: datetime | None
    n_turns: int


class Named(NamedTuple):
    """What an id names: every occurrence of a session in the haystack, and a turn's index where it says one."""

    places: tuple[Place, ...]
    turn: int | None = None


@dataclass(frozen=True)
class Haystack:
    """The sessions of a question's haystack, by session_key and by the source's id."""

    by_key: Mapping[str, tuple[Place, ...]]
    by_id: Mapping[str, tuple[Place, ...]]

    def key(self, name: str) -> Named | None:
        """A session_key."""
        return _named(self.by_key.get(name))

    def session(self, name: str) -> Named | None:
        """The source's id of a session, as it is or as LongMemEval's script rewrites it."""
        return _named(self.by_id.get(name) or self.by_id.get(source_id(name)))

    def turn(self, name: str) -> Named | None:
        """The source's id of a session and the number of one of its turns."""
        parts = _TURN.fullmatch(name)
        session = self.session(parts[1]) if parts else None
        if parts is None or session is None or int(parts[2]) > max(place.n_turns for place in session.places):
            return None
        return Named(session.places, int(parts[2]) - 1)


Reading = Callable[[Haystack, str], Named | None]
_READINGS: Final[tuple[Reading, ...]] = (Haystack.key, Haystack.session, Haystack.turn)


@dataclass(frozen=True)
class Sessions:
    """The haystacks of all questions, in the order of the source."""

    haystacks: Mapping[str, Haystack]

    @classmethod
    def of(cls, tables: Mapping[str, pl.DataFrame]) -> Sessions:
        """Take them from ``questions``, ``haystacks``, ``sessions`` and ``ground_truth``."""
        held: dict[str, dict[int, Place]] = {}
        rows = tables["haystacks"].join(
            tables["sessions"].select("content_hash", "n_turns"), on="content_hash", how="left"
        )
        columns = ("haystack_id", "position", "session_key", "session_date", "n_turns")
        for haystack_id, position, key, date, n_turns in rows.select(columns).iter_rows():
            held.setdefault(haystack_id, {})[position] = Place(key, date, n_turns or 0)
        truth = tables["ground_truth"].filter(pl.col("overlay") == BASE_OVERLAY)
        asked = (
            tables["questions"]
            .sort("ordinal")
            .join(
                truth.select("question_id", "source_session_ids"), on="question_id", how="left", maintain_order="left"
            )
            .select("question_id", "haystack_id", "source_session_ids")
        )
        return cls(
            {
                question: _haystack(held.get(haystack_id, {}), ids or [])
                for question, haystack_id, ids in asked.iter_rows()
            }
        )

    def reading(self, ids: Mapping[str, list[str]]) -> Reading:
        """How to read the ids of one file (by question): as what names something most often.

        An id may be a session_key, a source's id of a session, or one of a turn. One alone could be two things, a
        session called ``a_2`` beside turn 2 of a session ``a``; a file's ids are all of one kind.
        """
        return max(_READINGS, key=lambda reading: sum(self._names(reading, *each) for each in ids.items()))

    def _names(self, reading: Reading, question: str, names: list[str]) -> int:
        haystack = self.haystacks[question]
        return sum(reading(haystack, name) is not None for name in names)


def _haystack(places: Mapping[int, Place], ids: list[str]) -> Haystack:
    by_key: dict[str, dict[Place, None]] = {}
    by_id: dict[str, dict[Place, None]] = {}
    for position in sorted(places):
        place = places[position]
        by_key.setdefault(place.session_key, {})[place] = None
        if position < len(ids):
            by_id.setdefault(ids[position], {})[place] = None
    return Haystack(
        {name: tuple(found) for name, found in by_key.items()}, {name: tuple(found) for name, found in by_id.items()}
    )


def _named(places: tuple[Place, ...] | None) -> Named | None:
    return Named(places) if places else None
