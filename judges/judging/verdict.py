"""What a judge says of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RIGHT_ABOVE: Final = 0.5
"""An answer is right if its score is above this; half an answer is not."""


@dataclass(frozen=True)
class Verdict:
    """A judgment.

    Attributes:
        score: 0 to 1.
        label: whether the answer is right. In the default set and for the lexical judge, whether the score is above
            ``RIGHT_ABOVE``.
        explanation: the judge's reason; empty where it gives none.
    """

    score: float
    label: bool
    explanation: str = ""


class Unreadable(Exception):  # noqa: N818 - what the reply is
    """A reply that holds no verdict, or more than one. It may be asked for again, and is never a score.

    Attributes:
        reason: what is wrong with the reply, without its text.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
