"""Made LongMemEval records and files, for tests."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl

from converters.conversion import Conversion
from converters.convert import convert_corpus
from converters.corpus import read_corpus

MORNING = "2023/05/20 (Sat) 08:05"
NOON = "2023/05/20 (Sat) 12:00"
EVENING = "2023/05/20 (Sat) 20:41"


def turn(role: str, content: str, has_answer: bool | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"role": role, "content": content}
    return made if has_answer is None else {**made, "has_answer": has_answer}


def record(question_id: str = "q1", **fields: Any) -> dict[str, Any]:
    """A sound record with one filler session and one evidence session; ``fields`` replace its own."""
    return {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "Where do I live?",
        "answer": "Oslo",
        "question_date": EVENING,
        "haystack_dates": [MORNING, NOON],
        "haystack_session_ids": ["sharegpt_1", "answer_1"],
        "haystack_sessions": [
            [turn("user", "Tell me of owls."), turn("assistant", "They fly.")],
            [turn("user", "I moved to Oslo.", True), turn("assistant", "Nice.", False)],
        ],
        "answer_session_ids": ["answer_1"],
        **fields,
    }


def write(path: Path, *records: Any, **options: Any) -> Path:
    path.write_text(json.dumps(list(records), **options), encoding="utf-8")
    return path


def write_gzip(path: Path, *records: Any) -> Path:
    path.write_bytes(gzip.compress(json.dumps(list(records)).encode()))
    return path


def convert(folder: Path, *records: Any) -> tuple[Conversion, dict[str, pl.DataFrame]]:
    """Write, convert, and read back."""
    source = write(folder / "source.json", *records)
    conversion = convert_corpus(source, "longmemeval", folder / "corpus")
    return conversion, dict(read_corpus(folder / "corpus"))
