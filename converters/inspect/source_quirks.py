"""What is odd about a LongMemEval file as a whole: ids and texts that records share, and the order of its questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from converters.inspect.tally import Tally
from converters.longmemeval_record import Record

# Questions in any order change their type at most places.
_BLOCK_QUESTIONS: Final = 4
_BLOCKS_SHOWN: Final = 12


@dataclass(frozen=True)
class SourceQuirk:
    """A quirk that takes several records to see."""

    name: str
    unit: str
    description: str


_SHARED_ID: Final = SourceQuirk(
    "shared_id_other_date", "ids", "questions share the id and give it different dates: ids are local to a question"
)
_TEXT: Final = SourceQuirk(
    "same_text_other_id", "texts", "one text under different ids: without care, questions share their evidence"
)
_BLOCKS: Final = SourceQuirk(
    "grouped_by_type", "blocks", "questions stand in blocks of one type: the first N are no sample"
)
SOURCE_QUIRKS: Final = (_SHARED_ID, _TEXT, _BLOCKS)


@dataclass(slots=True)
class _Id:
    question: str
    date: datetime
    shared: bool = False
    redated: bool = False


class AcrossRecords:
    """Follows ids, texts and types through a file."""

    def __init__(self) -> None:
        self._ids: dict[str, _Id] = {}
        self._id_of_text: dict[str, str] = {}
        self._renamed: dict[str, str] = {}
        self._blocks: list[tuple[str, int]] = []
        self._n_questions = 0

    @property
    def n_ids(self) -> int:
        """Distinct session ids."""
        return len(self._ids)

    @property
    def blocks_in_words(self) -> str:
        """Runs of questions of one type, the first of them if they are many."""
        shown = ", ".join(f"{kind} {n}" for kind, n in self._blocks[:_BLOCKS_SHOWN])
        more = len(self._blocks) - _BLOCKS_SHOWN
        return f"{shown}, and {more} more blocks" if more > 0 else shown

    def add_question(self, record: Record) -> None:
        """Follow a question's type."""
        self._n_questions += 1
        kind, n = self._blocks[-1] if self._blocks else ("", 0)
        if n and kind == record.question_type:
            self._blocks[-1] = (kind, n + 1)
        else:
            self._blocks.append((record.question_type, 1))

    def add_session(self, record: Record, position: int, digest: str) -> None:
        """Follow a session's id and text."""
        name, date = record.haystack_session_ids[position], record.haystack_dates[position]
        known = self._ids.setdefault(name, _Id(record.question_id, date))
        known.shared |= known.question != record.question_id
        known.redated |= known.date != date
        first = self._id_of_text.setdefault(digest, name)
        if first != name:
            self._renamed.setdefault(digest, f"{first} and {name}")

    def tell(self, tally: Tally) -> None:
        """Count what was seen."""
        for name, known in self._ids.items():
            tally.add(_SHARED_ID.name, known.shared and known.redated, name)
        for names in self._renamed.values():
            tally.add(_TEXT.name, 1, names)
        if len(self._blocks) * _BLOCK_QUESTIONS <= self._n_questions and self._blocks:
            tally.add(_BLOCKS.name, len(self._blocks), f"{self._blocks[0][0]} {self._blocks[0][1]}")
