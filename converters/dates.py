"""LongMemEval's dates: ``2023/05/20 (Sat) 02:21``, without a zone, read as UTC."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

# Not strptime: its %a knows the names of the reader's own locale only.
_DATE: Final = re.compile(r"([0-9]{4})/([0-9]{2})/([0-9]{2}) \([A-Z][a-z]{2}\) ([0-9]{2}):([0-9]{2})")


def parse_date(text: str) -> datetime:
    """The moment that ``YYYY/MM/DD (Ddd) HH:MM`` names, in UTC.

    The weekday says nothing that the date does not, and is not compared with it.

    Raises:
        ValueError: the text has another form, or names a day or minute that does not exist.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError("not of the form YYYY/MM/DD (Ddd) HH:MM")
    year, month, day, hour, minute = map(int, match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def parse_dates(texts: Iterable[str]) -> list[datetime]:
    """As ``parse_date``, of each; moments that are the same are one object, for a haystack may have a million."""
    known: dict[str, datetime] = {}
    return [known.get(text) or known.setdefault(text, parse_date(text)) for text in texts]


def format_date(moment: datetime) -> str:
    """The inverse of ``parse_date``; seconds are left out."""
    utc = moment.astimezone(UTC)
    weekday = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[utc.weekday()]
    return f"{utc.year:04}/{utc.month:02}/{utc.day:02} ({weekday}) {utc.hour:02}:{utc.minute:02}"
