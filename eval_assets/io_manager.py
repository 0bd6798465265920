"""Stores what assets return as Parquet with an enforced schema, and loads what their events name."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import polars as pl

from converters.parquet import WrittenTable, write_table
from converters.schema import Table
from eval_assets.stored import PATH, Shelf


@dataclass(frozen=True)
class Rows:
    """A frame with its digest, which the asset needs for its data version before the frame is written."""

    frame: pl.DataFrame
    digest: str

    @classmethod
    def of(cls, table: Table, frame: pl.DataFrame) -> Rows:
        """Validate and digest; raises ``SchemaMismatch``."""
        valid = table.validate(frame)
        return cls(valid, table.digest(valid))


Value = Rows | WrittenTable | Mapping[str, Rows]


class ParquetIOManager(dg.IOManager):
    """One file a run and partition, or one folder of files where an asset is several tables."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def handle_output(self, context: dg.OutputContext, obj: Value) -> None:
        """Write; the event then names the path, relative to data/."""
        key = context.asset_key
        partition = context.asset_partition_key if context.has_asset_partitions else None
        tables = self._shelf.layout[key]
        path = self._shelf.folder(key, partition) / context.run_id
        provenance = {"asset": key.to_user_string(), "partition": partition, "run": context.run_id}
        if isinstance(obj, Mapping):
            assert isinstance(tables, Mapping)
            rows = _write_folder(path, tables, obj, provenance)
        else:
            path = path.with_suffix(".parquet")
            assert isinstance(tables, Table)
            rows = _write_file(path, tables, obj, provenance)
        _point(path.with_name(f"current{path.suffix}"), path)
        context.add_output_metadata({PATH: str(path.relative_to(self._shelf.project.data)), "dagster/row_count": rows})

    def load_input(self, context: dg.InputContext) -> pl.DataFrame | Mapping[str, pl.DataFrame]:
        """Load the partition's last materialization."""
        partition = context.asset_partition_key if context.has_asset_partitions else None
        loaded: pl.DataFrame | Mapping[str, pl.DataFrame] = self._shelf.load(
            context.instance, context.asset_key, partition
        )
        return loaded


def _write_file(path: Path, table: Table, value: Rows | WrittenTable, provenance: Mapping[str, object]) -> int:
    if isinstance(value, Rows):
        return write_table(table, value.frame, path, provenance).n_rows
    path.parent.mkdir(parents=True, exist_ok=True)
    value.path.replace(path)
    return value.n_rows


def _write_folder(
    path: Path, tables: Mapping[str, Table], rows: Mapping[str, Rows], provenance: Mapping[str, object]
) -> int:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        written = [
            write_table(table, rows[name].frame, temporary / f"{name}.parquet", provenance)
            for name, table in tables.items()
        ]
        if path.exists():
            shutil.rmtree(path)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return sum(one.n_rows for one in written)


def _point(link: Path, path: Path) -> None:
    """Let the link name the newest file; a file system without links does without."""
    temporary = link.with_name(f".{link.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        temporary.symlink_to(os.path.relpath(path, link.parent))
        temporary.replace(link)
