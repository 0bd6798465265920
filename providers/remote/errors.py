"""What can go wrong with a call, by what the caller must do about it.

::

    CallFailed                 the row or document that the call was for fails; the others go on
      Refused                  the service understood and said no: asking again changes nothing
        Absent                 what was asked after is not there, which may be all one wanted to know
      Unavailable              overload or outage that outlasted the retries: asking later may help
      Unreadable               an answer came and is not what the contract says
      UnknownOutcome           sent, and no usable answer: it may or may not have been done
      TimedOut                 done is not known within the deadline (indexing)
      Degraded                 an answer, but part of the service was out of order
      NotRecorded              replaying, and the ledger does not hold it
    Stop (Told)                the step ends; what is done stays
      Unreachable              no connection to the service
      OutOfQuota               quota, payment or trial
      BadKey                   the key is missing, wrong, or not allowed this
"""

from __future__ import annotations

from typing import Final

from converters.errors import Told

_SHOWN: Final = 300


class CallFailed(Exception):  # noqa: N818 - named for what happened
    """One call failed; the message is one line.

    Attributes:
        retryable: whether asking again later may help.
    """

    retryable: bool = True

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class Refused(CallFailed):
    """The service said no to this request."""

    retryable = False


class Absent(Refused):
    """The service has nothing of this name."""


class Unavailable(CallFailed):
    """Overload or outage, longer than the retries."""


class Unreadable(CallFailed):
    """An answer that is not what the contract says."""


class UnknownOutcome(CallFailed):
    """It was sent, and nobody knows whether it was done."""


class TimedOut(CallFailed):
    """It was not done within the deadline."""


class NotRecorded(CallFailed):
    """The ledger is replayed and does not hold this call."""


class Degraded(CallFailed):
    """An answer came, and the service says that part of it was out of order.

    Attributes:
        value: what can be made of the answer nevertheless.
    """

    def __init__(self, message: str, value: object) -> None:
        super().__init__(message)
        self.value = value


class Stop(Told):
    """Nothing more can be asked of this service now: the step ends, and what is done stays."""


class Unreachable(Stop):
    """No connection."""


class OutOfQuota(Stop):
    """A quota or payment stop."""


class BadKey(Stop):
    """The key is missing, wrong, or not allowed what is asked."""


def one_line(text: str, length: int = _SHOWN) -> str:
    """Printable, on one line, and of bounded length, whatever a service said."""
    words = " ".join(text.split())
    shown = words if len(words) <= length else f"{words[:length]}..."
    return "".join(mark if mark.isprintable() else "?" for mark in shown)
