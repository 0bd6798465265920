"""What is odd about a LongMemEval record: its answer, its ids, its dates, its labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from msgspec import UNSET

from converters.dates import format_date
from converters.longmemeval_record import Record, Turn

LONG_ANSWER: Final = 300


@dataclass(frozen=True)
class Seen:
    """A record as quirks look at it.

    Attributes:
        record: the record.
        date_texts: its question_date and haystack_dates as the source writes them.
    """

    record: Record
    date_texts: Sequence[str]

    @cached_property
    def gold(self) -> Sequence[bool]:
        """By session: whether answer_session_ids has its id."""
        wanted = set(self.record.answer_session_ids)
        return [name in wanted for name in self.record.haystack_session_ids]

    @cached_property
    def marked(self) -> Sequence[bool]:
        """By session: whether a turn is marked has_answer."""
        return [any(turn.has_answer is True for turn in session) for session in self.record.haystack_sessions]

    @cached_property
    def marked_roles(self) -> Sequence[str]:
        """The roles of the turns marked has_answer."""
        return [turn.role for session in self.record.haystack_sessions for turn in session if turn.has_answer is True]

    @cached_property
    def after(self) -> Sequence[bool]:
        """By session: whether it is dated after the question."""
        return [date > self.record.question_date for date in self.record.haystack_dates]

    @property
    def text_answer(self) -> str:
        """The answer where it is text, else nothing."""
        return self.record.answer if isinstance(self.record.answer, str) else ""

    @property
    def gold_after(self) -> Sequence[bool]:
        """By evidence session: whether it is dated after the question."""
        return [after for after, gold in zip(self.after, self.gold, strict=True) if gold]


@dataclass(frozen=True)
class RecordQuirk:
    """A quirk of which a record has so many."""

    name: str
    unit: str
    description: str
    count: Callable[[Seen], int]


_NUMBER: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _labelled(session: Sequence[Turn]) -> int:
    return sum(turn.has_answer is not UNSET for turn in session)


def _visible(seen: Seen) -> bool:
    prefixed = [name.startswith("answer_") for name in seen.record.haystack_session_ids]
    return any(seen.gold) and prefixed == list(seen.gold)


def _wrong_weekdays(seen: Seen) -> int:
    moments = [seen.record.question_date, *seen.record.haystack_dates]
    return sum(format_date(moment) != text for moment, text in zip(moments, seen.date_texts, strict=True))


def _gold_without_marks(seen: Seen) -> int:
    return sum(gold and not marked for gold, marked in zip(seen.gold, seen.marked, strict=True))


def _differs(seen: Seen) -> bool:
    marked = {name for name, one in zip(seen.record.haystack_session_ids, seen.marked, strict=True) if one}
    return marked != set(seen.record.answer_session_ids)


def _labels_as_published(seen: Seen) -> bool:
    """has_answer is on every turn of evidence and on no other."""
    return all(
        _labelled(session) == (len(session) if gold else 0)
        for session, gold in zip(seen.record.haystack_sessions, seen.gold, strict=True)
    )


RECORD_QUIRKS: Final = (
    RecordQuirk(
        "int_answer",
        "answers",
        "a JSON number: a column of text or a call of lower() breaks",
        lambda seen: isinstance(seen.record.answer, int),
    ),
    RecordQuirk(
        "numeric_answer",
        "answers",
        "text that reads as a number: keep it text",
        lambda seen: _NUMBER.fullmatch(seen.text_answer) is not None,
    ),
    RecordQuirk("dollar_answer", "answers", "text that begins with $", lambda seen: seen.text_answer.startswith("$")),
    RecordQuirk(
        "alternatives_in_answer",
        "answers",
        '"... is also acceptable": an exact match is no measure',
        lambda seen: "also acceptable" in seen.text_answer,
    ),
    RecordQuirk(
        "long_answer", "answers", f"over {LONG_ANSWER} characters", lambda seen: len(seen.text_answer) > LONG_ANSWER
    ),
    RecordQuirk(
        "repeated_id",
        "sessions",
        "an earlier session of the haystack has the same id: no key is unique but the position",
        lambda seen: len(seen.gold) - len(set(seen.record.haystack_session_ids)),
    ),
    RecordQuirk(
        "gold_visible_in_ids",
        "questions",
        "ids of evidence begin with answer_, and no others do: give systems no source id",
        _visible,
    ),
    RecordQuirk(
        "question_before_a_session",
        "questions",
        "a session is dated after the question: dropping such sessions drops evidence",
        lambda seen: any(seen.after),
    ),
    RecordQuirk("session_after_question", "sessions", "dated after the question", lambda seen: sum(seen.after)),
    RecordQuirk(
        "gold_after_question", "questions", "evidence is dated after the question", lambda seen: any(seen.gold_after)
    ),
    RecordQuirk(
        "all_gold_after_question",
        "questions",
        "all the evidence is dated after the question",
        lambda seen: bool(seen.gold_after) and all(seen.gold_after),
    ),
    RecordQuirk(
        "unordered_haystack",
        "questions",
        "sessions are not in the order of their dates: sort stably if order matters",
        lambda seen: any(later < earlier for earlier, later in pairwise(seen.record.haystack_dates)),
    ),
    RecordQuirk(
        "same_minute",
        "questions",
        "two sessions have one date: it is no key",
        lambda seen: len(set(seen.record.haystack_dates)) < len(seen.record.haystack_dates),
    ),
    RecordQuirk("wrong_weekday", "dates", "the weekday is not the date's", _wrong_weekdays),
    RecordQuirk(
        "abstention_with_gold",
        "questions",
        "nothing answers it, yet it names evidence: leave it out of recall",
        lambda seen: seen.record.is_abstention and any(seen.gold),
    ),
    RecordQuirk(
        "abstention_with_marks",
        "questions",
        "nothing answers it, yet turns are marked has_answer",
        lambda seen: seen.record.is_abstention and any(seen.marked),
    ),
    RecordQuirk(
        "gold_without_marks",
        "sessions",
        "evidence without a turn marked has_answer",
        lambda seen: 0 if seen.record.is_abstention else _gold_without_marks(seen),
    ),
    RecordQuirk(
        "abstention_gold_without_marks",
        "sessions",
        "the same, of abstention questions",
        lambda seen: _gold_without_marks(seen) if seen.record.is_abstention else 0,
    ),
    RecordQuirk(
        "marks_differ_from_gold",
        "questions",
        "sessions with a marked turn are not those of answer_session_ids: say which is meant",
        _differs,
    ),
    RecordQuirk(
        "assistant_marks_only",
        "questions",
        "all marked turns are the assistant's: an index of user turns cannot find them",
        lambda seen: bool(seen.marked_roles) and "user" not in seen.marked_roles,
    ),
    RecordQuirk(
        "labels_unlike_published",
        "questions",
        "has_answer is not on every turn of evidence and on no other",
        lambda seen: not _labels_as_published(seen),
    ),
)
