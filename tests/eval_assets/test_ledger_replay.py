"""A recorded run goes to another machine, which has no key and no service, and comes to the same results."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.zengram import FakeZengram
from projects import Box
from remote_projects import KEY_VARIABLE, remote_project

COMPARED = ("stores/there", "far/search_results", "far/retrieval_scores", "far/report")


def versions(box: Box) -> dict[str, str | None]:
    return {name: version for name, version in box.versions().items() if name.startswith(COMPARED)}


def test_a_recorded_run_replays_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, FakeZengram.key)
    file = tmp_path / "recorded.parquet"
    with FakeZengram() as fake:
        here = remote_project(tmp_path / "here", fake, "zengram")
        here.refresh()
        there = remote_project(tmp_path / "there", fake, "zengram")
    recorded = versions(here)
    assert len(recorded) == len(COMPARED)
    asked = len(fake.seen)

    done = here.run("ledger", "export", "--out", str(file))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert FakeZengram.key.encode() not in file.read_bytes()

    monkeypatch.delenv(KEY_VARIABLE)
    monkeypatch.setenv("EVAL_ASSETS_LEDGER_MODE", "replay")
    done = there.run("ledger", "import", str(file))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    refreshed = there.refresh()
    assert not [failure for wave in refreshed.waves for failure in wave.failures]
    assert versions(there) == recorded
    assert not there.plan().work
    assert there.events()["far/search_results [chats]"].metadata["calls made"] == 0
    assert len(fake.seen) == asked


def test_what_was_not_recorded_is_said_and_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_ASSETS_LEDGER_MODE", "replay")
    with FakeZengram() as fake:
        box = remote_project(tmp_path, fake, "zengram")
        done = box.refresh()
    failures = [failure for wave in done.waves for failure in wave.failures]
    assert [str(failure.part) for failure in failures] == ["stores/there [chats]"]
    assert "is not in the ledger, to be replayed" in failures[0].line
    assert not fake.seen
