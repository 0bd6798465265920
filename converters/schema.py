"""What a table is: its enforced schema, its key, and the part of it that carries meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from converters.errors import Told
from converters.light import without

# dataframely loads SQLAlchemy wherever it is installed, for a feature unused here: 0.35 s and 16 MB a process.
with without("sqlalchemy"):
    import dataframely as dy
    from dataframely.exc import SchemaError, ValidationError

if TYPE_CHECKING:
    from converters.arrow import pa

_DIGEST_SLICE = 2_000


class SchemaMismatch(Told):
    """A frame or file that is not what its table's schema says; the message names the table and each broken rule."""


@dataclass(frozen=True)
class Table:
    """One kind of table.

    Attributes:
        name: as in the registry, asset keys and Parquet footers.
        schema: columns, dtypes, nullability, primary key and row rules.
        volatile: columns that say how a row came about (latency, error text), not what it means.
        meaning: the columns that determine all others, where a digest need not read every column.
        prose: columns of long texts, never null and free of rules. A file keeps no dictionary of them and no least and
            greatest value.
    """

    name: str
    schema: type[dy.Schema]
    volatile: frozenset[str] = field(default_factory=frozenset)
    meaning: tuple[str, ...] | None = None
    prose: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def key(self) -> list[str]:
        """The columns of the primary key, in order."""
        return self.schema.primary_key()

    @cached_property
    def empty(self) -> pl.DataFrame:
        """No rows, all columns."""
        return self.schema.create_empty()

    @cached_property
    def arrow(self) -> pa.Schema:
        """The Arrow schema that Parquet files of this table carry."""
        return self.empty.to_arrow().schema

    @cached_property
    def digest_columns(self) -> list[str]:
        """The columns that a digest covers."""
        return list(self.meaning or (name for name in self.schema.column_names() if name not in self.volatile))

    def validate(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the frame with its columns in schema order.

        Raises:
            SchemaMismatch: a column is missing or has another dtype, a rule or the primary key is broken.
        """
        # Half the time of the check that explains itself, which a long conversion repeats a hundred times.
        if self.schema.is_valid(self._without_prose(frame)):
            return frame.select(self.schema.column_names())
        try:
            return self.schema.validate(frame)
        except ValidationError as error:
            raise SchemaMismatch(f"table {self.name}: {' '.join(str(error).split())}") from None
        except SchemaError as error:
            raise SchemaMismatch(f"table {self.name}: {str(error).splitlines()[0]}") from None

    def _without_prose(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with its long texts left out once they are known to be texts: the check would copy them thrice."""
        blank = [name for name in self.prose if frame.schema.get(name) == pl.String and not frame[name].null_count()]
        return frame.with_columns(pl.lit("").alias(name) for name in blank)

    @cached_property
    def digested_columns(self) -> list[str]:
        """What a digest needs of a frame: the meaning, or the key and the columns that it covers."""
        return list(self.meaning or dict.fromkeys([*self.key, *self.digest_columns]))

    @property
    def is_keyed(self) -> bool:
        """Whether what is digested tells the rows apart."""
        return set(self.key) <= set(self.digested_columns)

    def digest(self, frame: pl.DataFrame) -> str:
        """Sha256 (hex) of what the rows mean, whatever their order: sorted by key, without volatile columns.

        ``frame`` needs ``digested_columns`` only. The rows are hashed as newline-delimited JSON, because that
        text does not change with the version of a library the way an internal hash does.
        """
        digest = self._begun()
        rows = frame.select(self.digested_columns)
        if not self.is_keyed:
            rows = rows.unique()
        # Sorting copies what most tables have in order already.
        rows = rows if _in_order(rows, self._order) else rows.sort(self._order)
        self._add(digest, rows)
        return digest.hexdigest()

    def digest_in_order(self, parts: Iterable[pl.DataFrame]) -> str | None:
        """The same of rows that come in parts, without holding them; None where they do not come in order."""
        if not self.is_keyed:
            return None
        digest = self._begun()
        last: pl.DataFrame | None = None
        for part in parts:
            rows = part.select(self.digested_columns)
            if not _in_order(rows if last is None else pl.concat([last, rows]), self._order):
                return None
            self._add(digest, rows)
            last = rows.tail(1)
        return digest.hexdigest()

    @cached_property
    def _order(self) -> list[str]:
        """The columns that rows are sorted by; a key at their beginning decides alone."""
        order = list(self.meaning or self.key)
        return self.key if order[: len(self.key)] == self.key else order

    def _begun(self) -> hashlib._Hash:
        return hashlib.sha256(",".join(self.digest_columns).encode())

    def _add(self, digest: hashlib._Hash, rows: pl.DataFrame) -> None:
        for part in rows.select(self.digest_columns).iter_slices(_DIGEST_SLICE):
            digest.update(part.write_ndjson().encode())


def _in_order(rows: pl.DataFrame, columns: list[str]) -> bool:
    """Whether each row comes after the one before it, or is its equal, by these columns from the first to the last."""
    after = pl.lit(True)
    for name in reversed(columns):
        if rows[name].null_count() or rows[name].dtype.is_nested():
            return False
        before = pl.col(name).shift(1)
        after = (pl.col(name) > before) | ((pl.col(name) == before) & after)
    return rows.height < 2 or bool(rows.select(after.slice(1).all()).item())


__all__ = ["SchemaMismatch", "Table", "dy"]
