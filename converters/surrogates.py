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
# A pair that is whole, or a half. Escaped backslashes are consumed in front, so that `\\ud800`, which is a backslash
# and five letters, is never read from its second backslash on.
_HALVES: Final = re.compile(rb"(?<!\\)((?:\\\\)*)(?:(" + _HIGH + _LOW + rb")|" + _HIGH + rb"|" + _LOW + rb")")
_SUSPECT: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_ENDS_HIGH: Final = re.compile(_HIGH + rb"\Z")
_PAIR_BYTES: Final = 12


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
        piece = data[:cut] if cut < len(data) else data
        if _SUSPECT.search(piece) is None:
            return piece
        return _HALVES.sub(self._replace, piece)

    def _replace(self, match: re.Match[bytes]) -> bytes:
        if match[2] is not None:
            return match[0]
        self.n_lone += 1
        return match[1] + b"\\u0000"


def _safe_cut(data: bytes) -> int:
    """The last place at which no escape and no pair of escapes is cut in two."""
    cut = data.find(b"\\", max(0, len(data) - _PAIR_BYTES))
    if cut < 0:
        return len(data)
    cut = _before_backslashes(data, cut)
    if _ENDS_HIGH.search(data, max(0, cut - _PAIR_BYTES // 2), cut) is not None:
        cut = _before_backslashes(data, cut - _PAIR_BYTES // 2)
    return cut


def _before_backslashes(data: bytes, end: int) -> int:
    return len(data[:end].rstrip(b"\\"))
