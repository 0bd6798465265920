"""Who is at work: one refresh at a time on a data directory, one step at a time on a partition.

The locks are the operating system's (flock), so they end with the process that holds them, however it ends. A refresh
holds the directory's lock alone; a step that was started elsewhere, in the UI, shares it and holds its partition's.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from converters.errors import Told
from eval_assets.project import Project

_held: set[Path] = set()


class Busy(Told):
    """Another process is at work on the same data; the message says which."""


@contextmanager
def refreshing(project: Project, what: str) -> Iterator[None]:
    """Hold the data directory's lock; raises ``Busy`` if a refresh or a step elsewhere holds it."""
    path = project.locks / "refresh.lock"
    with _locked(path, fcntl.LOCK_EX, what):
        _held.add(path)
        try:
            yield
        finally:
            _held.discard(path)


@contextmanager
def stepping(project: Project, asset: str, partition: str) -> Iterator[None]:
    """Hold a partition's lock, unless this process is the refresh; raises ``Busy`` if another process is at it."""
    everything = project.locks / "refresh.lock"
    if everything in _held:
        yield
        return
    name = f"{asset.replace('/', '.')}@{partition}.lock"
    what = f"materializing {asset} [{partition}]"
    with _locked(everything, fcntl.LOCK_SH, what), _locked(project.locks / name, fcntl.LOCK_EX, what):
        yield


@contextmanager
def _locked(path: Path, kind: int, what: str) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"{_holder(handle)}; wait for it to end, or end it") from None
        _sign(handle, what)
        yield


def _sign(handle: IO[str], what: str) -> None:
    handle.seek(0)
    handle.truncate()
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    json.dump({"what": what, "pid": os.getpid(), "host": socket.gethostname(), "since": since}, handle)
    handle.flush()


def _holder(handle: IO[str]) -> str:
    handle.seek(0)
    try:
        who = json.load(handle)
    except json.JSONDecodeError:
        return "another process is at work on this data"
    return f"{who['what']} is under way: process {who['pid']} on {who['host']}, since {who['since']}"
