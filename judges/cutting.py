"""The beginning of a text that is too long for its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

Count = Callable[[str], int]
"""Tokens of a text."""

LEAST: Final = 64
"""Tokens of room below which the beginning of a text is not worth its place."""
NOTE: Final = "[the rest of this memory is left out]"
_NEAR: Final = 80


def beginning(text: str, room: int, cost: Count) -> str:
    """As much of the text as fits, and a line that says that it is cut; nothing where there is no room for some of it.

    Args:
        text: a text that does not fit whole.
        room: tokens.
        cost: tokens of a text with whatever is put around it.
    """
    if room < LEAST:
        return ""
    fits, too_much = 0, len(text)
    while too_much - fits > 1:
        middle = (fits + too_much) // 2
        if cost(f"{text[:middle]}\n{NOTE}\n\n") <= room:
            fits = middle
        else:
            too_much = middle
    kept = text[:fits]
    blank = max(kept.rfind(" "), kept.rfind("\n"))
    # A word is not cut, unless it is very long.
    kept = kept[:blank] if blank > fits - _NEAR else kept
    return f"{kept.rstrip()}\n{NOTE}" if kept.strip() else ""
