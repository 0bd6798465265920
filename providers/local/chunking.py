"""A session's turns to the pieces of text that are stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from providers.local.ingest_settings import Granularity

_SPACE: Final = re.compile(r"\s")


@dataclass(frozen=True)
class Turn:
    """One message of a session: its place, from 0, who says it, and what."""

    index: int
    role: str
    content: str


@dataclass(frozen=True)
class Piece:
    """What one chunk holds: its text, and the indices of the turns that the text comes from."""

    turns: tuple[int, ...]
    text: str


def pieces(turns: Sequence[Turn], granularity: Granularity, chunk_chars: int) -> list[Piece]:
    """Pieces of a session, in order; blank turns are in none of them.

    The text of a turn alone is its content; where a piece may hold several, each is a line ``role: content``. A text
    over ``chunk_chars`` characters is cut (see ``cut``), and each part names the turns that it holds a part of.
    """
    return [piece for group in _groups(turns, granularity) for piece in _split(group, granularity, chunk_chars)]


def cut(text: str, size: int) -> list[str]:
    """Parts of at most ``size`` characters that join back to the text, each ending at white space where it can."""
    parts = []
    start = 0
    while len(text) - start > size:
        end = start + size
        # The last white space of the window's second half: a part is never shorter than half of what is allowed.
        spaces = [match.end() for match in _SPACE.finditer(text, start + size // 2, end)]
        end = spaces[-1] if spaces else end
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def _groups(turns: Sequence[Turn], granularity: Granularity) -> Iterator[list[Turn]]:
    """Turns that belong together. A round starts with each user turn, whatever comes before or after it."""
    group: list[Turn] = []
    for turn in turns:
        if group and (granularity == "turn" or (granularity == "round" and turn.role == "user")):
            yield group
            group = []
        group.append(turn)
    if group:
        yield group


def _split(group: Sequence[Turn], granularity: Granularity, chunk_chars: int) -> Iterator[Piece]:
    lines: list[str] = []
    spans: list[tuple[int, int, int]] = []
    length = 0
    for turn in group:
        if not turn.content.strip():
            continue
        bare = granularity == "turn" or turn.role == "memory"
        line = ("\n" if lines else "") + (turn.content if bare else f"{turn.role}: {turn.content}")
        spans.append((length, length + len(line), turn.index))
        lines.append(line)
        length += len(line)
    start = 0
    for part in cut("".join(lines), chunk_chars):
        end = start + len(part)
        if part.strip():
            yield Piece(tuple(index for first, last, index in spans if first < end and start < last), part)
        start = end
