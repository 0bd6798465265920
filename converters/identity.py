"""What makes a session the same session: its text, and its text on a date."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeAlias

Turn: TypeAlias = tuple[str, str]
"""Role and content."""


def content_hash(turns: Sequence[Turn]) -> str:
    """Sha256 (hex) of roles and texts in order.

    What is hashed is a JSON list of the numbers of characters of each role and then of each content, all roles, and all
    contents, in UTF-8. It can be read back in one way only: sessions share a hash only if roles and texts agree.

    Raises:
        UnicodeEncodeError: a text holds a lone surrogate, which no encoding can carry.
    """
    roles, contents = zip(*turns, strict=True) if turns else ((), ())
    return columns_hash(roles, contents)


def columns_hash(roles: Sequence[str], contents: Sequence[str]) -> str:
    """As ``content_hash``, of all roles and all contents of a session apart."""
    lengths = str([*map(len, roles), *map(len, contents)])
    # Text by text: an encoding of all of them at once would leave the processor's cache, at half the speed.
    return hashlib.sha256(b"".join(map(str.encode, (lengths, *roles, *contents)))).hexdigest()


def session_key(content: str, date: datetime | None) -> str:
    """Sha256 (hex) of a content hash and a date: the same session at the same moment, whatever its source calls it.

    Raises:
        ValueError: the date has no zone, so it names no moment.
    """
    if date is not None and date.tzinfo is None:
        raise ValueError(f"a session's date needs a zone: {date}")
    moment = "" if date is None else date.astimezone(UTC).isoformat(timespec="microseconds")
    return hashlib.sha256(f"{content} {moment}".encode()).hexdigest()
