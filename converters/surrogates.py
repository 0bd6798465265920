"""Finds escapes of half a surrogate pair in a stream of JSON, which its parser would turn into a question mark.

``\\ud83d\\ude00`` is one character; either half alone is none, and no encoding can carry it. The stream is looked at
before the parser sees it, and a lone half is handed on as ``\\u0000``: nobody accepts that in a text either, so the
check of a record's texts finds both, and can name the record and the field.
"""

from __future__ import annotations

import re
from typing import Final

_HIGH: Final = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# A whole pair (which alone has a group), or a half. It begins with literal bytes, which makes the search fast.
_HALVES: Final = re.compile(rb"\\u[dD](?:([89abAB][0-9a-fA-F]{2}" + _LOW + rb")|[89a-fA-F][0-9a-fA-F]{2})")
_ENDS_HIGH: Final = re.compile(_HIGH + rb"\Z")
_HALF_BYTES: Final = 6


class SurrogateFilter:
    """Passes a stream through in pieces.

    Attributes:
        n_lone: halves found so far.
    """

    def __init__(self) -> None:
        self.n_lone = 0
        self._held = b""

    def feed(self, data: bytes, *, last: bool) -> bytes:
        """The next piece of the stream, all of it if ``last``; a few bytes may be held back until then."""
        data = self._held + data if self._held else data
        cut = len(data) if last else _safe_cut(data)
        self._held = data[cut:]
        piece = data[:cut]
        lone = _lone_halves(piece)
        if not lone:
            return piece
        self.n_lone += len(lone)
        mended = bytearray(piece)
        for start in lone:
            mended[start : start + _HALF_BYTES] = b"\\u0000"
        return bytes(mended)


def _lone_halves(data: bytes) -> list[int]:
    """Where in ``data`` the escapes of lone halves begin."""
    lone = []
    match = _HALVES.search(data)
    while match is not None:
        start, end = match.span()
        if (start - _before_backslashes(data, start)) % 2:
            # The backslash is itself escaped: this is a backslash and five letters, whatever follows them.
            end = start + 2
        elif match[1] is None:
            lone.append(start)
        match = _HALVES.search(data, end)
    return lone


def _safe_cut(data: bytes) -> int:
    """The last place at which no escape and no pair of escapes is cut in two."""
    cut = data.find(b"\\", max(0, len(data) - 2 * _HALF_BYTES))
    if cut < 0:
        return len(data)
    cut = _before_backslashes(data, cut)
    if _ENDS_HIGH.search(data, max(0, cut - _HALF_BYTES), cut) is not None:
        cut = _before_backslashes(data, cut - _HALF_BYTES)
    return cut


def _before_backslashes(data: bytes, end: int) -> int:
    """Where the backslashes that end at ``end`` begin."""
    while end and data[end - 1] == 0x5C:
        end -= 1
    return end
