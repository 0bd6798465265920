"""LongMemEval's records to corpus tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import chain, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec import UNSET, UnsetType

from converters.conversion import Conversion
from converters.corpus import CorpusWriter
from converters.detect import longmemeval_variant
from converters.light import keep_freed_memory
from converters.longmemeval import read_records
from converters.longmemeval_record import Record, Turn
from converters.source import open_source

_ROLE: Final[Callable[[Turn], str]] = attrgetter("role")
_LABEL: Final[Callable[[Turn], bool | UnsetType]] = attrgetter("has_answer")
_CONTENT: Final[Callable[[Turn], str]] = attrgetter("content")


def convert_longmemeval(
    source: Path,
    folder: Path,
    provenance: Mapping[str, object] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Conversion:
    """As ``converters.convert.convert_corpus``. A question's haystack has the question's id.

    Counts (over all haystacks, so that a text is counted as often as a haystack holds it, unless said):

    - questions, abstention_questions
    - haystack_rows: sessions; sessions: distinct texts of sessions
    - turns, and distinct_turns: of distinct sessions
    - blank_turns: turns of white space alone, kept as they are
    - evidence_turns: turns marked has_answer
    - filler_rows: sessions that are not evidence
    - questions_before_a_session, sessions_after_question: sessions dated later than their question, kept
    - unordered_haystacks, sessions_out_of_order: sessions dated before their predecessor, left in their place
    - repeated_ids: sessions whose id an earlier one of the same haystack has, each kept in its own place
    """
    counts: Counter[str] = Counter()
    keep_freed_memory()
    with open_source(source, progress, mark_surrogates=False) as reader, CorpusWriter(folder, provenance) as writer:
        record: Record | None
        for record in read_records(reader):
            _add(writer, record, counts)
        # The last record may be the only one, and large.
        record = None
        fingerprint = reader.fingerprint()
        variant = longmemeval_variant(
            fingerprint.sha256,
            n_questions=counts["questions"],
            n_sessions=counts["haystack_rows"],
            n_filler=counts["filler_rows"],
        )
        writer.add_provenance({"source": {"name": source.name, **asdict(fingerprint)}, "variant": asdict(variant)})
    assert writer.corpus is not None
    counts["sessions"] = writer.corpus.tables["sessions"].n_rows
    counts["distinct_turns"] = writer.corpus.tables["turns"].n_rows
    return Conversion(writer.corpus, fingerprint, variant, dict(counts))


def _add(writer: CorpusWriter, record: Record, counts: Counter[str]) -> None:
    labels = list(_labels(record))
    turns = list(chain.from_iterable(record.haystack_sessions))
    contents = list(map(_CONTENT, turns))
    hashes = writer.add_sessions(list(map(len, record.haystack_sessions)), list(map(_ROLE, turns)), contents)
    counts["turns"] += len(turns)
    counts["blank_turns"] += contents.count("") + sum(map(str.isspace, contents))
    # Written, and let go: of a million sessions even empty ones are a burden.
    record.haystack_sessions.clear()
    writer.add_haystack(record.question_id, zip(hashes, record.haystack_dates, strict=True))
    writer.add_question(
        record.question_id,
        haystack_id=record.question_id,
        question=record.question,
        question_date=record.question_date,
        as_of=max([record.question_date, *record.haystack_dates]),
    )
    evidence_ids = set(record.answer_session_ids)
    # By id, not by position: any occurrence of an id is evidence, and one text counts once.
    evidence = dict.fromkeys(
        digest
        for digest, source_id in zip(hashes, record.haystack_session_ids, strict=True)
        if source_id in evidence_ids
    )
    marked = [(hashes[position], index) for position, index, has_answer in labels if has_answer]
    writer.add_ground_truth(
        record.question_id,
        question_type=record.question_type,
        is_abstention=record.is_abstention,
        answer=str(record.answer),
        answer_type=type(record.answer).__name__,
        source_session_ids=record.haystack_session_ids,
        answer_session_ids=record.answer_session_ids,
        evidence_hashes=list(evidence),
        evidence_turns=list(dict.fromkeys(marked)),
        turn_labels=labels,
    )
    counts["evidence_turns"] += len(marked)
    _count(record, evidence_ids, counts)


def _labels(record: Record) -> Iterator[tuple[int, int, bool]]:
    for position, session in enumerate(record.haystack_sessions):
        labels = list(map(_LABEL, session))
        # Most sessions have none, which is seen without looking at each turn here.
        if labels.count(UNSET) < len(labels):
            for index, label in enumerate(labels):
                if label is not UNSET:
                    yield position, index, label


def _count(record: Record, evidence_ids: set[str], counts: Counter[str]) -> None:
    ids, dates = record.haystack_session_ids, record.haystack_dates
    after = sum(date > record.question_date for date in dates)
    backwards = sum(later < earlier for earlier, later in pairwise(dates))
    counts.update(
        {
            "questions": 1,
            "abstention_questions": int(record.is_abstention),
            "haystack_rows": len(ids),
            "filler_rows": sum(source_id not in evidence_ids for source_id in ids),
            "sessions_after_question": after,
            "questions_before_a_session": int(after > 0),
            "sessions_out_of_order": backwards,
            "unordered_haystacks": int(backwards > 0),
            # Not by a set, which for a haystack of a million sessions is as large as their ids.
            "repeated_ids": sum(one == next_one for one, next_one in pairwise(sorted(ids))),
        }
    )
