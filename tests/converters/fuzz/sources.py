"""Sound sources of each format, small and with what is awkward in real ones, as trees and as bytes."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

_MARKER: Final = re.compile(rb"RAW[0-9]+RAW")
_DOUBLED: Final = re.compile(r"DUP(.*?)DUP")


def filled(data: bytes, raw: Mapping[str, bytes], *, quote: bytes) -> bytes:
    """Tokens in the places of their markers, and doubled keys by their names."""
    for marker, token in raw.items():
        quoted = quote + marker.encode() + quote
        data = data.replace(quoted, token).replace(marker.encode(), token)
    return re.sub(rb"DUP(.*?)DUP", rb"\1", data)


def json_bytes(tree: Any, raw: Mapping[str, bytes], rng: random.Random) -> bytes:
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1, 4]))
    return filled(text.encode("utf-8", "surrogatepass"), raw, quote=b'"')


def json_lines(tree: Any, raw: Mapping[str, bytes], rng: random.Random) -> bytes:
    rows = tree if isinstance(tree, list) else [tree]
    text = "".join(f"{json.dumps(row, ensure_ascii=rng.random() < 0.5)}\n" for row in rows)
    return filled(text.encode("utf-8", "surrogatepass"), raw, quote=b'"')


def csv_bytes(tree: Any, raw: Mapping[str, bytes], rng: random.Random) -> bytes:
    rows = [row if isinstance(row, dict) else {"question": row} for row in (tree if isinstance(tree, list) else [tree])]
    names = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerow([_DOUBLED.sub(r"\1", name) for name in names])
    for row in rows:
        writer.writerow([_cell(row.get(name, ""), raw) for name in names])
    return buffer.getvalue().encode("utf-8", "surrogateescape")


def _cell(value: Any, raw: Mapping[str, bytes]) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return filled(text.encode("utf-8", "surrogatepass"), raw, quote=b'"').decode("utf-8", "surrogateescape")


def parquet_bytes(tree: Any, raw: Mapping[str, bytes], rng: random.Random) -> bytes:
    rows = [row if isinstance(row, dict) else {"question": row} for row in (tree if isinstance(tree, list) else [tree])]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column([row.get(name) for row in rows], raw, rng) for name in names]
    labels = [_DOUBLED.sub(r"\1", name) for name in names]
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.Table.from_arrays(columns, names=labels), sink, compression=rng.choice(["none", "snappy", "zstd"])
    )
    return bytes(sink.getvalue())


def _column(values: list[Any], raw: Mapping[str, bytes], rng: random.Random) -> pa.Array:
    """As Arrow has it; of mixed types, as JSON; where a token stands in it, as bytes that need not be UTF-8."""
    try:
        column = pa.array(values)
        pq.write_table(pa.table({"": column}), pa.BufferOutputStream())
    except (pa.ArrowException, OverflowError):
        column = pa.array([json.dumps(value) for value in values])
    if raw and pa.types.is_string(column.type):
        data = [None if text is None else filled(text.encode(), raw, quote=b'"') for text in column.to_pylist()]
        return pa.array(data, pa.binary()).view(pa.string())
    casts = [pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.string())]
    if rng.random() < 0.1:
        try:
            column = column.cast(
                rng.choice([*casts, pa.timestamp("ns"), pa.date32(), pa.float64(), pa.decimal128(20, 2)])
            )
        except pa.ArrowException:
            return column
    return column


def yaml_bytes(tree: Any, raw: Mapping[str, bytes], rng: random.Random) -> bytes:
    text = yaml.safe_dump(tree, allow_unicode=rng.random() < 0.5, default_flow_style=rng.choice([None, True, False]))
    return filled(text.encode("utf-8", "surrogatepass"), raw, quote=b'"')


def run_bytes(tree: Any, raw: Mapping[str, bytes], _: random.Random) -> bytes:
    rows = [row if isinstance(row, list) else [row] for row in (tree if isinstance(tree, list) else [tree])]
    text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    return filled(text.encode("utf-8", "surrogatepass"), raw, quote=b'"')


Dump = Callable[[Any, Mapping[str, bytes], random.Random], bytes]


def turn(role: str, content: str, has_answer: bool | None = None) -> dict[str, Any]:
    return {"role": role, "content": content} | ({} if has_answer is None else {"has_answer": has_answer})


def record(number: int, answer: str | int) -> dict[str, Any]:
    return {
        "question_id": f"gpt4_{number}" + ("_abs" if number == 2 else ""),
        "question_type": "multi-session",
        "question": f"Where do I live, {number}?",
        "answer": answer,
        "question_date": "2023/05/20 (Sat) 20:41",
        "haystack_dates": ["2023/05/20 (Sat) 08:05", "2023/05/20 (Sat) 12:00"],
        "haystack_session_ids": [f"sharegpt_{number}", f"answer_{number}"],
        "haystack_sessions": [
            [
                turn("user", f"Tell me of {number} owls.\n\u2028 \U0001f600"),
                turn("assistant", f'"They fly", {number}.'),
            ],
            [turn("user", f"I moved to Oslo, {number}.", True), turn("assistant", f"Nice {number}é.", False)],
        ],
        "answer_session_ids": [f"answer_{number}"],
    }


LONGMEMEVAL: Final = [record(1, "Oslo"), record(2, 7), record(3, "é")]
ROWS: Final = [record(1, "Oslo"), record(2, "7"), record(3, "é")]
LOCOMO: Final = [
    {
        "qa": [
            {"question": "Where did Carol go?", "answer": "Oslo", "evidence": ["D1:1"], "category": 4},
            {"question": "In which year?", "answer": 2023, "evidence": ["D1:1; D1:2"], "category": 2},
            {"question": "What?", "adversarial_answer": "a horse", "evidence": ["D2:1"], "category": 5},
        ],
        "conversation": {
            "speaker_a": "Carol",
            "speaker_b": "Mel",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Carol", "dia_id": "D1:1", "text": f"I went to Oslo \u2013 by train {number}."},
                {"speaker": "Mel", "dia_id": "D1:2", "blip_caption": "a lake", "text": f"Look {number}."},
            ],
            "session_2_date_time": "12:09 am on 13 September, 2023",
            "session_2": [{"speaker": "Mel", "dia_id": "D2:1", "text": f"I painted a horse {number}."}],
        },
        "sample_id": f"conv-{number}",
    }
    for number in (1, 2)
]
FIXTURE: Final = {
    "memories": [
        {
            "id": f"m{number}",
            "content": f"Staging moved to port {number}.\u2028 \U0001f600",
            "type": "fact",
            "key": "staging.port",
            "importance": "high",
            "client_id": "c1",
            "confidence": 0.5,
            "created_at": "2026-02-03T09:00:00Z",
            "metadata": {"tags": ["a", 1, None]},
        }
        for number in (1, 2, 3)
    ],
    "queries": [
        {"q": "Which port?", "expected_ids": ["m1", "m2"], "k": 5, "client_id": "c1"},
        {"q": "?", "expected_ids": []},
    ],
}
RUN: Final = [[f"q{number % 2}", "Q0", f"d%2F{number}", number, 9.5 - number, "tag"] for number in range(6)]
LOG: Final = [
    {
        "question_id": f"q{number}",
        "retrieval_results": {
            "ranked_items": [
                {"corpus_id": f"answer_{number}_{turn}", "text": "I moved.", "timestamp": "2023/05/20 (Sat) 08:05"}
                for turn in (1, 2)
            ],
            "metrics": {"session": {"recall_any@5": 1.0}},
        },
    }
    for number in range(3)
]
ANSWERS: Final = [
    {"question_id": "q1", "hypothesis": "Oslo \u2028"},
    {"question_id": "q2", "hypothesis": "", "autoeval_label": {"model": "judge", "label": True}},
    {"question_id": "q3", "hypothesis": "\U0001f600", "autoeval_label": "yes"},
]
