"""Folders that take long to make: the first worker that needs one makes it, and the others wait for it."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_assets.storage import kept_engines


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that ``make`` fills, once in a run of the tests. To copy from: other workers do so meanwhile."""
    base = factory.getbasetemp()
    # A worker's folder stands in that of the run.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "once" / name
    done = folder.with_name(f"{name}.done")
    folder.parent.mkdir(exist_ok=True)
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            # Engines of its own: a database that is closed is not written to while it is copied.
            with kept_engines():
                make(folder)
            done.touch()
    return folder
