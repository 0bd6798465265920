"""What makes a session the same session: its text, and its text on a date."""

from __future__ import annotations

import hashlib
import struct
import sys
from array import array
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TypeAlias

import msgspec

Turn: TypeAlias = tuple[str, str]
"""Role and content."""


class EncodedSessions(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Sessions whose texts are in UTF-8, once for their hashes and for what is written.

    Attributes:
        hashes: of each session; see ``content_hash``.
        n_chars: of each session, characters of all its contents.
        bounds: where each session's turns begin, and where the last one's end.
        roles: of all turns.
        lengths: of all turns, bytes of the content.
        contents: of all turns, one after the other.
    """

    hashes: list[str]
    n_chars: list[int]
    bounds: list[int]
    roles: list[str]
    lengths: list[int]
    contents: bytes

    def only(self, chosen: Sequence[int]) -> EncodedSessions:
        """Some of the sessions, by number, in this order."""
        if len(chosen) == len(self.hashes):
            return self
        turns = [slice(self.bounds[number], self.bounds[number + 1]) for number in chosen]
        ends = list(accumulate(self.lengths, initial=0))
        view = memoryview(self.contents)
        return EncodedSessions(
            [self.hashes[number] for number in chosen],
            [self.n_chars[number] for number in chosen],
            list(accumulate((turn.stop - turn.start for turn in turns), initial=0)),
            [role for turn in turns for role in self.roles[turn]],
            [length for turn in turns for length in self.lengths[turn]],
            b"".join([view[ends[turn.start] : ends[turn.stop]] for turn in turns]),
        )


def encode(sizes: Sequence[int], roles: Sequence[str], contents: Sequence[str]) -> EncodedSessions:
    """Sessions from their numbers of turns, and the roles and the contents of all turns.

    Raises:
        UnicodeEncodeError: a text holds a lone surrogate, which no encoding can carry.
    """
    # Text by text: one character beyond Latin-1 makes all that is joined with it several times as slow to encode.
    encoded = list(map(str.encode, contents))
    lengths = list(map(len, encoded))
    joined = b"".join(encoded)
    bounds = list(accumulate(sizes, initial=0))
    characters = list(accumulate(map(len, contents), initial=0))
    ends = list(accumulate(lengths, initial=0))
    numbers, text = memoryview(_numbers(lengths)), memoryview(joined)
    hashes = []
    known: dict[str, str] = {}
    for first, last in pairwise(bounds):
        digest = hashlib.sha256(_head(tuple(roles[first:last])))
        digest.update(numbers[8 * first : 8 * last])
        digest.update(text[ends[first] : ends[last]])
        # One object a text: a haystack of a million empty sessions is one of a million references.
        name = digest.hexdigest()
        hashes.append(known.setdefault(name, name))
    n_chars = [characters[last] - characters[first] for first, last in pairwise(bounds)]
    return EncodedSessions(hashes, n_chars, bounds, list(roles), lengths, joined)


def content_hash(turns: Sequence[Turn]) -> str:
    """Sha256 (hex) of roles and texts in order.

    What is hashed is the number of turns, the numbers of bytes of their roles, all roles, the numbers of bytes of their
    contents, and all contents; texts in UTF-8, numbers as eight bytes, the least significant first. It can be read back
    in one way only: sessions share a hash only if roles and texts agree.

    Raises:
        UnicodeEncodeError: a text holds a lone surrogate, which no encoding can carry.
    """
    roles, contents = zip(*turns, strict=True) if turns else ((), ())
    return encode([len(turns)], roles, contents).hashes[0]


def session_key(content: str, date: datetime | None) -> str:
    """Sha256 (hex) of a content hash and a date: the same session at the same moment, whatever its source calls it.

    Raises:
        ValueError: the date has no zone, so it names no moment.
    """
    return hashlib.sha256(f"{content} {_moment(date)}".encode()).hexdigest()


@lru_cache(maxsize=1 << 12)
def _head(roles: tuple[str, ...]) -> bytes:
    names = list(map(str.encode, roles))
    return struct.pack(f"<Q{len(names)}Q", len(names), *map(len, names)) + b"".join(names)


def _numbers(values: Sequence[int]) -> bytes:
    numbers = array("Q", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


@lru_cache(maxsize=1 << 12)
def _moment(date: datetime | None) -> str:
    if date is None:
        return ""
    if date.tzinfo is None:
        raise ValueError(f"a session's date needs a zone: {date}")
    return date.astimezone(UTC).isoformat(timespec="microseconds")
