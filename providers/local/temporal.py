"""Times that a question names, relative to its reference date."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

# Not calendar's names: those follow the locale.
_MONTH_NAMES: Final = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
_MONTHS: Final = {word: n for n, name in enumerate(_MONTH_NAMES, start=1) for word in (name, name[:3])} | {"sept": 9}
_WEEKDAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_COUNTS: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBERS: Final = {word: n for n, word in enumerate(_COUNTS, start=1)} | {"a": 1, "an": 1, "couple": 2, "few": 3}
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True)
class Slack:
    """How generously a vague time is read, in days: see ``RetrievalSettings``."""

    days: int = 2
    days_long: int = 5
    recent_days: int = 14


@dataclass(frozen=True)
class TimeRange:
    """A half-open stretch of time: ``start`` belongs to it, ``end`` does not."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class QuestionTime:
    """What a question says about time.

    Attributes:
        range: the time that it names, if it names one and has a reference date.
        about_time: whether it is about time at all (when, latest, before), named or not.
    """

    range: TimeRange | None
    about_time: bool


def question_time(text: str, as_of: datetime | None, slack: Slack) -> QuestionTime:
    """Read a question. Days begin at midnight, weeks on Monday, in the time zone of ``as_of``.

    The first rule that fits decides, in the order of ``_RULES``: dates before relative times, exact before vague.
    """
    lowered = text.lower()
    if as_of is not None:
        for pattern, resolve in _RULES:
            match = pattern.search(lowered)
            found = match and resolve(match, as_of, slack)
            if found:
                return QuestionTime(found, True)
    return QuestionTime(None, _ABOUT_TIME.search(lowered) is not None)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _days(first: datetime, n_days: int = 1) -> TimeRange:
    start = _midnight(first)
    return TimeRange(start, start + n_days * _DAY)


def _month(year: int, month: int, like: datetime) -> TimeRange:
    start = _midnight(like).replace(year=year, month=month, day=1)
    return TimeRange(start, start + calendar.monthrange(year, month)[1] * _DAY)


def _year(year: int, like: datetime) -> TimeRange:
    start = _midnight(like).replace(year=year, month=1, day=1)
    return TimeRange(start, start.replace(year=year + 1))


def _months_before(as_of: datetime, months: int) -> TimeRange | None:
    year, month = divmod(as_of.year * 12 + as_of.month - 1 - months, 12)
    return _month(year, month + 1, as_of) if year >= 1 else None


def _widened(found: TimeRange | None, days: int) -> TimeRange | None:
    return found and TimeRange(found.start - days * _DAY, found.end + days * _DAY)


def _until(as_of: datetime, n_days: int) -> TimeRange:
    return TimeRange(_midnight(as_of) - n_days * _DAY, _midnight(as_of) + _DAY)


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS[word]


def _calendar_date(year: int, month: int, day: int, as_of: datetime) -> TimeRange | None:
    try:
        return _days(as_of.replace(year=year, month=month, day=day))
    except ValueError:
        return None


def _numeric_date(match: re.Match[str], as_of: datetime, _: Slack) -> TimeRange | None:
    return _calendar_date(int(match["year"]), int(match["month"]), int(match["day"]), as_of)


def _named_date(match: re.Match[str], as_of: datetime, _: Slack) -> TimeRange | None:
    month, day = _MONTHS[match["month"]], int(match["day"])
    if match["year"]:
        return _calendar_date(int(match["year"]), month, day, as_of)
    found = _calendar_date(as_of.year, month, day, as_of)
    return found if found is None or found.start <= as_of else _calendar_date(as_of.year - 1, month, day, as_of)


def _named_month(match: re.Match[str], as_of: datetime, _: Slack) -> TimeRange:
    month = _MONTHS[match["month"]]
    latest = as_of.year if month <= as_of.month else as_of.year - 1
    return _month(int(match["year"] or latest), month, as_of)


def _named_year(match: re.Match[str], as_of: datetime, _: Slack) -> TimeRange:
    return _year(int(match["year"]), as_of)


def _ago(match: re.Match[str], as_of: datetime, slack: Slack) -> TimeRange | None:
    count, unit = _number(match["n"]), match["unit"]
    try:
        if unit == "day":
            return _widened(_days(as_of - count * _DAY), slack.days)
        if unit == "week":
            return _widened(_days(as_of - count * 7 * _DAY), slack.days_long)
        return _months_before(as_of, count) if unit == "month" else _year(as_of.year - count, as_of)
    except (OverflowError, ValueError):
        return None


def _past(match: re.Match[str], as_of: datetime, _: Slack) -> TimeRange | None:
    days = {"day": 1, "week": 7, "month": 31, "year": 366}[match["unit"]] * _number(match["n"] or "1")
    try:
        return _until(as_of, days)
    except OverflowError:
        return None


def _this(match: re.Match[str], as_of: datetime, _: Slack) -> TimeRange:
    if match["unit"] == "week":
        return _until(as_of, as_of.weekday())
    start = as_of.replace(day=1) if match["unit"] == "month" else as_of.replace(month=1, day=1)
    return TimeRange(_midnight(start), _midnight(as_of) + _DAY)


def _last(match: re.Match[str], as_of: datetime, slack: Slack) -> TimeRange | None:
    if match["unit"] == "week":
        return _until(as_of, slack.recent_days)
    if match["unit"] == "month":
        return _widened(_months_before(as_of, 1), slack.days_long)
    return _year(as_of.year - 1, as_of)


def _weekday(match: re.Match[str], as_of: datetime, _: Slack) -> TimeRange:
    back = (as_of.weekday() - _WEEKDAYS.index(match["day"]) - 1) % 7 + 1
    return _days(as_of - back * _DAY)


_Rule = Callable[[re.Match[str], datetime, Slack], TimeRange | None]
_MONTH: Final = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_UNIT: Final = r"(?P<unit>day|week|month|year)"
_COUNT: Final = rf"(?P<n>\d{{1,5}}|{'|'.join(_NUMBERS)})"
_RULES: Final[list[tuple[re.Pattern[str], _Rule]]] = [
    (re.compile(rf"\b(?:{pattern})\b"), rule)
    for pattern, rule in (
        (r"(?P<year>(?:19|20)\d\d)[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})", _numeric_date),
        (rf"{_MONTH}\.? (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>(?:19|20)\d\d))?", _named_date),
        (
            rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}\.?(?:,? (?P<year>(?:19|20)\d\d))?",
            _named_date,
        ),
        ("(?:the )?day before yesterday", lambda _, as_of, __: _days(as_of - 2 * _DAY)),
        ("yesterday|last night", lambda _, as_of, __: _days(as_of - _DAY)),
        ("today|tonight|this (?:morning|afternoon|evening)", lambda _, as_of, __: _days(as_of)),
        (rf"{_COUNT}(?: of)? {_UNIT}s? ago", _ago),
        (rf"(?:past|last) {_COUNT} {_UNIT}s", _past),
        (rf"past(?P<n>) {_UNIT}", _past),
        (rf"this {_UNIT.replace('day|', '')}", _this),
        (rf"(?:last|previous) {_UNIT.replace('day|', '')}", _last),
        (rf"(?:last|past|on) (?P<day>{'|'.join(_WEEKDAYS)})", _weekday),
        (rf"(?:in|during|since|of|last) {_MONTH}(?:,? (?P<year>(?:19|20)\d\d))?", _named_month),
        (r"(?:in|during|of) (?P<year>(?:19|20)\d\d)", _named_year),
        ("recently|recent|lately", lambda _, as_of, slack: _until(as_of, slack.recent_days)),
    )
]
_ABOUT_TIME: Final = re.compile(
    r"\b(when|dates?|times?|days?|weeks?|months?|years?|ago|before|after|during|since|until|earlier|first|earliest|"
    r"oldest|initial|originally|began|started|latest|most recent|newest|last|final|current|currently)\b"
)
