"""Calendar days that a text names, in the forms that are the same in every country. English month names."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from judges.words import folded

MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NAMES: Final = "|".join(f"{name[:3]}(?:{name[3:]}|t)?\\.?" if name != "may" else "may" for name in MONTHS)
_YEAR: Final = r"(?:,?\s+(\d{4}))?"
_DAY: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH_FIRST: Final = re.compile(rf"\b({_NAMES})\s+{_DAY}\b(?!:){_YEAR}")
_DAY_FIRST: Final = re.compile(rf"\b{_DAY}\s+(?:of\s+)?({_NAMES})\b{_YEAR}")
_ISO: Final = re.compile(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})\b")

Day = tuple[int | None, int, int]
"""Year if it is named, month, day."""


def days_in(text: str) -> list[Day]:
    """The days named in the text, each once, by place: ``May 3rd, 2023``, ``3 May``, ``2023-05-03``, ``2023/5/3``."""
    plain = folded(text)
    found: list[tuple[int, Day]] = []
    for match in _ISO.finditer(plain):
        found.append((match.start(), (int(match[1]), int(match[2]), int(match[3]))))
    for match in _MONTH_FIRST.finditer(plain):
        found.append((match.start(), (_year(match[3]), _month(match[1]), int(match[2]))))
    for match in _DAY_FIRST.finditer(plain):
        found.append((match.start(), (_year(match[3]), _month(match[2]), int(match[1]))))
    return list(dict.fromkeys(day for _, day in sorted(found, key=lambda item: item[0]) if _exists(day)))


def same_day(one: Day, other: Day) -> bool:
    """Whether two named days may be the same; a year that one leaves out is no difference."""
    return one[1:] == other[1:] and (one[0] is None or other[0] is None or one[0] == other[0])


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, start=1) if month[:3] == name[:3])


def _year(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _exists(day: Day) -> bool:
    try:
        # 2024 has a 29 February.
        date(2024 if day[0] is None else day[0], day[1], day[2])
    except ValueError:
        return False
    return True
