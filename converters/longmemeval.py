"""LongMemEval's JSON, read record by record: one record in memory at a time, however large the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from converters.errors import BadInput
from converters.longmemeval_record import NUL_PROBLEM, Record, RecordProblem, parse_record
from converters.source import SourceReader, open_source

_READ_BYTES: Final = 1 << 18
_SURROGATE_PROBLEM: Final = "holds a lone surrogate (\\ud800 to \\udfff) or a NUL character"


def read_longmemeval(path: Path) -> Iterator[Record]:
    """The records of a file, plain or gzipped, in its order.

    Keys may come in any order; others than LongMemEval's are ignored.

    Raises:
        BadInput: the file cannot be read, is not a JSON array of records, or a record is not as it should be: names
            the record by number (from 1) and question_id, and the field. Records before it have been yielded.
    """
    with open_source(path) as reader:
        yield from read_records(reader)


def read_records(reader: SourceReader) -> Iterator[Record]:
    """As ``read_longmemeval``, from an open source; ``reader.fingerprint()`` is complete afterwards."""
    seen: dict[str, int] = {}
    number = 0
    for number, value in enumerate(_elements(reader), 1):
        try:
            record = parse_record(value)
        except RecordProblem as error:
            nul = error.problem == NUL_PROBLEM and reader.n_lone_surrogates
            problem = _SURROGATE_PROBLEM if nul else error.problem
            raise BadInput(reader.path, problem, error.remedy, record=_name(number, value), field=error.field) from None
        first = seen.setdefault(record.question_id, number)
        if first != number:
            raise BadInput(
                reader.path,
                f"is the question_id of record {first} too",
                "give each question its own",
                record=_name(number, value),
                field="question_id",
            )
        yield record
    if number == 0:
        raise BadInput(reader.path, "is an array without records", "fetch the file again")


def _name(number: int, value: object) -> str:
    question_id = value.get("question_id") if isinstance(value, dict) else None
    return f"record {number} ({question_id})" if isinstance(question_id, str) else f"record {number}"


def _elements(reader: SourceReader) -> Iterator[object]:
    import ijson

    number = 1
    try:
        for value in ijson.items(_Array(reader), "item", use_float=True, buf_size=_READ_BYTES):
            yield value
            number += 1
    except (ijson.JSONError, UnicodeDecodeError) as error:
        problem, remedy = _diagnosis(error)
        raise BadInput(reader.path, problem, remedy, record=f"record {number} or after") from None


class _Array:
    """Passes bytes on once it is certain that they begin an array: the parser would find no element in an object."""

    def __init__(self, reader: SourceReader) -> None:
        self._reader = reader
        self._begun = False

    def read(self, size: int) -> bytes:
        data = self._reader.read(size)
        if self._begun or not size:
            return data
        while data and not data.strip():
            data = self._reader.read(size)
        first = data.lstrip()[:1].decode("ascii", "backslashreplace")
        if not first:
            raise BadInput(self._reader.path, "holds nothing but blanks", "fetch it again")
        if first != "[":
            problem = f"is not a JSON array of records: it begins with {first}"
            raise BadInput(self._reader.path, problem, "give a LongMemEval file, plain or gzipped")
        self._begun = True
        return data


def _diagnosis(error: Exception) -> tuple[str, str]:
    """What a parser's message means for the reader of ours."""
    said = error.args[0] if error.args else ""
    first = (said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)).split("\n")[0]
    if "premature EOF" in first:
        return "ends in the middle of the array", "fetch it again: the file is cut off"
    if "UTF8" in first or isinstance(error, UnicodeDecodeError):
        return "is not UTF-8", "save it as UTF-8, or fetch it again"
    if "trailing garbage" in first:
        return "goes on after the end of the array", "remove what follows the last ]"
    if "overflow" in first:
        return "holds a number too large for 64 bits", "write it as text"
    return f"is not JSON ({first.split(': ', 1)[-1]})", "mend it, or fetch it again"
