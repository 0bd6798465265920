"""A limit of money for one run of this process, kept before it is passed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from converters.errors import BadInput
from providers.remote.errors import Stop

OVER: Final = "stopped before the limit"
"""How the message of ``OverBudget`` begins."""
VARIABLE: Final = "EVAL_ASSETS_MAX_COST_USD"


class OverBudget(Stop):
    """The next call could pass the limit."""


class Budget:
    """What may be spent, what was, and what calls that are under way may cost at most."""

    def __init__(self, limit_usd: float | None = None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._reserved = 0.0
        self._under_way = 0
        self._changed = threading.Condition()

    @contextmanager
    def reserving(self, most_usd: float) -> Iterator[None]:
        """Make room for a call that costs ``most_usd`` at most; raises ``OverBudget`` where there is none.

        Where calls under way may leave room, having cost less than they might have, it waits for them.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way or self._fits(self._reserved + most_usd))
            if not self._fits(self._reserved + most_usd):
                raise OverBudget(
                    f"{OVER} of {self.limit_usd:g} USD: {self.spent_usd:.4f} are spent, and the next "
                    f"call may cost {most_usd:.4f}; what is done is kept, and goes on from there with more"
                )
            self._reserved += most_usd
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._reserved = self._reserved - most_usd if self._under_way else 0.0
                self._changed.notify_all()

    def pay(self, usd: float) -> None:
        """A call was made, and cost this."""
        with self._changed:
            self.spent_usd += usd

    def _fits(self, more_usd: float) -> bool:
        return self.limit_usd is None or self.spent_usd + more_usd <= self.limit_usd


BUDGET = Budget()
"""Of this process; a refresh sets its limit."""


def limit_of_environment() -> float | None:
    """What EVAL_ASSETS_MAX_COST_USD says; raises ``BadInput`` where that is no sum of money."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    with suppress(ValueError):
        if (limit := float(text)) >= 0:
            return limit
    raise BadInput(VARIABLE, f"not a sum of money: {text!r}", "give US dollars, for instance 2.50")


@contextmanager
def limited(limit_usd: float | None) -> Iterator[Budget]:
    """For as long as this lasts, no more may be spent than ``limit_usd``."""
    before = BUDGET.limit_usd, BUDGET.spent_usd
    BUDGET.limit_usd, BUDGET.spent_usd = limit_usd, 0.0
    try:
        yield BUDGET
    finally:
        BUDGET.limit_usd, BUDGET.spent_usd = before
