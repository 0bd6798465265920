"""A remote system in the asset graph: plans, lost stores, keys, and what services hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from fakes.zengram import FakeZengram
from projects import Box, ran
from remote_projects import KEY_VARIABLE, remote_project, table

Command = Callable[..., Result]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "planted-secret")


@pytest.fixture
def fake() -> Iterator[FakeZengram]:
    with FakeZengram() as server:
        server.key = "planted-secret"
        yield server


@pytest.fixture
def box(tmp_path: Path, fake: FakeZengram) -> Box:
    return remote_project(tmp_path, fake, "zengram")


def test_a_plan_says_what_would_be_sent_and_how_long_it_takes(box: Box, command: Command, fake: FakeZengram) -> None:
    not_yet = "remote: stores/there [chats]: documents and requests are not known before the corpus is made"
    assert not_yet in command(box, "plan").stdout
    box.refresh(to="corpus")
    box.edit_systems({"stores": {"there": {"service": {"requests_per_minute": 4}}}})
    plan = box.plan()
    assert [(str(one.part), one.documents, one.requests, one.minutes) for one in plan.remote] == [
        ("stores/there [chats]", 7, 12, 3.0),
        ("far/search_results [chats]", 0, 3, 0.75),
    ]
    said = command(box, "plan").stdout
    assert "remote: stores/there [chats]: 7 documents, at most 12 requests, 3.0 minutes at the configured rate" in said
    assert json.loads(command(box, "plan", "--json").stdout)["remote_calls"] == 15
    assert not fake.seen


def test_without_its_key_a_system_is_unavailable(
    box: Box, command: Command, monkeypatch: pytest.MonkeyPatch, fake: FakeZengram
) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    done = command(box, "refresh")
    assert done.exit_code == 0
    why = f"store there needs a key of zengram: set the environment variable {KEY_VARIABLE}"
    assert f"unavailable: store there: {why}" in done.stdout
    assert not fake.seen


def test_a_wiped_server_is_filled_again_by_the_next_refresh_that_must_ask(box: Box, fake: FakeZengram) -> None:
    box.refresh()
    before = table(box, "far/search_results")
    fake.records.clear()
    box.edit_systems({"systems": {"far": {"revision": 2}}})
    done = box.refresh()
    assert not done.failures
    assert "stores/there [chats]" in ran(done)
    assert len(fake.records) == 7
    assert table(box, "far/search_results")["hits"].to_list() == before["hits"].to_list()
    assert not box.plan().work


def test_a_server_that_is_down_fails_with_one_line(box: Box, command: Command, fake: FakeZengram) -> None:
    fake.__exit__(None)
    box.edit_systems({"stores": {"there": {"service": {"attempts": 2}}}})
    done = command(box, "refresh")
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert f"zengram: no connection to {fake.url}" in done.stderr
    assert "is the API running there?" in done.stderr


def test_what_services_hold_is_listed_and_cleared(box: Box, command: Command, fake: FakeZengram) -> None:
    box.refresh()
    box.edit_systems({"stores": {"there": {"revision": 2}}})
    box.refresh()
    listed = json.loads(command(box, "containers", "--json").stdout)
    assert len(listed) == 6
    assert sum(one["orphaned"] for one in listed) == 3
    assert "3 containers cleared" in command(box, "clear", "--orphans").stdout
    assert "3 containers, 0 orphaned" in command(box, "containers").stdout
    active = [one for one in fake.records.values() if one["active"]]
    assert len(active) == 7
    assert "3 containers cleared" in command(box, "clear", "far").stdout
    assert not [one for one in fake.records.values() if one["active"]]
    assert command(box, "clear").exit_code == 2
    assert "unknown system 'nobody'" in command(box, "clear", "nobody").stderr


def test_the_key_is_nowhere(box: Box, command: Command, fake: FakeZengram) -> None:
    box.refresh()
    fake.key = "another"
    box.edit_systems({"systems": {"far": {"revision": 3}}})
    failed = command(box, "refresh")
    assert failed.exit_code == 1
    said = failed.stdout + failed.stderr + command(box, "plan").stdout + command(box, "report", "far", "chats").stdout
    assert "invalid key [key]" in failed.stderr
    assert "planted" not in said
    looked = [path for path in box.root.rglob("*") if path.is_file()]
    assert any(path.name == "ledger.sqlite" for path in looked)
    assert any(path.suffix == ".parquet" for path in looked)
    assert not [path for path in looked if b"planted-secret" in path.read_bytes()]


def test_a_key_in_the_settings_is_refused(box: Box, command: Command) -> None:
    box.edit_systems({"stores": {"there": {"service": {"base_url": "http://me:planted@127.0.0.1"}}}})
    done = command(box, "plan")
    assert done.exit_code == 2
    assert "stores.there.service.base_url" in done.stderr
    assert "planted" not in done.stderr


def test_hits_that_name_no_session_are_kept_and_counted(tmp_path: Path, fake: FakeZengram) -> None:
    box = remote_project(tmp_path / "other", fake, "zengram")
    box.refresh(to="store")
    for record in fake.records.values():
        record["metadata"] = {}
    fake.records = {
        f"theirs-{number}": {**one, "id": f"theirs-{number}"} for number, one in enumerate(fake.records.values())
    }
    box.refresh()
    hits = [hit for row in table(box, "far/search_results")["hits"] for hit in row]
    assert hits
    assert all(hit["session_keys"] == [] for hit in hits)
