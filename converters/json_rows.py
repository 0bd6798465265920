"""The objects of a JSON array or of JSON lines, as they are written.

``datasets`` reads both as well, but not as they are: a text becomes a timestamp where all of a column look like one,
and where a column holds numbers and texts (LongMemEval's answers), or some turns have a field that others lack, values
come as JSON within a text, or do not, as the file's form and length have it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from converters.array import array_objects
from converters.checked import shown
from converters.errors import BadInput
from converters.source import SourceReader, open_source

_READ_BYTES: Final = 1 << 19


def read_json_rows(path: Path, *, lines: bool) -> Iterator[Mapping[str, Any]]:
    """The objects in order, one or a few in memory at a time.

    Args:
        path: plain or gzipped.
        lines: whether each line is an object, or the file one array of them. Lines end with a line feed alone; blank
            ones are passed over.

    Raises:
        BadInput: it is not JSON of this form; names the record by number, or the line.
    """
    with open_source(path, mark_surrogates=False) as reader:
        values = _lines(reader) if lines else chain.from_iterable(array_objects(reader, ()))
        for number, value in enumerate(values, 1):
            if not isinstance(value, dict):
                problem = f"is not an object but {shown(value)}"
                raise BadInput(path, problem, "give each question an object", record=f"record {number}")
            yield value


def _lines(reader: SourceReader) -> Iterator[object]:
    for number, line in enumerate(_split(reader), 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except UnicodeDecodeError:
            raise BadInput(reader.path, "is not UTF-8", "save it as UTF-8", record=f"line {number}") from None
        except (ValueError, RecursionError) as error:
            remedy = "put each object on a line of its own, or give an array"
            raise BadInput(reader.path, f"is not JSON ({error})", remedy, record=f"line {number}") from None


def _split(reader: SourceReader) -> Iterator[bytes]:
    held: list[bytes] = []
    while data := reader.read(_READ_BYTES):
        first, *rest = data.split(b"\n")
        held.append(first)
        for piece in rest:
            yield b"".join(held)
            held = [piece]
    yield b"".join(held)
