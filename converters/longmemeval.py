"""LongMemEval's JSON, read record by record: a record or two in memory at a time, however large the file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from converters.array import array_objects
from converters.errors import BadInput
from converters.longmemeval_problem import RecordProblem
from converters.longmemeval_record import FIELDS, Record, parse_record, sound_record
from converters.source import SourceReader, open_source


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
    seen: dict[str, int] = {}
    elements = chain.from_iterable(array_objects(reader, FIELDS, sound_record))
    for number, value in enumerate(elements, 1):
        try:
            record = value if isinstance(value, Record) else parse_record(value)
            first = seen.setdefault(record.question_id, number)
            if first != number:
                problem = f"is the question_id of record {first} too"
                raise RecordProblem("question_id", problem, "give each question its own")
        except RecordProblem as error:
            raise BadInput(
                reader.path, error.problem, error.remedy, record=_name(number, value), field=error.field
            ) from None
        yield record
    if not seen:
        raise BadInput(reader.path, "is an array without records", "fetch the file again")


def _name(number: int, value: object) -> str:
    if isinstance(value, Record):
        value = {"question_id": value.question_id}
    question_id = value.get("question_id") if isinstance(value, dict) else None
    if not isinstance(question_id, str) or not question_id:
        return f"record {number}"
    return f"record {number} ({question_id if question_id.isprintable() else ascii(question_id)})"
