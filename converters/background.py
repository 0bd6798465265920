"""One thread beside the caller's, which does one thing at a time in the order given."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self


class Background:
    """Runs tasks while the caller goes on: compressing and writing a row group leave the interpreter free to parse.

    At most one task waits or runs, so that memory stays bounded. An error of a task is raised by the next call, or when
    the ``with`` block ends; after an error within the block the running task is waited for, and its own error dropped.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="write")
        self._running: Future[None] | None = None

    def run(self, task: Callable[[], None]) -> None:
        """Wait for the task before, raising its error, and start this one."""
        self._wait()
        self._running = self._pool.submit(task)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._pool.shutdown(wait=True)
        if kind is None:
            self._wait()

    def _wait(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.result()
