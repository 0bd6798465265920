"""LongMemEval's records with their dates as the source writes them, weekdays included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from converters.array import Text
from converters.longmemeval import read_as
from converters.longmemeval_record import Record, parse_record, sound_record
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
    return read_as(DatedRecord, reader, fast=_fast, slow=_slow, question_id=lambda dated: dated.record.question_id)


def _fast(text: Text) -> DatedRecord:
    record = sound_record(text)
    dates = _DECODER.decode(text)
    return DatedRecord(record, [dates.question_date, *dates.haystack_dates])


def _slow(value: Any) -> DatedRecord:
    record = parse_record(value)
    return DatedRecord(record, [value["question_date"], *value["haystack_dates"]])
