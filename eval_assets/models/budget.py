"""A limit of money for one run of this process, kept before it is passed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from providers.remote.errors import Stop


class OverBudget(Stop):
    """The next call could pass the limit."""


class Budget:
    """What may be spent, what was, and what calls that are under way may cost at most."""

    def __init__(self, limit_usd: float | None = None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._reserved = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def reserving(self, most_usd: float) -> Iterator[None]:
        """Make room for a call that costs ``most_usd`` at most; raises ``OverBudget`` where there is none."""
        with self._lock:
            due = self.spent_usd + self._reserved + most_usd
            if self.limit_usd is not None and due > self.limit_usd:
                raise OverBudget(
                    f"stopped before the limit of {self.limit_usd:g} USD: {self.spent_usd:.4f} are spent, and the next "
                    f"call may cost {most_usd:.4f}; what is done is kept"
                )
            self._reserved += most_usd
        try:
            yield
        finally:
            with self._lock:
                self._reserved -= most_usd

    def pay(self, usd: float) -> None:
        """A call was made, and cost this."""
        with self._lock:
            self.spent_usd += usd


BUDGET = Budget()
"""Of this process; a refresh sets its limit."""


@contextmanager
def limited(limit_usd: float | None) -> Iterator[Budget]:
    """For as long as this lasts, no more may be spent than ``limit_usd``."""
    before = BUDGET.limit_usd, BUDGET.spent_usd
    BUDGET.limit_usd, BUDGET.spent_usd = limit_usd, 0.0
    try:
        yield BUDGET
    finally:
        BUDGET.limit_usd, BUDGET.spent_usd = before
