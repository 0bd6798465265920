"""Rows on their way to a row group, bounded by the characters that they hold, written beside the caller."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import accumulate, chain, pairwise, repeat
from typing import Final

import polars as pl

from converters.arrow import pa
from converters.background import Background
from converters.identity import EncodedSessions
from converters.parquet import TableWriter

GROUP_CHARACTERS: Final = 2_000_000
ROW_CHARACTERS: Final = 250
_DIGEST_CHARACTERS: Final = 64


class RowBuffer:
    """Rows of any table, as Python values."""

    def __init__(self, writer: TableWriter, background: Background) -> None:
        self._writer = writer
        self._background = background
        self._schema = writer.table.empty.schema
        self._start()

    def _start(self) -> None:
        self._columns: dict[str, list[object]] = {name: [] for name in self._schema}
        self._characters = 0

    def add(self, row: Mapping[str, object], characters: int = 0) -> None:
        """One row, with what it holds beside a row's ordinary size."""
        for name, values in self._columns.items():
            values.append(row.get(name))
        self._grown(characters + ROW_CHARACTERS)

    def extend(self, rows: Mapping[str, Iterable[object]], characters: int) -> None:
        """Rows as columns."""
        for name, values in self._columns.items():
            values.extend(rows[name])
        self._grown(characters)

    def _grown(self, characters: int) -> None:
        self._characters += characters
        if self._characters >= GROUP_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Hand over what is held."""
        columns = self._columns
        self._start()
        self._background.run(lambda: self._writer.write(pl.DataFrame(columns, schema=self._schema)))


class TurnBuffer:
    """Rows of ``turns``, whose texts stay the bytes that were hashed: no text is copied or encoded again."""

    def __init__(self, writer: TableWriter, background: Background) -> None:
        self._writer = writer
        self._background = background
        self._start()

    def _start(self) -> None:
        self._blocks: list[EncodedSessions] = []
        self._bytes = 0

    def add(self, sessions: EncodedSessions) -> None:
        """All turns of some sessions."""
        if sessions.roles:
            self._blocks.append(sessions)
        self._bytes += len(sessions.contents) + ROW_CHARACTERS * len(sessions.roles)
        if self._bytes >= GROUP_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Hand over what is held."""
        blocks = self._blocks
        self._start()
        if blocks:
            self._background.run(lambda: self._writer.write_arrow(pa.concat_tables(map(_turns, blocks))))


def _turns(sessions: EncodedSessions) -> pa.Table:
    sizes = [last - first for first, last in pairwise(sessions.bounds)]
    digests = [digest.encode() * size for digest, size in zip(sessions.hashes, sizes, strict=True)]
    indices = array("I", chain.from_iterable(map(range, sizes)))
    roles = list(map(str.encode, sessions.roles))
    return pa.table(
        {
            "content_hash": _texts(repeat(_DIGEST_CHARACTERS, len(roles)), b"".join(digests)),
            "turn_index": pa.UInt32Array.from_buffers(pa.uint32(), len(roles), [None, pa.py_buffer(indices)]),
            "role": _texts(map(len, roles), b"".join(roles)),
            "content": _texts(sessions.lengths, sessions.contents),
        }
    )


def _texts(lengths: Iterable[int], texts: bytes) -> pa.Array:
    """Texts of these numbers of bytes, laid one after the other, as one column."""
    offsets = array("q", accumulate(lengths, initial=0))
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(texts))
