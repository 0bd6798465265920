"""LongMemEval's retrieval log: a line a question; see ``converters.formats.retrieval_log`` for the format's source."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from converters.results.lines import bad_line, decode, lines, shown

LOG_SCHEMA: Final = pl.Schema(
    {
        "question_id": pl.String(),
        "rank": pl.UInt32(),
        "corpus_id": pl.String(),
        "text": pl.String(),
        "timestamp": pl.String(),
    }
)


class _Item(msgspec.Struct, gc=False):
    corpus_id: str
    text: str | None = None
    timestamp: str | None = None


class _Results(msgspec.Struct, gc=False):
    ranked_items: list[_Item]


class _Line(msgspec.Struct, gc=False):
    question_id: str
    retrieval_results: _Results


_DECODER: Final = msgspec.json.Decoder(_Line)


def read_retrieval_log(path: Path) -> pl.DataFrame:
    """A log: question_id, rank (from 1), corpus_id, text, timestamp; in the order of the file.

    Corpus ids stay as they are: a session's id, or that and ``_`` and the number of a turn from 1; LongMemEval's script
    writes ``noans`` for ``answer`` in those without a marked turn of the user's (``source_id`` turns that back). One
    may come several times. Text and timestamp (as LongMemEval writes dates) are null where a tool leaves them out. A
    question without items has one row, its other columns null.

    Raises:
        BadInput: the file cannot be read or is empty, a line is not such an object, or a question has a line already:
            names the line and the field.
    """
    seen: dict[str, int] = {}
    columns: dict[str, list[object]] = {name: [] for name in LOG_SCHEMA}
    for number, line in lines(path):
        found = decode(path, number, line, _DECODER)
        first = seen.setdefault(found.question_id, number)
        if first != number:
            problem = f"{shown(found.question_id)} is the question of line {first} too"
            raise bad_line(path, number, problem, "keep one of the two lines", field="question_id")
        items = found.retrieval_results.ranked_items
        for rank, item in enumerate(items, 1):
            _add(columns, found.question_id, rank, item.corpus_id, item.text, item.timestamp)
        if not items:
            _add(columns, found.question_id, None, None, None, None)
    return pl.DataFrame(columns, schema=LOG_SCHEMA)


def source_id(corpus_id: str) -> str:
    """The source's id of what a corpus id names: ``noans`` is ``answer`` again, as in ``run_generation.py``."""
    return corpus_id.replace("noans_", "answer_")


def _add(columns: dict[str, list[object]], *row: object) -> None:
    for values, value in zip(columns.values(), row, strict=True):
        values.append(value)
