"""What readers and judges see of a hit: its text and its date, in the order of the ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol

# Not strftime's %A, which speaks the language of the machine.
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class HitLike(Protocol):
    """A hit, whatever class it is of."""

    @property
    def content(self) -> str:
        """The memory's text."""
        ...

    @property
    def date(self) -> datetime | None:
        """When it took place; UTC if it has no zone."""
        ...


@dataclass(frozen=True)
class Memory:
    """A hit, without what only scoring may know."""

    content: str
    date: datetime | None = None


def memories(hits: Iterable[Mapping[str, Any]]) -> list[Memory]:
    """The hits of a row of ``SearchResults`` by rank (see ``converters.tables.HIT``)."""
    return [Memory(hit["content"], hit["date"]) for hit in sorted(hits, key=lambda hit: int(hit["rank"]))]


def in_utc(date: datetime) -> datetime:
    """The moment in UTC; a date without a zone is one in UTC already."""
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)


def shown_date(date: datetime | None, otherwise: str = "no date") -> str:
    """``2023-05-20 (Saturday) 02:21``, in UTC; ``otherwise`` where there is none."""
    if date is None:
        return otherwise
    moment = in_utc(date)
    clock = f"{moment.hour:02}:{moment.minute:02}"
    return f"{moment.date().isoformat()} ({_DAYS[moment.weekday()]}) {clock}"
