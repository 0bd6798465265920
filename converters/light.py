"""Two habits of the surroundings that cost a long conversion time and memory, and how to break them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_LARGEST_BLOCK: Final = 1 << 22
# M_ARENA_MAX of malloc.h.
_ARENA_MAX: Final = -8


@contextmanager
def without(module: str) -> Iterator[None]:
    """Imports within the block take ``module`` for not installed, unless it is loaded already."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


def keep_freed_memory() -> None:
    """Let the allocator reuse blocks of a few megabytes instead of returning each to the system.

    A block that was mapped and is freed again tells glibc that blocks up to its size come and go. Without it, every
    record's text is mapped, faulted in and unmapped anew: a fifth of a conversion's time. The block itself is never
    touched, and so takes no memory; another allocator is not impressed. Threads share one heap, so that one reuses what
    another has freed.
    """
    bytes(_LARGEST_BLOCK)
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
