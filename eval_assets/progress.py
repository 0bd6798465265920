"""How far long work is: lines in the UI's log at every tenth, and a bar where a terminal listens."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from providers.protocol import Progress

_TENTHS: Final = 10
_listeners: list[Progress] = []


@contextmanager
def listening(listener: Progress) -> Iterator[None]:
    """Tell the listener of all work in this process, for as long as the block runs."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def logged(log: logging.Logger) -> Progress:
    """A progress that writes a line at every tenth of a task and tells whoever listens."""
    reached: dict[str, int] = {}

    def tell(what: str, done: int, total: int) -> None:
        for listener in _listeners:
            listener(what, done, total)
        tenth = done * _TENTHS // total if total else _TENTHS
        if tenth > reached.get(what, 0):
            reached[what] = tenth
            log.info("%s: %d %%", what, tenth * _TENTHS)

    return tell
