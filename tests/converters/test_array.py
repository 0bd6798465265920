from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.array import array_objects
from converters.errors import BadInput
from converters.source import SourceReader

KEYS = ("id", "text")
STRINGS = st.one_of(st.text(max_size=5), st.sampled_from(['}, {"id": ', "} , {", '"', "\\", "[{", "}]"]))
LEAVES = st.one_of(STRINGS, st.integers(), st.none(), st.booleans())
# Nested objects that begin with the very keys at which the stream is cut.
NESTED = st.lists(st.dictionaries(st.sampled_from(["id", "text", "role"]), LEAVES, max_size=3), max_size=3)
OBJECTS = st.dictionaries(
    st.sampled_from(["id", "text", "other", '"']), st.one_of(LEAVES, NESTED), min_size=1, max_size=4
)


class _Pieces:
    """A reader of so many bytes at a time."""

    path = Path("source.json")

    def __init__(self, data: bytes, size: int) -> None:
        self._data, self._size = data, size

    def read(self, _: int) -> bytes:
        piece, self._data = self._data[: self._size], self._data[self._size :]
        return piece


def _read(data: bytes, size: int = 7) -> list[object]:
    return [item for piece in array_objects(cast("SourceReader", _Pieces(data, size)), KEYS) for item in piece]


@given(st.lists(OBJECTS, max_size=6), st.integers(1, 60), st.sampled_from([None, 1, 4]), st.booleans())
def test_as_a_parser_of_the_whole_file(objects: list[Any], size: int, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_only)
    if "\\ud" not in text or ascii_only:
        assert _read(text.encode("utf-8", "surrogatepass"), size) == json.loads(text)


def test_objects_come_one_at_a_time() -> None:
    data = json.dumps([{"id": number} for number in range(5)]).encode()
    pieces = list(array_objects(cast("SourceReader", _Pieces(data, 1 << 20)), KEYS))
    assert [len(piece) for piece in pieces] == [1] * 5


def test_the_key_that_the_first_begins_with_is_a_cut_too() -> None:
    data = json.dumps([{"_extra": 1, "id": number} for number in range(5)]).encode()
    pieces = list(array_objects(cast("SourceReader", _Pieces(data, 1 << 20)), KEYS))
    assert [len(piece) for piece in pieces] == [1] * 5


def test_lone_surrogates_are_let_through() -> None:
    assert _read(rb'[{"id": 1}, {"id": "\ud800"}]') == [{"id": 1}, {"id": "\ud800"}]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b" \n ", "holds nothing but white space; fetch it again"),
        (b'{"id": 1}', "is not a JSON array of records: it begins with '{'; give a LongMemEval file, plain or gzipped"),
        (b"[", "record 1: ends in the middle; fetch it again: the file is cut off"),
        (b'[{"id": 1}, {"id": 2', "record 2: ends in the middle; fetch it again: the file is cut off"),
        (b'[{"id": 1}, {"id": 2}', "record 2: ends in the middle; fetch it again: the file is cut off"),
        (b'[{"id": 1}] x', "record 1: the file goes on after the end of the array; remove what follows the last ]"),
        (b'[{"id": 1}, {"id": "\xff"}]', "record 2: is not UTF-8; save it as UTF-8, or fetch it again"),
        (b'[{"id": 1}, {"id": }, {"id": 3}]', "record 2: is not JSON (expected value); mend it, or fetch it again"),
        (b'[{"id": 1},]', "record 1: is not JSON (trailing comma); mend it, or fetch it again"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_what_is_no_array_of_objects_is_said_in_a_line(data: bytes, line: str, size: int) -> None:
    with pytest.raises(BadInput) as caught:
        _read(data, size)
    assert caught.value.line == f"source.json: {line}"


def test_a_record_without_an_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("converters.array._PIECE_BYTES", 1 << 20)
    data = b'[{"id": "' + b"x" * (3 << 20)
    with pytest.raises(BadInput, match="holds a record longer than 1 MiB; look for a missing quote or bracket"):
        _read(data, 1 << 18)
