"""JSON objects wherever they stand in a reply: alone, in a code fence, in prose, or cut off at its end."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any, Final

from judges.judging.verdict import Unreadable

CUT: Final = object()
"""The value of a field at which the reply ends, before one can say what it is."""
TRIES: Final = 200
"""Places at which an object may begin; a reply with more is damaged, and would take long."""
_LITERAL: Final = 20_000
"""Characters of an object in Python's notation that are looked at."""


@dataclass(frozen=True)
class Found:
    """An object, and where in the text it begins and ends."""

    fields: dict[str, Any]
    start: int
    end: int


def objects_in(text: str) -> list[Found]:
    """The outermost objects of a text, in order.

    The last one may be cut: it has the fields that are whole, and ``CUT`` for one whose value is not. Python's notation
    of a dictionary is taken too. Braces that hold neither are passed over.

    Raises:
        Unreadable: an object has a field twice with different values, or is nested without end; or there are more than
            ``TRIES`` braces that open something.
    """
    found: list[Found] = []
    at = text.find("{")
    tries = 0
    while at >= 0:
        tries += 1
        if tries > TRIES:
            raise Unreadable("too many braces")
        one = _whole(text, at) or _literal(text, at) or _cut(text, at)
        if one is not None:
            found.append(one)
        at = text.find("{", one.end if one is not None else at + 1)
    return found


def decode(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that begins at a place, and where it ends.

    Raises:
        ValueError: there is none.
        Unreadable: see ``objects_in``.
    """
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError:
        raise Unreadable("JSON that is nested too deeply") from None
    return value, end


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if any(fields[key] != value for key, value in pairs):
        raise Unreadable("a field stands twice in the JSON, with different values")
    return fields


# Not strict: models write line breaks into strings.
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)


def _whole(text: str, at: int) -> Found | None:
    try:
        value, end = decode(text, at)
    except ValueError:
        return None
    return Found(value, at, end)


def _literal(text: str, at: int) -> Found | None:
    end = text.find("}", at, at + _LITERAL) + 1
    if not end:
        return None
    try:
        value = ast.literal_eval(text[at:end])
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        return None
    return Found(value, at, end)


def _cut(text: str, at: int) -> Found | None:
    """The object that the end of the text cuts; None where something else than the end keeps it from being read."""
    pairs: list[tuple[str, Any]] = []
    cut = Found({}, at, len(text))
    at = _skip(text, at + 1)
    while at < len(text):
        try:
            key, at = decode(text, at)
        except ValueError as error:
            return Found(_pairs(pairs), cut.start, cut.end) if _ends_inside(text, at, error) else None
        at = _skip(text, at)
        if not isinstance(key, str) or text[at : at + 1] not in {":", ""}:
            return None
        at = _skip(text, at + 1)
        try:
            value, end = decode(text, at) if at < len(text) else (CUT, at)
        except ValueError as error:
            if not _ends_inside(text, at, error):
                return None
            value, end = CUT, len(text)
        # The digits that follow may be missing.
        if end == len(text) and isinstance(value, int | float) and not isinstance(value, bool):
            value = CUT
        pairs.append((key, value))
        at = _skip(text, end)
        if at < len(text) and text[at] != ",":
            return None
        at = _skip(text, at + 1)
    return Found(_pairs(pairs), cut.start, cut.end)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _ends_inside(text: str, at: int, error: ValueError) -> bool:
    """Whether a value cannot be read because the text ends in it."""
    if isinstance(error, JSONDecodeError) and error.msg.startswith("Unterminated string"):
        return True
    rest = text[at:]
    return rest[:1] in {"{", "["} or any(word.startswith(rest) for word in ("true", "false", "null", "-"))
