"""Disputed labels corrected: rows of ``ground_truth`` under an overlay's name, beside the source's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from converters.errors import BadInput
from converters.tables import BASE_OVERLAY
from converters.tables_corrected import CORRECTIONS


@dataclass(frozen=True)
class Correction:
    """What is corrected of one question; None leaves a thing as the source has it.

    Attributes:
        answer: the reference answer.
        answer_session_ids: the source's ids of the evidence, in place of all that the source names; of a fixture the
            memories' ids.
        is_abstention: whether the haystack does not hold the answer.
        question_type: its slice in reports.
    """

    answer: str | int | None = None
    answer_session_ids: Sequence[str] | None = None
    is_abstention: bool | None = None
    question_type: str | None = None


def correct(
    source: object,
    overlays: Mapping[str, Mapping[str, Correction]],
    *,
    ground_truth: pl.DataFrame,
    questions: pl.DataFrame,
    haystacks: pl.DataFrame,
    memories: pl.DataFrame,
) -> pl.DataFrame:
    """The corrected questions' rows of ``GroundTruth``, by overlay. An overlay's full set is base with these in place.

    The turns that hold the answer are those that the source marks in the sessions that are evidence now: of a session
    that it did not mark there are none. They change only with ``answer_session_ids``.

    Args:
        source: where the corrections are written, for messages.
        overlays: name of each to its corrections by question id.
        ground_truth: ``GroundTruth`` with the rows of base; others are not read.
        questions: ``Questions``.
        haystacks: ``Haystacks``.
        memories: ``Memories``; empty unless the benchmark is a fixture.

    Raises:
        BadInput: a question is unknown, or its haystack does not hold a session that is named as evidence.
    """
    base = ground_truth.filter(pl.col("overlay") == BASE_OVERLAY).join(
        questions.select("question_id", "haystack_id"), on="question_id"
    )
    wanted = {name for one in overlays.values() for name in one}
    known = {row["question_id"]: row for row in base.filter(pl.col("question_id").is_in(list(wanted))).to_dicts()}
    rows = []
    for overlay, corrections in overlays.items():
        for question_id, correction in corrections.items():
            field = f"corrections.{overlay}.questions.{question_id}"
            if question_id not in known:
                raise BadInput(source, "the benchmark has no such question", "correct its id", field=field)
            row = known[question_id]
            changed = dict(_changes(source, f"{field}.answer_session_ids", correction, row, haystacks, memories))
            rows.append({**row, **changed, "overlay": overlay})
    return CORRECTIONS.validate(pl.DataFrame(rows, schema=CORRECTIONS.empty.schema))


def _changes(
    source: object,
    field: str,
    correction: Correction,
    row: Mapping[str, Any],
    haystacks: pl.DataFrame,
    memories: pl.DataFrame,
) -> Iterator[tuple[str, Any]]:
    if correction.answer is not None:
        yield "answer", str(correction.answer)
        yield "answer_type", type(correction.answer).__name__
    if correction.is_abstention is not None:
        yield "is_abstention", correction.is_abstention
    if correction.question_type is not None:
        yield "question_type", correction.question_type
    if correction.answer_session_ids is None:
        return
    here = haystacks.filter(pl.col("haystack_id") == row["haystack_id"]).sort("position")
    hashes = here["content_hash"].to_list()
    places: dict[str, list[int]] = {}
    for place, name in enumerate(row["source_session_ids"]) if row["source_session_ids"] else _memories(here, memories):
        places.setdefault(name, []).append(place)
    for name in correction.answer_session_ids:
        if name not in places:
            remedy = "name sessions by the source's ids"
            raise BadInput(source, f"the question's haystack has no session {name!r}", remedy, field=field)
    chosen = [place for name in correction.answer_session_ids for place in places[name]]
    marked = {(label["position"], label["turn_index"]) for label in row["turn_labels"] if label["has_answer"]}
    turns = [(hashes[place], turn) for place, turn in sorted(marked) if place in chosen]
    yield "answer_session_ids", list(correction.answer_session_ids)
    yield "evidence_hashes", list(dict.fromkeys(hashes[place] for place in chosen))
    yield "evidence_turns", [{"content_hash": digest, "turn_index": turn} for digest, turn in dict.fromkeys(turns)]


def _memories(haystack: pl.DataFrame, memories: pl.DataFrame) -> Iterator[tuple[int, str]]:
    """Of a fixture's haystack, each place and the memory there; memories of one text and time are at each other's."""
    places = haystack.select("session_key", place=pl.int_range(pl.len()))
    named = places.join(memories.select("session_key", "memory_id"), on="session_key", maintain_order="left")
    yield from named.select("place", "memory_id").iter_rows()
