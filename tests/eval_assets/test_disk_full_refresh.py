"""A disk that fills up while a refresh works: no traceback, nothing half written, and more space is all it takes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from projects import SYSTEMS, Box, make_project, write_yaml


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here: only root can")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_one_line_and_more_space_mends_it(small_disk: Path, command: Callable[..., Result]) -> None:
    box: Box = make_project(small_disk / "project")
    write_yaml(box.systems_file, {**SYSTEMS, "targets": [{"systems": ["bm25"], "benchmarks": ["tiny"]}]})

    failed = command(box, "refresh")

    assert failed.exit_code == 2
    # Dagster adds lines of its own for events that it cannot write; ours is the last.
    assert failed.stderr.splitlines()[-1].startswith("the disk is full: what was finished is kept; free some space")
    assert "Traceback" not in failed.stderr + failed.stdout
    assert not list((box.root / "data").rglob(".*.tmp"))

    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    assert command(box, "refresh").exit_code == 0
    assert command(box, "doctor").exit_code == 0
