"""One LoCoMo sample: a conversation of two people over many sessions, and the questions about it.

The form is that of ``data/locomo10.json`` in snap-research/locomo. Its numbers of categories do not follow the order of
the paper; the names here are those that its ``task_eval/evaluation.py`` gives them in its comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter
from pydantic_core import PydanticCustomError

from converters.checked import checked, shown
from converters.longmemeval_problem import AnyText, Text
from converters.record_problem import RecordProblem

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL: Final = 5
FIELDS: Final = ("sample_id", "conversation", "qa", "event_summary", "observation", "session_summary")

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# Not strptime: its %B and %p know the names of the reader's own locale only.
_DATE: Final = re.compile(r"([0-9]{1,2}):([0-9]{2}) ?([ap])m on ([0-9]{1,2}) ([a-z]+),? ([0-9]{4})", re.IGNORECASE)
_FORM: Final = "1:56 pm on 8 May, 2023"
_SESSION: Final = re.compile(r"session_([0-9]+)(_date_time)?")


def parse_date(text: str) -> datetime:
    """The moment that ``1:56 pm on 8 May, 2023`` names, in UTC.

    Raises:
        ValueError: the text has another form, or names a day or minute that does not exist.
    """
    match = _DATE.fullmatch(text.strip())
    if match is None or match[5].lower() not in _MONTHS:
        raise ValueError(f"not of the form {_FORM}")
    hour = int(match[1])
    if not 1 <= hour <= 12:
        raise ValueError("hour must be in 1..12")
    hour = hour % 12 + (12 if match[3] in "pP" else 0)
    return datetime(int(match[6]), _MONTHS.index(match[5].lower()) + 1, int(match[4]), hour, int(match[2]), tzinfo=UTC)


def _date(value: object) -> datetime:
    try:
        return parse_date(value if isinstance(value, str) else "")
    except ValueError as error:
        why = str(error) if isinstance(value, str) else "not a text"
        raise PydanticCustomError(
            "date",
            "is not a date: {value} ({why})",
            {"value": shown(value), "why": why, "remedy": f"write it as {_FORM}"},
        ) from None


def _category(value: object) -> int:
    if type(value) is int and value in CATEGORIES:
        return value
    raise PydanticCustomError(
        "category",
        "is no known category: {value}",
        {"value": shown(value), "remedy": f"use a whole number from 1 to {len(CATEGORIES)}"},
    )


def _answer(value: object) -> object:
    if value is None or type(value) in {str, int}:
        return value
    raise PydanticCustomError(
        "answer",
        "is neither text nor a whole number but {value}",
        {"value": shown(value), "remedy": "write it as text"},
    )


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Turn(_Model):
    """A turn. ``blip_caption`` describes the photo that was shared with it, in words of a captioning model."""

    speaker: Text
    dia_id: Text
    text: AnyText
    blip_caption: AnyText | None = None

    @property
    def content(self) -> str:
        """As LoCoMo's own scripts show a turn to a model, see ``converters.locomo_corpus``."""
        said = f'{self.speaker} said, "{self.text}"'
        return f"{said} and shared {self.blip_caption}" if self.blip_caption else said


class Question(_Model):
    """A question; ``adversarial_answer`` is not read, for it is the wrong one that a system may be led to."""

    question: Text
    answer: Annotated[AnyText | int | None, BeforeValidator(_answer)] = None
    evidence: list[AnyText] = []
    category: Annotated[int, BeforeValidator(_category)]

    @property
    def is_adversarial(self) -> bool:
        """Whether the conversation does not hold what is asked for."""
        return self.category == ADVERSARIAL


class _Speakers(_Model):
    speaker_a: Text
    speaker_b: Text


class _Source(_Model):
    sample_id: Text
    conversation: dict[str, Any]
    qa: list[Question]


@dataclass(frozen=True)
class Session:
    """A session: its name (``session_1``), date in UTC, and turns."""

    name: str
    date: datetime
    turns: Sequence[Turn]


@dataclass(frozen=True)
class Sample:
    """A sample. Its sessions are in the order of their numbers; those without a turn are left out, and counted."""

    sample_id: str
    roles: Mapping[str, str]
    sessions: Sequence[Session]
    questions: Sequence[Question]
    n_empty: int
    n_dates_alone: int


_SOURCE: Final = TypeAdapter(_Source)
_SPEAKERS: Final = TypeAdapter(_Speakers)
_TURNS: Final = TypeAdapter(list[Turn])
_DATES: Final = TypeAdapter(Annotated[datetime, BeforeValidator(_date)])


def parse_sample(value: object) -> Sample:
    """A sample from an element of the source's array.

    Raises:
        RecordProblem: a field is missing or of the wrong type, a date cannot be read, a speaker is neither of the two,
            two turns have one dia_id, a question has no answer, a text holds NUL or a lone surrogate.
    """
    source = checked(_SOURCE, value)
    talk = source.conversation
    speakers = checked(_SPEAKERS, talk, "conversation")
    if speakers.speaker_a == speakers.speaker_b:
        raise RecordProblem("conversation.speaker_b", "is the name of speaker_a too", "give each a name of its own")
    roles = {speakers.speaker_a: "user", speakers.speaker_b: "assistant"}
    names = [match for match in map(_SESSION.fullmatch, talk) if match]
    held = sorted({match[0] for match in names if not match[2]}, key=lambda name: int(name.removeprefix("session_")))
    full = [name for name in held if talk[name]]
    sessions = [_session(talk, name) for name in full]
    if not sessions:
        raise RecordProblem("conversation", "holds no session", "add session_1 and session_1_date_time")
    _check_turns(sessions, roles)
    for number, question in enumerate(source.qa):
        if question.answer is None and not question.is_adversarial:
            raise RecordProblem(f"qa[{number}].answer", "is missing", "add it, or fetch the file again")
    return Sample(
        source.sample_id,
        roles,
        sessions,
        source.qa,
        n_empty=len(held) - len(full),
        n_dates_alone=sum(match[2] is not None and f"session_{match[1]}" not in talk for match in names),
    )


def _session(talk: Mapping[str, object], name: str) -> Session:
    turns = checked(_TURNS, talk[name], "conversation", name)
    dated = f"{name}_date_time"
    if dated not in talk:
        raise RecordProblem(f"conversation.{dated}", "is missing", "add it, or fetch the file again")
    return Session(name, checked(_DATES, talk[dated], "conversation", dated), turns)


def _check_turns(sessions: Sequence[Session], roles: Mapping[str, str]) -> None:
    seen: set[str] = set()
    for session in sessions:
        for index, turn in enumerate(session.turns):
            field = f"conversation.{session.name}[{index}]"
            if turn.speaker not in roles:
                raise RecordProblem(
                    f"{field}.speaker",
                    f"{shown(turn.speaker)} is neither speaker_a nor speaker_b",
                    f"use {' or '.join(map(shown, roles))}",
                )
            if turn.dia_id in seen:
                raise RecordProblem(
                    f"{field}.dia_id", f"{shown(turn.dia_id)} is the id of an earlier turn too", "give each its own"
                )
            seen.add(turn.dia_id)
