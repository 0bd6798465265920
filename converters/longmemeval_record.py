"""One LongMemEval record, read from its text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import msgspec

from converters.array import Text
from converters.dates import parse_date, parse_dates

_NUL: Final = "\0"


class Turn(msgspec.Struct, gc=False):
    """A turn. Published files say has_answer (true or false) on every turn of an evidence session, and on no other."""

    role: Literal["user", "assistant"]
    content: str
    has_answer: bool | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_evidence(self) -> bool:
        """Whether the turn is marked as one that holds the answer."""
        return self.has_answer is True


class _Source(msgspec.Struct, gc=False):
    question_id: str
    question_type: str
    question: str
    answer: str | int
    question_date: str
    haystack_dates: list[str]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[Turn]]
    answer_session_ids: list[str]


FIELDS: Final = _Source.__struct_fields__
_DECODER: Final = msgspec.json.Decoder(_Source)


@dataclass(frozen=True)
class Record:
    """A question, its haystack as three parallel lists, and what scoring may know. Dates are UTC."""

    question_id: str
    question_type: str
    question: str
    answer: str | int
    question_date: datetime
    haystack_dates: list[datetime]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[Turn]]
    answer_session_ids: list[str]

    @property
    def is_abstention(self) -> bool:
        """Whether the haystack does not hold the answer: said in the id alone."""
        return "_abs" in self.question_id


def sound_record(text: Text) -> Record:
    """The record of a JSON text that is as it should be: decoded and checked in one pass.

    Raises:
        ValueError: something may be wrong with it, or the text is no JSON; ``parse_record`` says what.
    """
    try:
        source = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if _holds_nul(source):
        raise ValueError("holds a NUL character")
    return _record(source)


def _holds_nul(source: _Source) -> bool:
    """Whether a text does. Asked of the texts: their escapes take several times as long to look for."""
    outside = [source.question_id, source.question_type, source.question, str(source.answer)]
    return any(_NUL in text for text in (*outside, *source.haystack_session_ids)) or any(
        _NUL in turn.content for session in source.haystack_sessions for turn in session
    )


def parse_record(value: object) -> Record:
    """A record from an element of the source's array as a general parser leaves it.

    Raises:
        RecordProblem: what is wrong with it; see ``converters.longmemeval_problem.explain``.
    """
    # Loaded where something may be wrong: the models that explain it are most of a reader's start.
    from converters.longmemeval_problem import explain

    problem = explain(value)
    if problem is not None:
        raise problem
    return _record(msgspec.convert(value, _Source))


def _record(source: _Source) -> Record:
    ids = source.haystack_session_ids
    sound = (
        len(ids) == len(source.haystack_dates) == len(source.haystack_sessions)
        and not set(source.answer_session_ids).difference(ids)
        and source.question_id
        and source.question_type
        and source.question
    )
    if not sound:
        raise ValueError("not as it should be")
    return Record(
        question_id=source.question_id,
        question_type=source.question_type,
        question=source.question,
        answer=source.answer,
        question_date=parse_date(source.question_date),
        haystack_dates=parse_dates(source.haystack_dates),
        haystack_session_ids=ids,
        haystack_sessions=source.haystack_sessions,
        answer_session_ids=source.answer_session_ids,
    )
