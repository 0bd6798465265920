"""The corpus tables of one source, written row group by row group into a folder that appears whole.

``<folder>/<table>.parquet`` for each table of ``converters.tables.CORPUS``; a table that the source has nothing for is
there without rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, pairwise
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypedDict, Unpack

import polars as pl

from converters.background import Background
from converters.buffers import ROW_CHARACTERS, RowBuffer, TurnBuffer
from converters.folder import whole_folder
from converters.identity import Turn, content_hash, encode, session_key
from converters.parquet import TableWriter, WrittenTable, read_table
from converters.tables import BASE_OVERLAY, CORPUS

_HAYSTACK_ROWS: Final = 4_000


@dataclass(frozen=True)
class Corpus:
    """A complete corpus: its folder, and the file of each table by name."""

    folder: Path
    tables: Mapping[str, WrittenTable]


class MemoryAttributes(TypedDict, total=False):
    """What a fixture's memory may say of itself: see ``converters.tables.Memories``."""

    type: str | None
    key: str | None
    subject: str | None
    importance: str | None
    client_id: str | None
    knowledge_category: str | None
    category: str | None
    confidence: float | None
    created_at: datetime | None
    metadata: str | None
    unit: str | None


class GroundTruthRow(TypedDict):
    """What scoring may know of a question: see ``converters.tables.GroundTruth``."""

    question_type: str
    is_abstention: bool
    answer: str | None
    answer_type: str | None
    source_session_ids: Sequence[str]
    answer_session_ids: Sequence[str]
    evidence_hashes: Sequence[str]
    evidence_turns: Sequence[tuple[str, int]]
    turn_labels: Sequence[tuple[int, int, bool]]


class CorpusWriter:
    """Writes a corpus; ``corpus`` is there once the ``with`` block has ended without an error, else nothing is.

    Sessions come before the haystacks that name them by content hash. Ids (of questions, haystacks, memories) must be
    unique: the caller, who can name the record, refuses a second one.

    Args:
        folder: where the tables go; replaced if it holds Parquet files alone.
        provenance: facts for each file's footer, JSON-able; ``add_provenance`` adds those known only later.

    Raises:
        BadInput: the folder cannot be written to (a full disk, no permission), or is something else.
    """

    def __init__(self, folder: Path, provenance: Mapping[str, object] | None = None) -> None:
        self.folder = folder
        self.corpus: Corpus | None = None
        self._provenance = dict(provenance or {})
        self._known: set[str] = set()
        self._ordinals = {"questions": 0, "memories": 0}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            temporary = stack.enter_context(whole_folder(self.folder))
            background = Background()
            self._writers = {
                name: stack.enter_context(
                    TableWriter(
                        table,
                        temporary / f"{name}.parquet",
                        self._provenance,
                        sync=False,
                        background=background,
                    )
                )
                for name, table in CORPUS.items()
            }
            # Entered last, so that all is written before a writer ends.
            stack.enter_context(background)
            self._turns = TurnBuffer(self._writers["turns"])
            self._buffers = {name: RowBuffer(writer) for name, writer in self._writers.items() if name != "turns"}
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with self._stack as stack:
            if error is not None:
                stack.__exit__(kind, error, None)
                return
            self._turns.flush()
            for buffer in self._buffers.values():
                buffer.flush()
        tables = {name: writer.written for name, writer in self._writers.items()}
        self.corpus = Corpus(
            self.folder,
            {
                name: replace(written, path=self.folder / written.path.name)
                for name, written in tables.items()
                if written is not None
            },
        )

    def add_provenance(self, facts: Mapping[str, object]) -> None:
        """Add facts to each file's footer."""
        for writer in self._writers.values():
            writer.add_provenance(facts)

    def add_session(self, turns: Sequence[Turn]) -> str:
        """Add a session's text unless it is known, and return its content hash."""
        roles, contents = zip(*turns, strict=True) if turns else ((), ())
        return self.add_sessions([len(turns)], roles, contents)[0]

    def add_sessions(self, sizes: Sequence[int], roles: Sequence[str], contents: Sequence[str]) -> Sequence[str]:
        """As ``add_session``, of several at once: their numbers of turns, and the roles and contents of all turns."""
        sessions = encode(sizes, roles, contents)
        new = [number for number, digest in enumerate(sessions.hashes) if self._is_new(digest)]
        added = sessions.only(new)
        self._turns.add(added)
        self._buffers["sessions"].extend(
            {
                "content_hash": added.hashes,
                "n_turns": [last - first for first, last in pairwise(added.bounds)],
                "n_chars": added.n_chars,
            },
            ROW_CHARACTERS * len(new),
        )
        return sessions.hashes

    def _is_new(self, digest: str) -> bool:
        if digest in self._known:
            return False
        self._known.add(digest)
        return True

    def add_haystack(self, haystack_id: str, sessions: Iterable[tuple[str, datetime | None]]) -> None:
        """Add a haystack: content hash and date of each session, in the source's order."""
        rows = iter(sessions)
        position = 0
        # Some thousands at a time: a haystack may be larger than a row group.
        while held := list(islice(rows, _HAYSTACK_ROWS)):
            self._buffers["haystacks"].extend(
                {
                    "haystack_id": [haystack_id] * len(held),
                    "position": range(position, position + len(held)),
                    "session_key": [session_key(digest, date) for digest, date in held],
                    "content_hash": [digest for digest, _ in held],
                    "session_date": [date for _, date in held],
                },
                ROW_CHARACTERS * len(held),
            )
            position += len(held)

    def add_question(
        self,
        question_id: str,
        *,
        haystack_id: str,
        question: str,
        question_date: datetime | None,
        as_of: datetime | None,
    ) -> None:
        """Add a question; its ordinal is the order of these calls."""
        self._buffers["questions"].add(
            {
                "question_id": question_id,
                "ordinal": self._next("questions"),
                "haystack_id": haystack_id,
                "question": question,
                "question_date": question_date,
                "as_of": as_of,
            },
            len(question),
        )

    def add_ground_truth(
        self, question_id: str, *, overlay: str = BASE_OVERLAY, **truth: Unpack[GroundTruthRow]
    ) -> None:
        """Add what scoring may know of a question.

        Evidence turns are (content hash, turn index), labels (position in the haystack, turn index, has_answer).
        """
        turns = [{"content_hash": digest, "turn_index": index} for digest, index in truth["evidence_turns"]]
        labels = [
            {"position": position, "turn_index": index, "has_answer": label}
            for position, index, label in truth["turn_labels"]
        ]
        self._buffers["ground_truth"].add(
            {
                **truth,
                "overlay": overlay,
                "question_id": question_id,
                "evidence_turns": turns,
                "turn_labels": labels,
            },
            len(truth["answer"] or "") + 64 * len(truth["source_session_ids"]) + 16 * len(labels),
        )

    def add_memory(self, memory_id: str, content: str, **attributes: Unpack[MemoryAttributes]) -> str:
        """Add a fixture's memory, its content as a session of one turn of role memory; return its content hash."""
        digest = self.add_session([("memory", content)])
        self._buffers["memories"].add(
            {
                **attributes,
                "memory_id": memory_id,
                "ordinal": self._next("memories"),
                "content_hash": digest,
                "session_key": session_key(digest, attributes.get("created_at")),
            },
            len(attributes.get("metadata") or ""),
        )
        return digest

    def add_query_option(self, question_id: str, *, k: int | None, client_id: str | None) -> None:
        """Add what a fixture's query asks for beside its text."""
        self._buffers["query_options"].add({"question_id": question_id, "k": k, "client_id": client_id})

    def _next(self, table: str) -> int:
        ordinal = self._ordinals[table]
        self._ordinals[table] += 1
        return ordinal


def read_corpus(folder: Path) -> Mapping[str, pl.DataFrame]:
    """All tables of a corpus by name, each in the order of its source.

    Raises:
        FileNotFoundError: a table is missing.
        SchemaMismatch: a file holds another table, or one of another version.
    """
    return {name: read_table(table, folder / f"{name}.parquet") for name, table in CORPUS.items()}


__all__ = [
    "Corpus",
    "CorpusWriter",
    "GroundTruthRow",
    "MemoryAttributes",
    "Turn",
    "content_hash",
    "read_corpus",
    "session_key",
]
