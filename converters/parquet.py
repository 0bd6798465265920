"""Parquet files that appear whole or not at all, with their table's schema enforced both ways.

A file is written under a temporary name beside its place, flushed to disk and renamed. Its footer says which table it
holds, the digest of its rows, and where it came from.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

from converters.arrow import pa, pq
from converters.background import Background
from converters.schema import SchemaMismatch, Table

_FOOTER_KEY = b"eval_assets"
# Half the time of zstd for a conversion's largest column, at 1.5 times the size; lz4 is slower and larger.
_COMPRESSION = "snappy"
# A dictionary pays for digests and labels; of long texts it is given up at this size, which by default is 1 MiB.
_DICTIONARY_BYTES = 1 << 16
# A check takes as long for a few hundred rows as for this many.
_CHECKED_ROWS = 16_000


@dataclass(frozen=True)
class WrittenTable:
    """A complete Parquet file.

    Attributes:
        table: what it holds.
        path: where it is.
        n_rows: how many rows.
        digest: sha256 of what they mean (see ``Table.digest``).
    """

    table: Table
    path: Path
    n_rows: int
    digest: str


class TableWriter:
    """Writes a table row group by row group; the file takes its name when the ``with`` block ends without an error.

    Args:
        table: what is written; each batch is validated against it (the primary key within the batch).
        path: where the file goes; its folder is made.
        provenance: facts for the footer, JSON-able.
        sync: see ``publish``.
        background: where row groups are encoded and compressed, beside the caller.
    """

    def __init__(
        self,
        table: Table,
        path: Path,
        provenance: Mapping[str, object] | None = None,
        *,
        sync: bool = True,
        background: Background | None = None,
    ) -> None:
        self.table = table
        self.path = path
        self.n_rows = 0
        self._sync = sync
        self._background = background
        self._provenance = dict(provenance or {})
        self._meaning: list[pa.Table] = []
        self._unchecked: list[pa.Table] = []
        self._temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        short = [name for name in table.arrow.names if name not in table.prose] if table.prose else True
        self._writer = pq.ParquetWriter(
            self._temporary,
            table.arrow,
            compression=_COMPRESSION,
            use_dictionary=short,
            write_statistics=short,
            dictionary_pagesize_limit=_DICTIONARY_BYTES,
        )
        self.written: WrittenTable | None = None

    def write(self, frame: pl.DataFrame) -> None:
        """Append one row group."""
        if not frame.is_empty():
            self._append(self.table.validate(frame).to_arrow())

    def write_arrow(self, rows: pa.Table) -> None:
        """Append one row group as it is. It is validated together with others, before the file takes its name."""
        rows = rows.select(self.table.arrow.names)
        texts = [rows.column(name) for name in self.table.prose]
        if rows.schema != self.table.arrow or any(column.null_count for column in texts):
            self.table.validate(_frame(rows))
        self._write(rows)
        self._unchecked.append(rows.drop_columns(list(self.table.prose)))
        if sum(waiting.num_rows for waiting in self._unchecked) >= _CHECKED_ROWS:
            self._check()

    def _check(self) -> None:
        rows = pa.concat_tables(self._unchecked)
        self._unchecked.clear()
        self.table.validate(_frame(rows).with_columns(pl.lit("").alias(name) for name in self.table.prose))
        self._mean(rows)

    def _append(self, rows: pa.Table) -> None:
        self._mean(rows)
        self._write(rows if rows.schema == self.table.arrow else rows.cast(self.table.arrow))

    def _mean(self, rows: pa.Table) -> None:
        meaning = rows.select(self.table.digested_columns)
        self._meaning.append(_compact(meaning) if self.table.is_keyed else _distinct(meaning))

    def _write(self, rows: pa.Table) -> None:
        # Only this leaves the interpreter free: anything else would make two threads wait for each other.
        if self._background is None:
            self._writer.write_table(rows)
        else:
            self._background.run(lambda: self._writer.write_table(rows))
        self.n_rows += rows.num_rows

    def add_provenance(self, facts: Mapping[str, object]) -> None:
        """Add facts to the footer that are known only now, such as the digest of a source read to its end."""
        self._provenance.update(facts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is None:
                self.written = self._finish()
        finally:
            # Closing writes the footer, which a full disk refuses: the file goes all the same.
            try:
                self._writer.close()
            finally:
                if self.written is None:
                    self._temporary.unlink(missing_ok=True)

    def _finish(self) -> WrittenTable:
        if self._unchecked:
            self._check()
        digest = self._digest()
        self._meaning.clear()
        if self._background is not None:
            self._background.wait()
        footer = {"table": self.table.name, "digest": digest, "rows": self.n_rows, **self._provenance}
        self._writer.add_key_value_metadata({_FOOTER_KEY: json.dumps(footer).encode()})
        self._writer.close()
        publish(self._temporary, self.path, sync=self._sync)
        return WrittenTable(self.table, self.path, self.n_rows, digest)

    def _digest(self) -> str:
        if not self._meaning:
            return self.table.digest(self.table.empty)
        in_order = self.table.digest_in_order(_frame(_plain(rows)) for rows in self._meaning)
        return in_order or self.table.digest(_frame(_plain(pa.concat_tables(self._meaning))))


def _distinct(rows: pa.Table) -> pa.Table:
    return _frame(rows).unique().to_arrow()


def _compact(rows: pa.Table) -> pa.Table:
    """The rows with each text once: a haystack's id and the hash of a common text are those of many rows."""
    texts = [index for index, field in enumerate(rows.schema) if pa.types.is_large_string(field.type)]
    for index in texts:
        rows = rows.set_column(index, rows.schema.field(index).name, rows.column(index).dictionary_encode())
    return rows


def _plain(rows: pa.Table) -> pa.Table:
    """The inverse of ``_compact``."""
    fields = [
        (field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))


def _frame(rows: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    return frame


def write_table(
    table: Table, frame: pl.DataFrame, path: Path, provenance: Mapping[str, object] | None = None
) -> WrittenTable:
    """Write a whole frame; raises ``SchemaMismatch`` and leaves no file if it is not what the table says."""
    with TableWriter(table, path, provenance) as writer:
        writer.write(frame)
    assert writer.written is not None
    return writer.written


def read_table(table: Table, path: Path, columns: Iterable[str] | None = None) -> pl.DataFrame:
    """Read a file written here, in the order it was written.

    Raises:
        SchemaMismatch: the file holds another table, or one written under another schema.
        FileNotFoundError: there is no such file.
    """
    found = footer(path)
    if found.get("table") != table.name or not pq.read_schema(path).equals(table.arrow):
        raise SchemaMismatch(f"{path}: not a {table.name} table of this version; materialize it again")
    return pl.read_parquet(path, columns=list(columns) if columns else None, use_pyarrow=False)


def footer(path: Path) -> dict[str, object]:
    """What the footer says: table, digest, rows, and the provenance given when it was written."""
    metadata = pq.read_metadata(path).metadata or {}
    return dict(json.loads(metadata.get(_FOOTER_KEY, b"{}")))


def publish(temporary: Path, path: Path, *, sync: bool = True) -> None:
    """Give a finished file its name, so that a crash at any moment leaves the old file or the new one.

    It need not be flushed to disk (``sync``) in a folder that is itself flushed and renamed afterwards.
    """
    if sync:
        flush_file(temporary)
    temporary.replace(path)
    if sync:
        flush_folder(path.parent)


def flush_file(path: Path) -> None:
    """Flush a file's content to disk."""
    with path.open("rb") as handle:
        os.fsync(handle.fileno())


def flush_folder(path: Path) -> None:
    """Flush the names in a folder to disk."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


__all__ = [
    "TableWriter",
    "WrittenTable",
    "flush_file",
    "flush_folder",
    "footer",
    "publish",
    "read_table",
    "write_table",
]
