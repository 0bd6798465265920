"""Counts by name, each with the place of the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from converters.inspect.report import Quirk


class Named(Protocol):
    """A quirk's definition."""

    @property
    def name(self) -> str:
        """Stable, for machines."""

    @property
    def unit(self) -> str:
        """What is counted."""

    @property
    def description(self) -> str:
        """One line for a reader."""


class Tally:
    """Counts what was met."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, name: str, n: int, example: str) -> None:
        """Count ``n`` more; the first example that is given stays."""
        if n:
            self._counts[name] += n
            self._examples.setdefault(name, example)

    def quirks(self, definitions: Iterable[Named]) -> list[Quirk]:
        """One for each definition, counted or not."""
        return [
            Quirk(one.name, one.unit, one.description, self._counts[one.name], self._examples.get(one.name))
            for one in definitions
        ]


class Spread:
    """The least, the mean and the greatest of numbers, without keeping them."""

    def __init__(self) -> None:
        self._n = 0
        self._sum = 0
        self._least = 0
        self._greatest = 0

    def add(self, number: int) -> None:
        """Take one more."""
        self._least = number if self._n == 0 else min(self._least, number)
        self._greatest = max(self._greatest, number)
        self._n += 1
        self._sum += number

    @property
    def total(self) -> int:
        """Their sum."""
        return self._sum

    def told(self, prefix: str) -> dict[str, int | float]:
        """Min, mean (to one decimal) and max, by name; zeros where there were none."""
        mean = round(self._sum / self._n, 1) if self._n else 0.0
        return {f"{prefix}_min": self._least, f"{prefix}_mean": mean, f"{prefix}_max": self._greatest}
