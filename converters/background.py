"""One thread beside the caller's, which does one thing at a time in the order given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self


class Background:
    """Runs tasks while the caller goes on: compressing and writing a row group leave the interpreter free to parse.

    At most one task waits while one runs, so that memory stays bounded. An error of a task is raised by a later call or
    when the ``with`` block ends; after an error within the block what was handed over is waited for, and its own error
    dropped.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="write")
        self._given: deque[Future[None]] = deque()

    def run(self, task: Callable[[], None]) -> None:
        """Hand over a task; waits until the one before the last is done, and raises its error."""
        while len(self._given) > 1:
            self._given.popleft().result()
        self._given.append(self._pool.submit(task))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._pool.shutdown(wait=True)
        if kind is None:
            self.wait()

    def wait(self) -> None:
        """Wait until all is done, and raise its error."""
        while self._given:
            self._given.popleft().result()
