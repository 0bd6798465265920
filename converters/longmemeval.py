"""LongMemEval's JSON, read record by record: a record or two in memory at a time, however large the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from converters.array import Text, array_objects
from converters.errors import BadInput
from converters.longmemeval_record import FIELDS, Record, parse_record, sound_record
from converters.record_problem import RecordProblem
from converters.source import SourceReader, open_source

Kind = TypeVar("Kind")


def read_longmemeval(path: Path) -> Iterator[Record]:
    """The records of a file, plain or gzipped, in its order.

    Keys may come in any order; others than LongMemEval's are ignored.

    Raises:
        BadInput: the file cannot be read, is not a JSON array of records, or a record is not as it should be: names
            the record by number (from 1) and question_id, and the field. Records before it have been yielded.
    """
    with open_source(path, mark_surrogates=False) as reader:
        yield from read_records(reader)


def read_records(reader: SourceReader) -> Iterator[Record]:
    """As ``read_longmemeval``, from a source opened without marks; its fingerprint is complete afterwards."""
    return read_as(Record, reader, fast=sound_record, slow=parse_record, question_id=lambda record: record.question_id)


def read_as(
    kind: type[Kind],
    reader: SourceReader,
    *,
    fast: Callable[[Text], Kind],
    slow: Callable[[Any], Kind],
    question_id: Callable[[Kind], str],
) -> Iterator[Kind]:
    """As ``read_records``, with what somebody else makes of a record.

    Args:
        kind: what is made.
        reader: a source opened without marks.
        fast: makes it from the text of a sound record; raises ``ValueError`` if something may be wrong with it.
        slow: makes it from an element of the array; raises ``RecordProblem``.
        question_id: its record's.
    """
    seen: dict[str, int] = {}
    for number, value in enumerate(chain.from_iterable(array_objects(reader, FIELDS, fast)), 1):
        try:
            made = value if isinstance(value, kind) else slow(value)
            first = seen.setdefault(question_id(made), number)
            if first != number:
                problem = f"is the question_id of record {first} too"
                raise RecordProblem("question_id", problem, "give each question its own")
        except RecordProblem as error:
            found = question_id(value) if isinstance(value, kind) else _question_id(value)
            raise BadInput(
                reader.path, error.problem, error.remedy, record=_name(number, found), field=error.field
            ) from None
        yield made
    if not seen:
        raise BadInput(reader.path, "is an array without records", "fetch the file again")


def _question_id(value: object) -> object:
    return value.get("question_id") if isinstance(value, dict) else None


def _name(number: int, question_id: object) -> str:
    if not isinstance(question_id, str) or not question_id:
        return f"record {number}"
    return f"record {number} ({question_id if question_id.isprintable() else ascii(question_id)})"
