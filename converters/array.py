"""The objects of a JSON file that is one array, one or a few at a time, whatever the length of the file.

An event parser builds such objects in constant memory; this does so in a third of its time, by cutting the stream where
an object of an array ends and another begins, and giving the pieces to a parser of whole texts. An object is known to
begin by its first key. The cut is safe: within a string, the quote of that key would end the string, and what follows
would not be JSON. Where an object begins with another key, a piece holds the one before it too; where a nested object
begins with such a key, a piece ends too early, which the parser notices, and the next piece is joined to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Final, TypeAlias

from converters.errors import BadInput
from converters.source import SourceReader

_READ_BYTES: Final = 1 << 19
_PIECE_BYTES: Final = 1 << 28
# How much of a cut may lie before a read's border. One that is missed leaves two objects in a piece, no more.
_OVERLAP_BYTES: Final = 1 << 10
# Objects that do not begin alike gather up to this size before they are looked at key by key.
_ALIKE_BYTES: Final = 1 << 24
_BETWEEN: Final = re.compile(rb"\}\s*(,)\s*\{\s*\Z")
_FIRST_KEY: Final = re.compile(rb'\s*\{\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_CUT_OFF: Final = "EOF while parsing"
_FETCH_AGAIN: Final = "fetch it again"

Text: TypeAlias = bytearray | memoryview
"""What a parser is given; it must keep no part of it."""


def array_objects(
    reader: SourceReader, first_keys: Collection[str], fast: Callable[[Text], object] | None = None
) -> Iterator[list[object]]:
    """The elements in order, in lists of one or a few; nothing for an empty array.

    Args:
        reader: an open source. A lone surrogate that it lets through is let through here.
        first_keys: keys that the objects may begin with; the one that the first object begins with is added.
        fast: is tried on the text of what is nearly always one object; where it raises ``ValueError``, the text is
            parsed here.

    Raises:
        BadInput: the file is not a JSON array, is cut off, is not UTF-8 or not JSON; names the element by number.
    """
    number = 1
    held = bytearray()
    for cut, last in _pieces(reader, first_keys):
        text: Text = held + cut if held else cut
        del cut
        try:
            elements = _parse(text, last, fast)
        except ValueError as error:
            if _CUT_OFF in str(error) and not last and len(text) < _PIECE_BYTES:
                held = bytearray(text) + b","
                continue
            problem, remedy = _diagnosis(error, text)
            raise BadInput(reader.path, problem, remedy, record=f"record {number}") from None
        # A record may be a good part of the memory there is: its text need not stay while it is used.
        del text
        held = bytearray()
        yield elements
        number += len(elements)


def _pieces(reader: SourceReader, first_keys: Collection[str]) -> Iterator[tuple[Text, bool]]:
    """The text after the opening bracket, without the commas at the cuts, and which piece is the last.

    A piece lasts until the next: to copy each takes as long as to parse it.
    """
    data = _after_bracket(reader)
    first = _FIRST_KEY.match(data)
    keys = {re.escape(key.encode()) for key in first_keys} | ({re.escape(first[1])} if first else set())
    any_cut = re.compile(rb'\}\s*(,)\s*\{\s*"(?:' + b"|".join(sorted(keys)) + rb')"\s*:')
    key = b'"%b"' % first[1] if first else None
    first = None
    searched = 0
    while True:
        begin = 0
        # Nearly always objects begin alike, and one key is found at several times the speed of a choice of keys.
        alike = _commas(data, key, searched) if key and len(data) < _ALIKE_BYTES else None
        for comma in [match.start(1) for match in any_cut.finditer(data, searched)] if alike is None else alike:
            with memoryview(data) as whole, whole[begin:comma] as piece:
                yield piece, False
            begin = comma + 1
        del data[:begin]
        if len(data) > _PIECE_BYTES:
            problem = f"holds a record longer than {_PIECE_BYTES >> 20} MiB"
            raise BadInput(reader.path, problem, "look for a missing quote or bracket, or split the record")
        searched = max(0, len(data) - _OVERLAP_BYTES)
        more = reader.read(_READ_BYTES)
        if not more:
            # Handed over, not shared: see array_objects.
            rest = [data]
            del data
            yield rest.pop(), True
            return
        data += more


def _commas(data: bytearray, key: bytes, start: int) -> list[int]:
    """Where an object ends and one that begins with ``key`` follows: the commas between them."""
    found = []
    position = data.find(key, start)
    while position != -1:
        match = _BETWEEN.search(data, max(start, position - _OVERLAP_BYTES), position)
        if match:
            found.append(match.start(1))
        position = data.find(key, position + 1)
    return found


def _after_bracket(reader: SourceReader) -> bytearray:
    data = bytearray()
    while not data:
        data += reader.read(_READ_BYTES)
        if not data:
            raise BadInput(reader.path, "holds nothing but white space", _FETCH_AGAIN)
        data = data.lstrip()
    if data[:1] != b"[":
        problem = f"is not a JSON array of records: it begins with {chr(data[0])!a}"
        raise BadInput(reader.path, problem, "give a LongMemEval file, plain or gzipped")
    return data[1:]


def _parse(text: Text, last: bool, fast: Callable[[Text], object] | None) -> list[object]:
    alone = True
    if last:
        assert isinstance(text, bytearray)
        # In place: the last record may be the only one, and large.
        while text and text[-1:].isspace():
            text.pop()
        alone = text[-1:] == b"]"
        if alone:
            text.pop()
    if alone:
        # Nearly always one object, which needs no brackets around it and so no copy.
        for parse in (fast, _general):
            with suppress(ValueError, RecursionError):
                if parse is not None:
                    return [parse(text)]
    from pydantic_core import from_json

    whole = b"".join((b"[", text, b"]" if alone else b""))
    try:
        elements: list[object] = from_json(whole, cache_strings="keys")
    except ValueError as error:
        if _CUT_OFF in str(error):
            raise
        # The stricter parser refuses lone surrogates, naming no field; this one lets them through to the fields' check.
        try:
            elements = json.loads(whole.decode())
        except (ValueError, RecursionError):
            raise error from None
    return elements


def _general(text: Text) -> object:
    from pydantic_core import from_json

    return from_json(text if isinstance(text, bytearray) else bytes(text), cache_strings="keys")


def _diagnosis(error: ValueError, text: Text) -> tuple[str, str]:
    """What the parser's message means for the reader of ours."""
    said = str(error).split(" at line")[0]
    if _CUT_OFF in said:
        return "ends in the middle", f"{_FETCH_AGAIN}: the file is cut off"
    if said.startswith("trailing characters"):
        return "the file goes on after the end of the array", "remove what follows the last ]"
    try:
        bytes(text).decode()
    except UnicodeDecodeError:
        return "is not UTF-8", f"save it as UTF-8, or {_FETCH_AGAIN}"
    return f"is not JSON ({said})", f"mend it, or {_FETCH_AGAIN}"
