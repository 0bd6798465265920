"""A TREC run: ``qid Q0 docid rank score tag`` a line.

Source of the format: trec_eval's README and form_res_rels.c.
"""

from __future__ import annotations

import math
import re
from array import array
from pathlib import Path
from typing import Final

import polars as pl

from converters.formats.ids import decode_id
from converters.results.lines import bad_line, lines, shown

RUN_SCHEMA: Final = pl.Schema(
    {"question_id": pl.String(), "doc_id": pl.String(), "rank": pl.UInt32(), "score": pl.Float64()}
)
_COLUMNS: Final = 6
# Not all that float() takes: 1_000 and infinity are no scores.
_NUMBER: Final = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER: Final = re.compile(rb"[+-]?\d+", re.ASCII)


def read_trec_run(path: Path) -> pl.DataFrame:
    """A run: question_id, doc_id, rank (from 1), score; questions in the order of the file, best document first.

    Ids are percent-decoded (see ``converters.formats.ids``). The rank is trec_eval's, whatever the file says: by score,
    higher first, as trec_eval keeps it (in single precision); where scores are equal, by document id as the file
    writes it, later ones first.

    Raises:
        BadInput: the file cannot be read or is empty; a line has other columns, a rank or score that is no finite
            number, an id that is not UTF-8, or a document that the question has already: names the line.
    """
    seen: dict[tuple[str, str], int] = {}
    written: list[bytes] = []
    scores = array("d")
    for number, line in lines(path):
        # At ASCII white space alone, as trec_eval: an id may hold other kinds.
        columns = line.split()
        if len(columns) != _COLUMNS:
            problem = f"has {len(columns)} columns, not {_COLUMNS}"
            raise bad_line(path, number, problem, "write: question Q0 document rank score tag")
        question, _, document, rank, score, _ = columns
        if not _INTEGER.fullmatch(rank):
            raise bad_line(path, number, f"{_text(rank)} is not an integer", "write a number", field="rank")
        value = float(score) if _NUMBER.fullmatch(score) else math.nan
        if not math.isfinite(value):
            raise bad_line(path, number, f"{_text(score)} is not a finite number", "write a number", field="score")
        key = (_id(path, number, "question", question), _id(path, number, "document", document))
        first = seen.setdefault(key, number)
        if first != number:
            problem = f"question {shown(key[0])} has document {shown(key[1])} in line {first} already"
            raise bad_line(path, number, problem, "keep one of the two lines")
        written.append(document)
        scores.append(value)
    frame = pl.DataFrame(
        {
            "question_id": [question for question, _ in seen],
            "doc_id": [document for _, document in seen],
            "score": pl.Series(scores, dtype=pl.Float64),
            "written": pl.Series(written, dtype=pl.Binary),
        }
    )
    places = frame.select("question_id").unique(maintain_order=True).with_row_index("place")
    return (
        frame.join(places, on="question_id", how="left")
        .sort("place", pl.col("score").cast(pl.Float32), "written", descending=[False, True, True])
        .with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.UInt32).over("question_id"))
        .select(RUN_SCHEMA.names())
    )


def _id(path: Path, number: int, field: str, data: bytes) -> str:
    try:
        return decode_id(data.decode())
    except UnicodeDecodeError:
        problem = f"{_text(data)} is not UTF-8, percent-encoded or plain"
        raise bad_line(path, number, problem, "write it as UTF-8", field=field) from None


def _text(data: bytes) -> str:
    return shown(data.decode(errors="backslashreplace"))
