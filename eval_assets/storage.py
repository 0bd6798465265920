"""Habits of Dagster's SQLite storage that cost a run of short steps most of its time, and how to break them.

It makes a database engine for every query, which compiles each statement again and opens the file anew; it imports the
whole history of its schema for every file; and it flushes the disk with every event. Its files are write-ahead logs,
which stay consistent and lose nothing to a killed process without that flush. Only a command's own process
does this, and the refresh job's; the UI is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import QueuePool

_MOST_OPEN: Final = 16
"""Files at once: a run has one of its own, and each takes three file descriptors."""


class _Pool(QueuePool):
    """Outlives ``Engine.dispose``, which Dagster calls after each query; ``close`` ends it."""

    def dispose(self) -> None:
        """Nothing."""

    def recreate(self) -> QueuePool:
        """Itself."""
        return self

    def close(self) -> None:
        """Close what is open."""
        super().dispose()


@contextmanager
def kept_engines() -> Iterator[None]:
    """Within the block, one engine a file, a connection that stays open between two queries, one history."""
    engines: dict[str, Engine] = {}
    histories: dict[str | None, ScriptDirectory] = {}
    read = ScriptDirectory.from_config

    def history(config: Config) -> ScriptDirectory:
        place = config.get_main_option("script_location")
        if place not in histories:
            histories[place] = read(config)
        return histories[place]

    def kept(address: str, **options: Any) -> Engine:
        engine = engines.pop(address, None)
        if engine is None:
            engine = create_engine(address, **{**options, "poolclass": _Pool, "pool_size": 1})
            event.listen(engine, "connect", _flush_less)
        engines[address] = engine
        if len(engines) > _MOST_OPEN:
            _close(engines.pop(next(iter(engines))))
        return engine

    try:
        with (
            patch.object(sqlite_event_log, "create_engine", kept),
            patch.object(sqlite_run_storage, "create_engine", kept),
            patch.object(ScriptDirectory, "from_config", history),
        ):
            yield
    finally:
        for engine in engines.values():
            _close(engine)


def _close(engine: Engine) -> None:
    assert isinstance(engine.pool, _Pool)
    engine.pool.close()


def _flush_less(connection: Any, _: object) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
