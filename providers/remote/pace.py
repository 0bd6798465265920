"""When the next call to a service may start: so many at a time and a minute, and not while it asks for a pause."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_SPARE: Final = 4
"""Threads that do our own work (keeping a reply, making the next request) while as many calls as allowed are made."""


def threads(concurrency: int) -> int:
    """How many threads keep ``concurrency`` calls going, whose ``Pace`` sees to it that they are no more.

    After a crash so many calls may have been made without a trace.
    """
    return concurrency + min(concurrency, _SPARE) if concurrency > 1 else 1


class Pace:
    """Shared by the threads that call one service. (aiolimiter, the usual choice, is for coroutines alone.)"""

    def __init__(
        self,
        per_minute: float | None = None,
        at_once: int = 64,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._places = threading.BoundedSemaphore(at_once)
        self._gap = 60 / per_minute if per_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next = 0.0
        self._held = 0.0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A call's turn: begins when it may start, and takes one place until it ends."""
        with self._places:
            self.wait()
            yield

    def wait(self) -> None:
        """Return when it is this caller's turn, which is then taken."""
        while (left := self._claim()) > 0:
            self._sleep(left)

    def hold(self, seconds: float) -> None:
        """Nobody starts for so long, those who wait already included."""
        with self._lock:
            self._held = max(self._held, self._clock() + seconds)

    def _claim(self) -> float:
        """Seconds until it is worth asking again; 0 where the turn is taken."""
        with self._lock:
            now = self._clock()
            start = max(self._next, self._held)
            if now < start:
                return start - now
            self._next = now + self._gap
            return 0.0
