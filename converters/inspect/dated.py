"""LongMemEval's records with their dates as the source writes them, weekdays included."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from converters.array import array_objects
from converters.errors import BadInput
from converters.longmemeval_problem import RecordProblem
from converters.longmemeval_record import FIELDS, Record, parse_record, sound_record
from converters.source import SourceReader


class DatedRecord(NamedTuple):
    """A record, and its question_date and haystack_dates as text."""

    record: Record
    date_texts: list[str]


class _Dates(msgspec.Struct, gc=False):
    question_date: str
    haystack_dates: list[str]


_DECODER = msgspec.json.Decoder(_Dates)


def dated_records(reader: SourceReader) -> Iterator[DatedRecord]:
    """As ``converters.longmemeval.read_records``, with what it does not keep.

    Raises:
        BadInput: as there.
    """
    seen: dict[str, int] = {}
    for number, value in enumerate(chain.from_iterable(array_objects(reader, FIELDS, _fast)), 1):
        try:
            dated = value if isinstance(value, DatedRecord) else _slow(value)
            first = seen.setdefault(dated.record.question_id, number)
            if first != number:
                raise RecordProblem(
                    "question_id", f"is the question_id of record {first} too", "give each question its own"
                )
        except RecordProblem as error:
            raise BadInput(
                reader.path, error.problem, error.remedy, record=_name(number, value), field=error.field
            ) from None
        yield dated
    if not seen:
        raise BadInput(reader.path, "is an array without records", "fetch the file again")


def _fast(text: bytes) -> DatedRecord:
    record = sound_record(text)
    dates = _DECODER.decode(text)
    return DatedRecord(record, [dates.question_date, *dates.haystack_dates])


def _slow(value: Any) -> DatedRecord:
    record = parse_record(value)
    return DatedRecord(record, [value["question_date"], *value["haystack_dates"]])


def _name(number: int, value: object) -> str:
    if isinstance(value, DatedRecord):
        value = {"question_id": value.record.question_id}
    question_id = value.get("question_id") if isinstance(value, dict) else None
    if not isinstance(question_id, str) or not question_id:
        return f"record {number}"
    return f"record {number} ({question_id if question_id.isprintable() else ascii(question_id)})"
