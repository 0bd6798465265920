"""LongMemEval's JSON, written record by record as the published files are: one array, indented by 4, pure ASCII."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, NotRequired, Self, TypedDict

from msgspec import UNSET

from converters.longmemeval_record import Turn

_INDENT: Final = 4
_BREAK: Final = "\n" + " " * _INDENT


class PublishedTurn(TypedDict):
    """A turn, as published; has_answer is on every turn of an evidence session and on no other."""

    role: str
    content: str
    has_answer: NotRequired[bool]


class PublishedRecord(TypedDict):
    """A record, as published, in the order of the published oracle file's keys. Dates: ``converters.dates``."""

    question_id: str
    question_type: str
    question: str
    answer: str | int
    question_date: str
    haystack_dates: Sequence[str]
    haystack_session_ids: Sequence[str]
    haystack_sessions: Sequence[Sequence[PublishedTurn]]
    answer_session_ids: Sequence[str]


def published_turn(turn: Turn) -> PublishedTurn:
    """A turn that was read, to be written; without has_answer where the source says nothing of it."""
    if turn.has_answer is UNSET:
        return {"role": turn.role, "content": turn.content}
    return {"role": turn.role, "content": turn.content, "has_answer": turn.has_answer is True}


class RecordsWriter:
    """Writes records to a file, one after the other: the bytes of ``json.dumps(records, indent=4)``.

    Attributes:
        n_records: written so far.
        n_bytes: written so far.
        sha256: hex digest of the file, once the ``with`` block has ended.
    """

    def __init__(self, path: Path) -> None:
        self.n_records = 0
        self.n_bytes = 0
        self.sha256 = ""
        self._digest = hashlib.sha256()
        self._file = path.open("wb")

    def add(self, record: PublishedRecord) -> None:
        """Add a record."""
        # JSON has line breaks between its tokens only, never in a text.
        text = json.dumps(record, indent=_INDENT).replace("\n", _BREAK)
        self._write(("[" if self.n_records == 0 else ",") + _BREAK + text)
        self.n_records += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with self._file:
            if kind is None:
                self._write("\n]" if self.n_records else "[]")
                self._file.flush()
                os.fsync(self._file.fileno())
        self.sha256 = self._digest.hexdigest()

    def _write(self, text: str) -> None:
        data = text.encode("ascii")
        self._digest.update(data)
        self._file.write(data)
        self.n_bytes += len(data)
