"""One question's haystack: its evidence as it is, and filler drawn for it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from converters.compose.evidence import evidence_positions
from converters.compose.moments import Window
from converters.compose.pool import Filler, estimated_tokens
from converters.dates import format_date
from converters.errors import BadInput
from converters.longmemeval_file import PublishedRecord, PublishedTurn, published_turn
from converters.longmemeval_record import Record

_LOT_BYTES: Final = 8
_ID_LENGTH: Final = 16
_MORE: Final = "give more --filler files, or ask for less"


@dataclass(frozen=True)
class Length:
    """How long a haystack is, evidence included: exactly one of the two is given.

    Attributes:
        sessions: so many sessions.
        tokens: sessions until their estimated tokens reach so many.
    """

    sessions: int | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class Composed:
    """A record to write, and what it holds: sessions of evidence and of filler, estimated tokens.

    ``is_over`` says that the evidence alone is longer than was asked for.
    """

    record: PublishedRecord
    n_evidence: int
    n_filler: int
    tokens: int
    is_over: bool


class _Drawn(NamedTuple):
    filler: Filler
    lot: int


class _Placed(NamedTuple):
    date: datetime
    name: str
    turns: Sequence[PublishedTurn]


def compose_haystack(record: Record, pool: Sequence[Filler], length: Length, seed: int) -> Composed:
    """A question with another haystack. It depends on the record, the pool's texts and dates, the length and the seed.

    Evidence keeps its texts, labels, ids and dates. Filler comes in the order of a digest of seed, question_id and
    text, so that a longer haystack holds the shorter one; its id is a digest of its text. Sessions are in the order of
    their dates; of two in one minute, evidence is first.

    Raises:
        BadInput: the pool is too small, or the calendar has no days before the question.
    """
    positions = evidence_positions(record)
    evidence = [
        _Placed(
            record.haystack_dates[position],
            record.haystack_session_ids[position],
            [published_turn(turn) for turn in record.haystack_sessions[position]],
        )
        for position in positions
    ]
    own = sum(estimated_tokens(sum(len(turn["content"]) for turn in session.turns)) for session in evidence)
    drawn = _draw(record, pool, length, seed, n_evidence=len(evidence), tokens=own)
    sessions = sorted([*evidence, *_place(record, drawn, evidence)], key=lambda session: session.date)
    made: PublishedRecord = {
        "question_id": record.question_id,
        "question_type": record.question_type,
        "question": record.question,
        "answer": record.answer,
        "question_date": format_date(record.question_date),
        "haystack_dates": [format_date(session.date) for session in sessions],
        "haystack_session_ids": [session.name for session in sessions],
        "haystack_sessions": [session.turns for session in sessions],
        "answer_session_ids": record.answer_session_ids,
    }
    over = len(evidence) > (length.sessions or len(evidence)) or own > (length.tokens or own)
    return Composed(made, len(evidence), len(drawn), own + sum(one.filler.tokens for one in drawn), over)


def _draw(
    record: Record, pool: Sequence[Filler], length: Length, seed: int, *, n_evidence: int, tokens: int
) -> list[_Drawn]:
    order = _shuffled(pool, seed, record.question_id)
    if length.sessions is not None:
        wanted = max(0, length.sessions - n_evidence)
        if wanted > len(pool):
            problem = f"{length.sessions} sessions need {wanted} fillers, and there are {len(pool)} distinct ones"
            raise BadInput("--sessions", problem, _MORE, record=record.question_id)
        return [next(order) for _ in range(wanted)]
    assert length.tokens is not None
    drawn = []
    while tokens < length.tokens:
        one = next(order, None)
        if one is None:
            problem = f"all {len(pool)} distinct fillers and the evidence come to about {tokens} tokens only"
            raise BadInput("--tokens", problem, _MORE, record=record.question_id)
        drawn.append(one)
        tokens += one.filler.tokens
    return drawn


def _shuffled(pool: Sequence[Filler], seed: int, question_id: str) -> Iterator[_Drawn]:
    """The pool in an order of the question's own; not by ``random``, whose shuffles differ between versions."""
    start = hashlib.blake2b(f"{seed}\0{question_id}\0".encode(), digest_size=2 * _LOT_BYTES)
    lots = []
    for filler in pool:
        lot = start.copy()
        lot.update(filler.digest.encode())
        lots.append(lot.digest())
    for number in sorted(range(len(pool)), key=lots.__getitem__):
        yield _Drawn(pool[number], int.from_bytes(lots[number][_LOT_BYTES:], "big"))


def _place(record: Record, drawn: Sequence[_Drawn], evidence: Sequence[_Placed]) -> Iterator[_Placed]:
    if not drawn:
        return
    try:
        window = Window.around(record.question_date, [session.date for session in evidence])
        for filler, lot in drawn:
            turns: list[PublishedTurn] = [{"role": role, "content": content} for role, content in filler.turns]
            yield _Placed(window.place(filler.date, lot), f"session_{filler.digest[:_ID_LENGTH]}", turns)
    except OverflowError:
        problem = "leaves no days in the calendar for sessions before it"
        raise BadInput("question", problem, "date it later", record=record.question_id, field="question_date") from None
