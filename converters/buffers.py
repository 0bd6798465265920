"""Rows on their way to a row group, bounded by the characters that they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
import polars as pl

from converters.arrow import pa
from converters.identity import EncodedSessions
from converters.parquet import TableWriter

GROUP_CHARACTERS: Final = 2_000_000
ROW_CHARACTERS: Final = 250
_DIGEST_CHARACTERS: Final = 64


class RowBuffer:
    """Rows of any table, as Python values."""

    def __init__(self, writer: TableWriter) -> None:
        self._writer = writer
        self._schema = writer.table.empty.schema
        self._start()

    def _start(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in self._schema}
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
        self._writer.write(
            pl.DataFrame([column(name, self._columns[name], kind) for name, kind in self._schema.items()])
        )
        self._start()


def column(name: str, values: Sequence[Any], kind: pl.DataType) -> pl.Series:
    """A column of a table's schema. Lists are laid one after the other: polars would make a column of each."""
    if not isinstance(kind, pl.List) or None in values:
        return pl.Series(name, values, dtype=kind)
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, values), dtype=np.int64, count=len(values)), out=offsets[1:])
    flat = list(chain.from_iterable(values))
    inner = kind.inner
    if isinstance(inner, pl.Struct):
        rows = {field.name: [value[field.name] for value in flat] for field in inner.fields}
        items = pl.DataFrame(rows, schema=dict(inner)).to_struct().to_arrow()
    else:
        items = pl.Series(flat, dtype=inner).to_arrow()
    starts = pa.Int64Array.from_buffers(pa.int64(), len(offsets), [None, pa.py_buffer(offsets)])
    return pl.Series(name, pa.LargeListArray.from_arrays(starts, items), dtype=kind)


class TurnBuffer:
    """Rows of ``turns``, whose texts stay the bytes that were hashed: no text is copied or encoded again."""

    def __init__(self, writer: TableWriter) -> None:
        self._writer = writer
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
        if self._blocks:
            self._writer.write_arrow(_turns(self._blocks))
        self._start()


def _turns(blocks: Sequence[EncodedSessions]) -> pa.Table:
    sizes = np.concatenate([np.diff(np.array(block.bounds)) for block in blocks])
    n_turns = int(sizes.sum())
    digests = "".join([digest for block in blocks for digest in block.hashes]).encode()
    starts = np.cumsum(sizes) - sizes
    indices = (np.arange(n_turns) - starts.repeat(sizes)).astype(np.uint32)
    return pa.table(
        {
            "content_hash": _texts(
                np.full(n_turns, _DIGEST_CHARACTERS),
                np.frombuffer(digests, dtype=f"S{_DIGEST_CHARACTERS}").repeat(sizes),
            ),
            "turn_index": pa.UInt32Array.from_buffers(pa.uint32(), n_turns, [None, pa.py_buffer(indices)]),
            "role": _roles(list(chain.from_iterable(block.roles for block in blocks))),
            "content": pa.chunked_array([_texts(block.lengths, block.contents) for block in blocks]),
        }
    )


def _roles(roles: Sequence[str]) -> pa.Array:
    kinds = {role: number for number, role in enumerate(dict.fromkeys(roles))}
    names = [kind.encode() for kind in kinds]
    numbers = np.fromiter(map(kinds.__getitem__, roles), dtype=np.int32, count=len(roles))
    kept = pa.Int32Array.from_buffers(pa.int32(), len(roles), [None, pa.py_buffer(numbers)])
    dictionary = _texts([len(name) for name in names], b"".join(names))
    return pa.DictionaryArray.from_arrays(kept, dictionary).dictionary_decode()


def _texts(lengths: Sequence[int] | np.ndarray[Any, Any], texts: bytes | np.ndarray[Any, Any]) -> pa.Array:
    """Texts of these numbers of bytes, laid one after the other, as one column."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return pa.LargeStringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(texts))
