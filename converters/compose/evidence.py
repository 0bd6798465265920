"""What filler must not say: the evidence of any question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from converters.identity import content_hash
from converters.longmemeval_record import Record, Turn

# From this length on an evidence text is looked for inside of turns; a shorter one is said by chance, and only a turn
# that says nothing else counts.
CONTAINED_CHARACTERS: Final = 40
_BATCH: Final = 20_000


def normal(text: str) -> str:
    """A text with each run of white space as one blank, and none around it."""
    return " ".join(text.split())


def session_hash(session: Sequence[Turn]) -> str:
    """See ``converters.identity.content_hash``."""
    return content_hash([(turn.role, turn.content) for turn in session])


def evidence_positions(record: Record) -> list[int]:
    """Where in the haystack the evidence sessions are: each occurrence of an id of answer_session_ids."""
    wanted = set(record.answer_session_ids)
    return [position for position, name in enumerate(record.haystack_session_ids) if name in wanted]


class Evidence:
    """The evidence of all questions that were added: whole sessions, and the texts of turns marked has_answer.

    Attributes:
        hashes: ``session_hash`` of each evidence session.
        texts: the marked turns, normalised.
    """

    def __init__(self) -> None:
        self.hashes: set[str] = set()
        self.texts: set[str] = set()

    def add(self, record: Record) -> None:
        """Add a question's evidence."""
        self.hashes.update(session_hash(record.haystack_sessions[position]) for position in evidence_positions(record))
        marked = (turn.content for session in record.haystack_sessions for turn in session if turn.has_answer is True)
        self.texts.update(filter(None, map(normal, marked)))

    def told_by(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text tells evidence: is a marked turn, or holds a marked turn of 40 characters or more.

        White space is taken as ``normal`` leaves it.
        """
        long = sorted(text for text in self.texts if len(text) >= CONTAINED_CHARACTERS)
        # All beginnings are looked for in one pass; what begins like evidence is looked at in full.
        beginnings = sorted({text[:CONTAINED_CHARACTERS] for text in long})
        told: list[bool] = []
        for start in range(0, len(texts), _BATCH):
            held = list(map(normal, texts[start : start + _BATCH]))
            likely = (
                pl.Series(held, dtype=pl.String).str.contains_any(beginnings) if beginnings else [False] * len(held)
            )
            told += [
                text in self.texts or (perhaps and any(one in text for one in long))
                for text, perhaps in zip(held, likely, strict=True)
            ]
        return told
