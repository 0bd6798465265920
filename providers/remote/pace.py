"""When the next call to a service may start: so many a minute, and not while the service asks for a pause."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """Shared by the threads that call one service. (aiolimiter, the usual choice, is for coroutines alone.)"""

    def __init__(
        self,
        per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next = 0.0
        self._held = 0.0

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
