"""Which file an asset's partition is: the one that its last materialization event names.

Files are immutable, one a run. A crash between writing a file and recording its event changes nothing: readers follow
the event. ``current`` links beside the files are for people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import dagster as dg
import polars as pl

from converters.errors import Told
from converters.parquet import read_table
from converters.schema import Table
from eval_assets.project import Project

PATH: Final = "eval_assets/path"
VERSION: Final = "eval_assets/version"
RETRYABLE: Final = "eval_assets/retryable_rows"
SECONDS: Final = "eval_assets/seconds"
UNPARTITIONED: Final = "_"

UNREADABLE: Final = (Told, OSError, ValueError, pl.exceptions.PolarsError)
"""What reading a damaged, foreign or missing file raises."""

Layout = Mapping[dg.AssetKey, Table | Mapping[str, Table]]


@dataclass(frozen=True)
class Event:
    """A materialization of one partition.

    Attributes:
        storage_id: place in the instance's event log: later is larger.
        run_id: the run that made it.
        timestamp: when, in seconds since the epoch.
        data_version: digest of what the rows mean.
        metadata: the event's metadata, as plain values.
        tags: its tags, among them code version and input data versions.
    """

    storage_id: int
    run_id: str
    timestamp: float
    data_version: str | None
    metadata: Mapping[str, Any]
    tags: Mapping[str, str]


def events(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None, *, limit: int = 1) -> Sequence[Event]:
    """The last materializations of a partition, newest first."""
    which = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition] if partition else None)
    found = []
    for record in instance.fetch_materializations(which, limit=limit).records:
        materialization = record.asset_materialization
        if materialization is None:
            continue
        tags = dict(materialization.tags or {})
        found.append(
            Event(
                storage_id=record.storage_id,
                run_id=record.event_log_entry.run_id,
                timestamp=record.timestamp,
                data_version=tags.get("dagster/data_version"),
                metadata={name: value.value for name, value in materialization.metadata.items()},
                tags=tags,
            )
        )
    return found


def last_event(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None) -> Event | None:
    """The last materialization of a partition, if there is one."""
    return next(iter(events(instance, key, partition)), None)


class NotThere(Told):
    """A partition that no run has made yet; the message names it."""


@dataclass(frozen=True)
class Shelf:
    """Where the tables of all assets are, and how to read them.

    Attributes:
        project: whose data directory.
        layout: which table, or tables by name, each asset is.
    """

    project: Project
    layout: Layout

    def folder(self, key: dg.AssetKey, partition: str | None) -> Path:
        """The folder that holds a partition's files, one a run."""
        return self.project.tables.joinpath(*key.path, partition or UNPARTITIONED)

    def path(self, event: Event) -> Path:
        """The file or folder that an event stored."""
        return self.project.data / str(event.metadata[PATH])

    def files(self, key: dg.AssetKey, event: Event) -> dict[Path, Table]:
        """Each Parquet file that an event stored, with its table."""
        tables = self.layout[key]
        if isinstance(tables, Table):
            return {self.path(event): tables}
        return {self.path(event) / f"{name}.parquet": table for name, table in tables.items()}

    def read(self, key: dg.AssetKey, event: Event) -> pl.DataFrame | dict[str, pl.DataFrame]:
        """What an event stored: a frame, or frames by name; raises ``SchemaMismatch`` or ``FileNotFoundError``."""
        frames = {path.stem: read_table(table, path) for path, table in self.files(key, event).items()}
        return next(iter(frames.values())) if isinstance(self.layout[key], Table) else frames

    def load(self, instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None) -> Any:
        """What the last materialization stored; raises ``NotThere`` as well."""
        return self.read(key, _there(instance, key, partition))

    def table(self, instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None, name: str) -> pl.DataFrame:
        """One table, by its name, of an asset that is several; the others are not read."""
        event = _there(instance, key, partition)
        path, table = next((path, table) for path, table in self.files(key, event).items() if table.name == name)
        return read_table(table, path)

    def frame(self, instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None) -> pl.DataFrame:
        """``load`` for an asset that is one table."""
        return cast(pl.DataFrame, self.load(instance, key, partition))


def _there(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None) -> Event:
    event = last_event(instance, key, partition)
    if event is None:
        raise NotThere(f"{key.to_user_string()} [{partition or 'unpartitioned'}] is not there yet")
    return event
