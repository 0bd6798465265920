"""Values of replies that may be anything, and dates on the wire."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from providers.remote.errors import Unreadable, one_line

LONGEST_CONTENT: Final = 65_536
"""Characters of a hit's content that are kept."""
LONGEST_ID: Final = 512
_MOST: Final = 2**53


def iso(date: datetime) -> str:
    """A date as every service reads it: ``2023-05-20T02:21:00Z``."""
    return date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def date_of(value: object) -> datetime | None:
    """A date from ISO 8601 with any offset (none means UTC) or seconds since the epoch; None for anything else."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def number(value: object) -> float | None:
    """A finite number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def content(value: object) -> str:
    """A hit's text, of bounded length; raises ``Unreadable`` if it is none."""
    if not isinstance(value, str):
        raise Unreadable(f"a hit's text is {type(value).__name__}, not a string")
    return value.encode("utf-8", "replace").decode()[:LONGEST_CONTENT]


def name(value: object) -> str:
    """An id as text, of bounded length; raises ``Unreadable`` if it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise Unreadable(f"an id is {one_line(repr(value), 80)}")
    return str(value).encode("utf-8", "replace").decode()[:LONGEST_ID]


def some_name(value: object) -> tuple[str, ...]:
    """An id if it is one, else nothing."""
    return (name(value),) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else ()


def mapping(value: object, what: str = "the reply") -> Mapping[str, Any]:
    """A JSON object; raises ``Unreadable`` for anything else."""
    if not isinstance(value, Mapping):
        raise Unreadable(f"{what} is {_kind(value)}, not an object")
    return value


def rows(value: object, what: str) -> Sequence[Mapping[str, Any]]:
    """A JSON array of objects; raises ``Unreadable`` for anything else."""
    if not isinstance(value, list):
        raise Unreadable(f"{what} is {_kind(value)}, not an array")
    return [mapping(one, f"{what}[{index}]") for index, one in enumerate(value)]


def count(value: object, what: str) -> int:
    """A whole number from 0 that a database holds; raises ``Unreadable`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise Unreadable(f"{what} is {one_line(repr(value), 80)}, not a count")
    return value


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__
