"""What is known of a questions file before it is written from: its evidence, and which of its questions are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from converters.compose.evidence import Evidence
from converters.fixture.sample import select
from converters.longmemeval import read_records
from converters.source import SourceFingerprint, open_source
from converters.tables import BASE_OVERLAY, CORPUS


@dataclass(frozen=True)
class Chosen:
    """Questions to compose for.

    Attributes:
        ids: of the wanted questions.
        words: which of the file's they are.
        evidence: of all the file's questions, wanted or not: what filler must not tell.
        source: which bytes the file holds.
    """

    ids: frozenset[str]
    words: str
    evidence: Evidence
    source: SourceFingerprint


def choose(
    path: Path, *, types: Sequence[str], limit: int | None, seed: int, progress: Callable[[int], None] | None = None
) -> Chosen:
    """Read a questions file once.

    Args:
        path: LongMemEval, plain or gzipped.
        types: see ``converters.fixture.sample.select``; so are limit and seed.
        limit: at most so many questions.
        seed: which of them.
        progress: told how many bytes of the file are read.

    Raises:
        BadInput: see ``converters.longmemeval.read_records`` and ``converters.fixture.sample.select``.
    """
    evidence = Evidence()
    rows = []
    with open_source(path, progress, mark_surrogates=False) as reader:
        for ordinal, record in enumerate(read_records(reader)):
            evidence.add(record)
            rows.append((record.question_id, ordinal, record.question_type, record.is_abstention))
        source = reader.fingerprint()
    columns = ("question_id", "ordinal", "question_type", "is_abstention")
    frame = pl.DataFrame(rows, schema=columns, orient="row").cast({"ordinal": pl.UInt32})
    questions = frame.select("question_id", "ordinal", haystack_id="question_id")
    truth = frame.select("question_id", "question_type", "is_abstention", overlay=pl.lit(BASE_OVERLAY))
    tables = {name: table.empty for name, table in CORPUS.items()} | {"questions": questions, "ground_truth": truth}
    selection = select(tables, types=types, limit=limit, seed=seed)
    return Chosen(frozenset(selection.tables["questions"]["question_id"]), selection.words, evidence, source)
