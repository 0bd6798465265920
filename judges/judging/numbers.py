"""Scores as judges write them."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from judges.judging.verdict import Unreadable

_NUMBER: Final = re.compile(r"(\d+(?:[.,]\d+)?|[.,]\d+)\s*(?:(%)|(?:/|out of|of)\s*(\d+(?:[.,]\d+)?))?")


def read_score(value: Any) -> float:
    """A score from 0 to 1.

    A number from 0 to 1 is one, as is its text (``"0.85"``, ``"0,85"``). ``85%`` is 0.85, and so is a bare 85: a number
    above 10 and up to 100 can be nothing but a percentage. A number above 1 and up to 10 may be of a scale to 5, to 10
    or to 100, and is refused unless the scale is written: ``4/5``, ``8 out of 10``.

    Raises:
        Unreadable: it is no number, no finite one, or none that can be placed between 0 and 1.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Unreadable("the score is no number")
    if not isinstance(value, str):
        return _placed(float(value) if abs(value) <= 1000 else math.inf)
    match = _NUMBER.fullmatch(value.strip().rstrip(".").strip())
    if match is None:
        raise Unreadable("the score is no number")
    number = _float(match[1])
    if match[2]:
        return _placed(number / 100 if number <= 100 else math.inf)
    if match[3]:
        scale = _float(match[3])
        return _placed(number / scale if number <= scale and scale > 0 else math.inf)
    return _placed(number)


def _placed(number: float) -> float:
    if 0 <= number <= 1:
        return number
    if 10 < number <= 100:
        return number / 100
    raise Unreadable("the score is outside of 0 to 1, and its scale is not known")


def _float(digits: str) -> float:
    return float(digits.replace(",", "."))
