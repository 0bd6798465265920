"""LongMemEval's own JSON again.

Source of the format: the LongMemEval repository's README, and the published files: an array, indented by four, all that
is not ASCII escaped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from converters.dates import format_date
from converters.errors import BadInput
from converters.formats.files import Progress, counted
from converters.formats.rows import Groups, questions
from converters.longmemeval_file import PublishedRecord, PublishedTurn, RecordsWriter
from converters.whole import whole_files


def write(
    tables: Mapping[str, pl.DataFrame], out: Path, *, force: bool = False, progress: Progress | None = None
) -> list[str]:
    """Write a corpus as a LongMemEval file, record by record; lines that say what was written.

    The records are those of the source, key for key; fields that LongMemEval does not know, and a weekday that was
    wrong in the source, do not come back. As for bytes, a published oracle file comes back as it was.

    Raises:
        BadInput: the corpus is a fixture's or lacks dates or answers, something is at ``out``, or the place
            cannot be written to. Nothing is written then.
    """
    check_conversations(tables)
    total = tables["questions"].height
    with whole_files(out, force=force) as (path,), RecordsWriter(path) as writer:
        for record in records(tables):
            writer.add(record)
            if progress is not None:
                progress(writer.n_records, total)
    sessions = counted(tables["haystacks"].height, "session")
    return [f"wrote {out}: {counted(total, 'question')}, {sessions} in {_haystacks(tables)}"]


def check_conversations(tables: Mapping[str, pl.DataFrame]) -> None:
    """Raises ``BadInput`` if LongMemEval's format cannot hold the corpus: memories, no dates, no answers."""
    if tables["memories"].height:
        problem = "holds memories that a fixture's owner wrote, and LongMemEval's format only conversations"
        raise BadInput("corpus", problem, "choose another format, or convert a LongMemEval file")
    for table, column in (("questions", "question_date"), ("haystacks", "session_date"), ("ground_truth", "answer")):
        n_missing = tables[table][column].null_count()
        if n_missing:
            problem = f"is missing in {n_missing} of {tables[table].height} rows, and LongMemEval's format needs it"
            raise BadInput("corpus", problem, "choose another format", record=table, field=column)


def records(tables: Mapping[str, pl.DataFrame]) -> Iterator[PublishedRecord]:
    """The source's records, keys in its order, questions in its order; raises ``BadInput`` as ``questions`` does."""
    haystacks = Groups(tables["haystacks"], "haystack_id", "position")
    turns = Groups(tables["turns"], "content_hash", "turn_index")
    for row in questions(tables):
        held = haystacks[row["haystack_id"]]
        yield {
            "question_id": row["question_id"],
            "question_type": row["question_type"],
            "question": row["question"],
            "answer": int(row["answer"]) if row["answer_type"] == "int" else row["answer"],
            "question_date": format_date(row["question_date"]),
            "haystack_dates": [format_date(date) for date in held["session_date"]],
            "haystack_session_ids": row["source_session_ids"],
            "haystack_sessions": _sessions(held["content_hash"].to_list(), turns, row["turn_labels"]),
            "answer_session_ids": row["answer_session_ids"],
        }


def _sessions(
    hashes: Sequence[str], turns: Groups, turn_labels: Sequence[Mapping[str, Any]]
) -> list[list[PublishedTurn]]:
    labels: dict[int, dict[int, bool]] = defaultdict(dict)
    for label in turn_labels:
        labels[label["position"]][label["turn_index"]] = label["has_answer"]
    return [
        [
            {"role": role, "content": content, "has_answer": marked[index]}
            if index in marked
            else {"role": role, "content": content}
            for index, role, content in turns[digest].select("turn_index", "role", "content").iter_rows()
        ]
        for marked, digest in ((labels.get(position, {}), digest) for position, digest in enumerate(hashes))
    ]


def _haystacks(tables: Mapping[str, pl.DataFrame]) -> str:
    return counted(tables["haystacks"]["haystack_id"].n_unique(), "haystack")
