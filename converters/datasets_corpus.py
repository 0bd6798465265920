"""A data set with a mapping of its columns to corpus tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from converters.conversion import Conversion
from converters.corpus import CorpusWriter
from converters.datasets_mapping import DatasetMapping
from converters.datasets_row import Row, has_column, parse_row
from converters.datasets_rows import read_rows
from converters.detect import Variant
from converters.errors import BadInput
from converters.folder_digest import source_files, source_fingerprint
from converters.record_problem import RecordProblem

_NEEDED = ("question", "sessions")


def convert_datasets(
    source: Path,
    folder: Path,
    provenance: Mapping[str, object] | None = None,
    progress: Callable[[int], None] | None = None,
    mapping: DatasetMapping | None = None,
) -> Conversion:
    """As ``converters.convert.convert_corpus``, from a file or folder that ``converters.datasets_rows`` reads.

    A row is a question; its haystack has the question's id. Columns are found by ``mapping``, by default LongMemEval's.
    Progress is told at the end only, for the library does not say how far it is.

    Counts: questions, abstention_questions; haystack_rows (sessions), sessions (distinct texts); turns, distinct_turns,
    blank_turns, evidence_turns; filler_rows (sessions that are not evidence), empty_sessions, undated_sessions.

    Raises:
        BadInput: the source cannot be read, or changed meanwhile; a column that the mapping names is not there; a value
            is not what its column should hold: names the row by number, from 1, and the column.
    """
    mapping = mapping or DatasetMapping()
    counts: Counter[str] = Counter()
    fingerprint = source_fingerprint(source)
    before = _stamps(source)
    with (
        closing(read_rows(source, mapping.split)) as values,
        CorpusWriter(folder, provenance) as writer,
    ):
        for row in _rows(source, values, mapping):
            _add(writer, row, counts)
        if _stamps(source) != before:
            raise BadInput(source, "it changed while it was being read", "convert it again")
        variant = Variant("datasets", "derived", f"a data set of {counts['questions']} rows, by its column mapping")
        writer.add_provenance(
            {
                "source": {"name": source.name, **asdict(fingerprint)},
                "variant": asdict(variant),
                "mapping": mapping.text,
            }
        )
    if progress is not None:
        progress(sum(file.stat().st_size for file in source_files(source)))
    assert writer.corpus is not None
    counts["sessions"] = writer.corpus.tables["sessions"].n_rows
    counts["distinct_turns"] = writer.corpus.tables["turns"].n_rows
    return Conversion(writer.corpus, fingerprint, variant, dict(counts))


def _stamps(source: Path) -> list[tuple[str, int, int]]:
    stats = [(str(file), file.stat()) for file in source_files(source)]
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


def _rows(source: Path, rows: Iterable[Mapping[str, Any]], mapping: DatasetMapping) -> Iterator[Row]:
    seen: dict[str, int] = {}
    for number, values in enumerate(rows, 1):
        if number == 1:
            _check_columns(source, values, mapping)
        try:
            row = parse_row(values, number, mapping)
            first = seen.setdefault(row.question_id, number)
            if first != number:
                raise RecordProblem(
                    mapping.question_id, f"{row.question_id!a} is that of row {first} too", "give each question its own"
                )
        except RecordProblem as error:
            raise BadInput(source, error.problem, error.remedy, record=f"row {number}", field=error.field) from None
        yield row
    if not seen:
        raise BadInput(source, "holds no rows", "give a data set with questions")


def _check_columns(source: Path, row: Mapping[str, Any], mapping: DatasetMapping) -> None:
    columns = mapping.model_dump(exclude={"role", "content", "evidence", "roles", "split"})
    for name, column in columns.items():
        if column is None or has_column(row, column) or not (name in _NEEDED or name in mapping.model_fields_set):
            continue
        raise BadInput(
            source,
            f"has no column {column!r}",
            f"map {name} to one of its columns: {', '.join(map(str, row)) or '(none)'}",
            field=f"mapping.{name}",
        )


def _add(writer: CorpusWriter, row: Row, counts: Counter[str]) -> None:
    hashes = [writer.add_session([(turn.role, turn.content) for turn in session]) for session in row.sessions]
    writer.add_haystack(row.question_id, zip(hashes, row.session_dates, strict=True))
    dates = [date for date in (row.question_date, *row.session_dates) if date is not None]
    writer.add_question(
        row.question_id,
        haystack_id=row.question_id,
        question=row.question,
        question_date=row.question_date,
        as_of=max(dates, default=None),
    )
    evidence_ids = set(row.answer_session_ids)
    held = list(zip(hashes, row.session_ids, strict=True))
    labels = [
        (position, index, turn.has_answer)
        for position, session in enumerate(row.sessions)
        for index, turn in enumerate(session)
        if turn.has_answer is not None
    ]
    marked = [(hashes[position], index) for position, index, label in labels if label]
    writer.add_ground_truth(
        row.question_id,
        question_type=row.question_type,
        is_abstention=row.is_abstention,
        answer=None if row.answer is None else str(row.answer),
        answer_type=None if row.answer is None else type(row.answer).__name__,
        source_session_ids=row.session_ids,
        answer_session_ids=row.answer_session_ids,
        evidence_hashes=list(dict.fromkeys(digest for digest, name in held if name in evidence_ids)),
        evidence_turns=list(dict.fromkeys(marked)),
        turn_labels=labels,
    )
    counts.update(
        {
            "questions": 1,
            "abstention_questions": int(row.is_abstention),
            "haystack_rows": len(hashes),
            "turns": sum(map(len, row.sessions)),
            "blank_turns": sum(not turn.content.strip() for session in row.sessions for turn in session),
            "evidence_turns": len(marked),
            "filler_rows": sum(name not in evidence_ids for _, name in held),
            "empty_sessions": sum(not session for session in row.sessions),
            "undated_sessions": sum(date is None for date in row.session_dates),
        }
    )
