"""The lines of a result file, plain or gzipped, one at a time, and what is said of one that cannot be used."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from converters.errors import BadInput
from converters.source import open_source

_READ_BYTES: Final = 1 << 18
# For instance: Expected `str`, got `int` - at `$.retrieval_results.ranked_items[...].corpus_id`
_AT: Final = re.compile(r" - at `\$\.?(.*)`$")
_SHOWN: Final = 60
_SHAPE: Final = "write one JSON object a line"

T = TypeVar("T", bound=msgspec.Struct)


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    r"""Each line that is not blank, with its number from 1. Lines end at ``\n`` alone: others stand in texts.

    Raises:
        BadInput: the file cannot be read, is empty or holds blank lines alone.
    """
    seen = False
    with open_source(path, mark_surrogates=False) as reader:
        for number, line in enumerate(_split(reader.read), 1):
            if line.strip():
                seen = True
                yield number, line
    if not seen:
        raise BadInput(path, "holds no line", "give the file of a run that found something")


def decode(path: Path, number: int, line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """The object on a line of JSON.

    Raises:
        BadInput: it is no JSON, or not the object that was asked for: names line and field.
    """
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        at = _AT.search(str(error))
        problem = _AT.sub("", str(error)).replace("`", "")
        problem = problem.replace("Expected", "should be").replace("Object missing required field", "lacks the field")
        remedy = _SHAPE if problem.startswith("should be object") and at is None else "mend the line"
        raise bad_line(path, number, problem, remedy, field=(at and at[1]) or None) from None
    except msgspec.DecodeError as error:
        raise bad_line(path, number, *_why(line, str(error))) from None
    except RecursionError:
        raise bad_line(path, number, "is nested too deeply", _SHAPE) from None


def bad_line(path: Path, number: int, problem: str, remedy: str, *, field: str | None = None) -> BadInput:
    """The error about a line."""
    return BadInput(path, problem, remedy, record=f"line {number}", field=field)


def shown(text: str) -> str:
    """A value of a file in a message: quoted, in ASCII, not too long."""
    quoted = ascii(text)
    return quoted if len(quoted) <= _SHOWN else f"{quoted[:_SHOWN]}...'"


def _why(line: bytes, error: str) -> tuple[str, str]:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return f"is not JSON ({error})", _SHAPE
    # What one parser reads and the other does not.
    return "holds a lone surrogate (\\ud800 to \\udfff)", "take it out"


def _split(read: Callable[[int], bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    while piece := read(_READ_BYTES):
        first, *rest = piece.split(b"\n")
        held.append(first)
        if rest:
            yield b"".join(held)
            yield from rest[:-1]
            held = [rest[-1]]
    yield b"".join(held)
