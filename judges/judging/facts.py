"""What a reference answer says, as far as that can be read without a model: alternatives, durations, numbers, days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Final

from judges.dates_in_text import MONTHS, Day, days_in, same_day
from judges.words import STOPWORDS, stem, words

Duration = tuple[float, str]
"""How many, and of what: day, week, month, year, hour or minute."""

_DAYS: Final = {"day": 1.0, "week": 7.0, "month": 30.4375, "year": 365.25}
_MINUTES: Final = {"hour": 60.0, "hr": 60.0, "minut": 1.0, "min": 1.0}
_NAMES: Final = {"minut": "minute", "min": "minute", "hr": "hour"}
_RANGE: Final = re.compile(r"ranging from (\w+) (\w+) to (\w+) \w+", re.IGNORECASE)
_ALSO: Final = re.compile(r"\([^)]*\)|\b(?:is|are) (?:also )?acceptable\b|\banswers?\b", re.IGNORECASE)


def alternatives(answer: str) -> list[str]:
    """The answers that a reference admits: itself, or what its "... is also acceptable" adds, ranges counted out."""
    if "acceptable" not in answer:
        return [answer]
    found: list[str] = []
    for part in re.split(r"(?<=[.;])\s+", answer):
        span = _RANGE.search(part)
        ends = words(f"{span[1]} {span[3]}") if span else []
        if span and len(ends) == 2 and all(end.isdecimal() for end in ends):
            found += [f"{n} {span[2]}" for n in range(int(ends[0]), int(ends[1]) + 1)]
        else:
            found.append(_ALSO.sub(" ", part).strip(" .;"))
    return [part for part in found if part]


def durations(tokens: Sequence[str]) -> list[Duration]:
    """Each number that a unit of time follows."""
    units = [(number, stem(unit)) for number, unit in pairwise(tokens) if number[0].isdigit()]
    known = [(float(number), unit) for number, unit in units if _is_number(number) and unit in {**_DAYS, **_MINUTES}]
    return [(number, _NAMES.get(unit, unit)) for number, unit in known]


def same_duration(one: Duration, other: Duration, off_by: float) -> bool:
    """Whether two durations are equal: in the same unit to within ``off_by`` of it, in two of them exactly."""
    if one[1] == other[1]:
        return abs(one[0] - other[0]) <= off_by
    for scale in (_DAYS, {"hour": 60.0, "minute": 1.0}):
        if one[1] in scale and other[1] in scale:
            return abs(one[0] * scale[one[1]] - other[0] * scale[other[1]]) < 0.5
    return False


def near_day(one: Day, other: Day, off_by: int) -> bool:
    """Whether two named days are the same, or at most ``off_by`` apart."""
    if off_by == 0 or same_day(one, other):
        return same_day(one, other)
    year = one[0] or other[0] or 2024
    try:
        apart = date(one[0] or year, *one[1:]) - date(other[0] or year, *other[1:])
    except ValueError:
        return False
    return abs(apart.days) <= off_by


def facts_missing(gold: str, said: str, off_by: int, numbers_off_by: int = 0) -> list[str]:
    """The durations, days and numbers of ``gold`` that ``said`` does not hold, as words.

    Args:
        gold: the reference.
        said: the answer.
        off_by: what a duration may differ by, in its unit, and a day in days.
        numbers_off_by: what a number without a unit may differ by.
    """
    gold_words, said_words = words(gold), words(said)
    spans, told = durations(gold_words), durations(said_words)
    days, told_days = days_in(gold), days_in(said)
    missing = [f"{span[0]:g} {span[1]}" for span in spans if not any(same_duration(span, one, off_by) for one in told)]
    missing += [
        "-".join(str(part) for part in day if part is not None)
        for day in days
        if not any(near_day(day, one, off_by) for one in told_days)
    ]
    # The numbers of a day or a duration are looked for with their unit.
    placed = {f"{span[0]:g}" for span in spans} | {str(part) for day in days for part in day if part is not None}
    numbers = [word for word in dict.fromkeys(gold_words) if word[0].isdigit() and word not in placed]
    near = [float(word) for word in said_words if _is_number(word)] if numbers_off_by else []
    return missing + [
        number
        for number in numbers
        if number not in said_words
        and not (_is_number(number) and any(abs(float(number) - one) <= numbers_off_by for one in near))
    ]


def meaning(text: str) -> list[str]:
    """Stems of the words that carry meaning; of all words where none does."""
    tokens = words(text)
    return [stem(word) for word in tokens if word not in STOPWORDS] or [stem(word) for word in tokens]


def beside_facts(stems: Sequence[str]) -> set[str]:
    """The stems that are no part of a number, a duration or a day."""
    return {word for word in stems if not word[0].isdigit() and word not in _OF_FACTS}


_OF_FACTS: Final = {*_DAYS, *_MINUTES, *(stem(month) for month in MONTHS), "ago"}


def _is_number(word: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", word) is not None
