from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from click.testing import Result
from projects import REPOSITORY, Box

from eval_assets.locks import Busy, refreshing, stepping
from eval_assets.project import Project

HOLD = """
import sys
from pathlib import Path
from eval_assets.locks import refreshing
from eval_assets.project import Project
with refreshing(Project.at(Path(sys.argv[1])), "eval-assets refresh"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(box: Box) -> Iterator[subprocess.Popen[str]]:
    """Another process that refreshes, until the block ends."""
    command = [sys.executable, "-c", HOLD, str(box.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_refresh_says_who_is_at_work_and_stops(fresh: Box, command: Callable[..., Result]) -> None:
    with held_elsewhere(fresh) as other:
        result = command(fresh, "refresh")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"eval-assets refresh is under way: process {other.pid} on ")
    assert result.stderr.endswith("; wait for it to end, or end it\n")
    assert result.stdout == ""
    assert not (fresh.root / "data" / "tables").exists()


def test_a_plan_may_be_made_meanwhile(refreshed: Box, command: Callable[..., Result]) -> None:
    with held_elsewhere(refreshed):
        assert command(refreshed, "plan").exit_code == 0


def test_a_step_elsewhere_is_refused_while_a_refresh_holds(fresh: Box) -> None:
    project = Project.at(fresh.root)
    with (
        held_elsewhere(fresh) as other,
        pytest.raises(Busy, match=f"process {other.pid}"),
        stepping(project, "bm25/report", "tiny"),
    ):
        raise AssertionError
    with stepping(project, "bm25/report", "tiny"):
        pass


def test_a_lock_ends_with_its_process(fresh: Box) -> None:
    project = Project.at(fresh.root)
    with held_elsewhere(fresh) as other:
        other.kill()
        other.wait()
        with refreshing(project, "this"):
            pass


def test_a_step_holds_its_partition_and_keeps_a_refresh_out(fresh: Box) -> None:
    project = Project.at(fresh.root)
    with stepping(project, "bm25/report", "tiny"):
        with stepping(project, "bm25/report", "chats"), stepping(project, "hybrid/report", "tiny"):
            pass
        with pytest.raises(Busy, match=r"materializing bm25/report \[tiny\]"), stepping(project, "bm25/report", "tiny"):
            raise AssertionError
        with pytest.raises(Busy, match="is under way"), refreshing(project, "this"):
            raise AssertionError


def test_the_steps_of_a_refresh_pass(fresh: Box) -> None:
    project = Project.at(fresh.root)
    with refreshing(project, "this"):
        with stepping(project, "bm25/report", "tiny"):
            pass
        with pytest.raises(Busy), refreshing(project, "another"):
            raise AssertionError


def test_an_unsigned_lock_is_told_too(fresh: Box) -> None:
    project = Project.at(fresh.root)
    with refreshing(project, "this"):
        (project.locks / "refresh.lock").write_text("")
        with pytest.raises(Busy, match="another process is at work on this data"), refreshing(project, "another"):
            raise AssertionError
