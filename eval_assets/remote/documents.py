"""From the documents of a store to what is sent to a service: texts, split where they are too long."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from providers.remote.pieces import Piece, pieces
from providers.remote.service import Description, Document, Message

_ATTRIBUTES: Final = (
    "type",
    "key",
    "subject",
    "importance",
    "knowledge_category",
    "category",
    "confidence",
    "metadata",
)
_ID: Final = 32


@dataclass(frozen=True)
class Planned:
    """A piece to send, and which document and session it belongs to."""

    piece: Piece
    document_id: str
    session_key: str

    @property
    def id(self) -> str:
        """What it is sent under."""
        return self.piece.document.id


@dataclass(frozen=True)
class Texts:
    """The turns of all sessions, found by content_hash without a search of the whole table."""

    turns: pl.DataFrame
    places: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, turns: pl.DataFrame) -> Texts:
        """``turns`` as in ``converters.tables.Turns``."""
        ordered = turns.select("content_hash", "turn_index", "role", "content").sort("content_hash", "turn_index")
        lengths = ordered["content_hash"].rle().struct.unnest()
        starts = lengths["len"].cum_sum() - lengths["len"]
        places = {value: (start, n) for value, start, n in zip(lengths["value"], starts, lengths["len"], strict=True)}
        return cls(ordered, places)

    def messages(self, content_hash: str) -> list[Message]:
        """A session's turns in order; none for a session without."""
        start, length = self.places.get(content_hash, (0, 0))
        part = self.turns[start : start + length]
        return [Message(role, content) for role, content in zip(part["role"], part["content"], strict=True)]


def planned(documents: pl.DataFrame, texts: Texts, about: Description) -> list[Planned]:
    """What one container is sent: oldest first, documents without a date before all others."""
    rows = documents.sort("date", "position", nulls_last=False).iter_rows(named=True)
    return list(_planned(rows, texts, about))


def _planned(rows: Iterator[dict[str, Any]], texts: Texts, about: Description) -> Iterator[Planned]:
    for row in rows:
        for piece in pieces(_document(row, texts), about.longest, about.measure):
            yield Planned(piece, row["document_id"], row["session_key"])


def _document(row: Mapping[str, Any], texts: Texts) -> Document:
    own, container = str(row["document_id"]), str(row["container"])
    caller = own.removeprefix(f"{container}:") if own != row["session_key"] else None
    return Document(
        # A fixture's ids may be of any length and alphabet; what services are given to find it by is not.
        id=own if caller is None else hashlib.sha256(caller.encode()).hexdigest()[:_ID],
        messages=texts.messages(row["content_hash"]),
        date=row["date"],
        caller_id=caller,
        attributes={name: row[name] for name in _ATTRIBUTES if caller is not None and row[name] is not None},
    )


def batches(all_of_them: Sequence[Planned], size: int) -> Iterator[Sequence[Planned]]:
    """In order, ``size`` at a time."""
    for start in range(0, len(all_of_them), size):
        yield all_of_them[start : start + size]
