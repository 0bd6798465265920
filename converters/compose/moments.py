"""When a filler session took place: before the question, in the days that its evidence spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Self

# In 59 published S records half of the haystacks begin ten days before their question, few later, and a quarter more
# than a month before; evidence lies anywhere in them. So the days begin before the evidence, ten days back at least.
MIN_DAYS: Final = 10
MARGIN_DAYS: Final = 3


@dataclass(frozen=True)
class Window:
    """Days that end with a question.

    Attributes:
        question: when it is asked; no filler is dated then or later.
        first: the first day.
    """

    question: datetime
    first: date

    @classmethod
    def around(cls, question: datetime, evidence: Sequence[datetime]) -> Self:
        """The window of a question: from three days before its first evidence, and ten days at least.

        Raises:
            OverflowError: there are no such days in the calendar.
        """
        day = question.date()
        reach = (day - min((moment.date() for moment in evidence), default=day)).days
        first = day - timedelta(days=max(MIN_DAYS, reach + MARGIN_DAYS))
        return cls(question, first)

    def place(self, own: datetime, lot: int) -> datetime:
        """A filler's own date if it lies in the window, else its time of day on a day of the window chosen by lot."""
        if own < self.question and own.date() >= self.first:
            return own
        n_days = (self.question.date() - self.first).days
        day = self.first + timedelta(days=lot % (n_days + 1))
        moment = datetime.combine(day, own.timetz())
        return moment if moment < self.question else moment - timedelta(days=1 + lot % n_days)
