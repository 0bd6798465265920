"""Two habits of Dagster's SQLite storage that cost a run of short steps most of its time, and how to break them.

It makes a database engine for every query, which compiles each statement again and opens the file anew; and it flushes
the disk with every event. Its files are write-ahead logs, which stay consistent and lose nothing to a killed process
without that flush. Only a command's own process does this; the UI is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import QueuePool


@contextmanager
def kept_engines() -> Iterator[None]:
    """Within the block, one engine a database file, and a connection that stays open between two queries."""
    engines: dict[str, Engine] = {}

    def kept(address: str, **options: Any) -> Engine:
        if address not in engines:
            engines[address] = create_engine(address, **{**options, "poolclass": QueuePool, "pool_size": 1})
            event.listen(engines[address], "connect", _flush_less)
        return engines[address]

    try:
        with (
            patch.object(sqlite_event_log, "create_engine", kept),
            patch.object(sqlite_run_storage, "create_engine", kept),
        ):
            yield
    finally:
        for engine in engines.values():
            engine.dispose()


def _flush_less(connection: Any, _: object) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
