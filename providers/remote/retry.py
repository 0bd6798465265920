"""Trying a call again: how often, after what pause, and until when."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import stamina
import stamina.instrumentation

T = TypeVar("T")

# stamina would log every pause, where structlog happens to be installed to the standard output.
stamina.instrumentation.set_on_retry_hooks([])


@dataclass(frozen=True)
class Manners:
    """How a service is treated. Changes no result.

    Attributes:
        concurrency: calls at a time.
        requests_per_minute: at most; None for no limit of ours.
        timeout_s: seconds for one try.
        deadline_s: seconds for a call with all its retries and pauses.
        attempts: tries of a call, at most.
        backoff_s: seconds before the second try, where the service names no pause; doubled each time.
    """

    concurrency: int = 8
    requests_per_minute: float | None = None
    timeout_s: float = 60.0
    deadline_s: float = 300.0
    attempts: int = 6
    backoff_s: float = 0.5


class Again(Exception):  # noqa: N818 - what is to be done
    """A failure after which the call may be tried again.

    Attributes:
        failure: what is raised where it is not.
        seconds: the pause that the service asks for, if it does.
        tries: of a call, after this kind of failure; None for as many as the manners say.
    """

    def __init__(self, failure: Exception, seconds: float | None = None, tries: int | None = None) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.seconds = seconds
        self.tries = tries


def persistently(manners: Manners, once: Callable[[], T]) -> T:
    """Call ``once`` until it raises no ``Again``, or it is time to give up; then its failure is raised.

    A pause that is longer than what is left until the deadline is not waited for.
    """
    started = time.monotonic()
    made = 0

    def pause(error: Exception) -> bool | float:
        if not isinstance(error, Again) or (error.tries is not None and made >= error.tries):
            return False
        left = manners.deadline_s - (time.monotonic() - started)
        if error.seconds is None:
            return left > 0
        return error.seconds if error.seconds < left else False

    try:
        made = 1
        return once()
    except Again as again:
        # Most calls need no second try; preparing for one takes as long as the call's own work.
        waiting: Again | None = again
    try:
        for attempt in stamina.retry_context(
            on=pause,
            attempts=manners.attempts,
            timeout=manners.deadline_s,
            wait_initial=manners.backoff_s,
            wait_max=30.0,
            wait_jitter=manners.backoff_s,
        ):
            with attempt:
                if waiting is not None:
                    first, waiting = waiting, None
                    raise first
                made += 1
                return once()
    except Again as again:
        raise again.failure from None
    raise AssertionError("a retry context that neither returned nor raised")
