"""Rows that failed, steps that failed, checks that failed: with a provider that does as it is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result
from projects import Box, merged, part, ran, write_yaml
from scripted import SETTINGS, Script

from converters.errors import BadInput, Told
from eval_assets.plan import RETRIES

SEARCH = "first/search_results [tiny]"


def results(box: Box) -> list[tuple[str, str | None, bool]]:
    with box.open() as session:
        frame = session.graph.shelf.frame(session.instance, part("first/search_results").key, "tiny")
    return list(frame.select("status", "error", "retryable").iter_rows())


def revise(box: Box, revision: int = 2) -> None:
    box.edit_systems({"systems": {"first": {"revision": revision}}})


def test_failed_rows_are_retried(scripted_copy: Box, script: Script) -> None:
    script.failing_rows = 1
    revise(scripted_copy)
    done = scripted_copy.refresh(to="search")
    assert [[work.kind for work in wave.work] for wave in done.waves] == [["stale"], ["incomplete"]]
    assert (script.builds, script.searches) == (0, 2)
    assert results(scripted_copy) == [("ok", None, False)] * 3
    assert scripted_copy.plan(to="search").work == ()


def test_failed_rows_are_final_in_the_end_until_something_changes(scripted_copy: Box, script: Script) -> None:
    script.failing_rows = 1000
    revise(scripted_copy)
    scripted_copy.refresh(to="search")
    assert script.searches == 1 + RETRIES
    assert results(scripted_copy) == [("error", "not now", True)] * 3
    assert scripted_copy.plan(to="search").work == ()
    revise(scripted_copy, 3)
    scripted_copy.refresh(to="search")
    assert script.searches == 2 * (1 + RETRIES)


def test_a_question_without_a_reply_is_a_failed_row(scripted_copy: Box, script: Script) -> None:
    script.silent = True
    revise(scripted_copy)
    scripted_copy.refresh(to="search")
    assert results(scripted_copy) == [("error", "no reply to this question", True)] * 3


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (RuntimeError("out of\nluck"), 1, "first/search_results [tiny]: RuntimeError: out of luck"),
        (Told("is the API running?"), 1, "first/search_results [tiny]: is the API running?"),
        (BadInput("a.yaml", "no such key", "name another"), 2, "a.yaml: no such key; name another"),
    ],
)
def test_a_failed_step_leaves_the_last_good_partition(
    scripted_copy: Box, script: Script, command: Callable[..., Result], error: Exception, status: int, line: str
) -> None:
    before = scripted_copy.events()
    revise(scripted_copy)
    script.broken = error
    result = command(scripted_copy, "refresh", "--to", "search")
    assert (result.exit_code, result.stderr) == (status, f"{line}\n")
    assert scripted_copy.events() == before
    assert results(scripted_copy) == [("ok", None, False)] * 3
    (work,) = scripted_copy.plan(to="search").work
    assert work.why == ("setting revision: 1 -> 2",)


def test_what_a_failed_check_refuses_is_not_read(scripted_copy: Box, script: Script) -> None:
    script.loses = 1
    scripted_copy.edit_systems({"stores": {"notes": {"revision": 2}}})
    done = scripted_copy.refresh(to="search")
    assert [(str(one.part), one.line) for one in done.failures] == [
        ("stores/notes [tiny]", "its check failed: stored_is_sent")
    ]
    assert (script.builds, script.searches) == (1, 0)
    work = scripted_copy.plan(to="search").work
    assert [(str(one.part), one.kind) for one in work] == [("stores/notes [tiny]", "refused"), (SEARCH, "stale")]
    assert scripted_copy.refresh(to="search").failures
    assert (script.builds, script.searches) == (2, 0)
    script.loses = 0
    assert ran(scripted_copy.refresh(to="search")) == ["stores/notes [tiny]", SEARCH]
    assert scripted_copy.plan(to="search").work == ()


def test_a_step_of_a_sweep_is_named_by_its_asset(scripted_copy: Box, script: Script) -> None:
    swept = {"systems": {"first": {"retrieval": {"depth": [1, 2]}}}}
    write_yaml(scripted_copy.systems_file, merged(SETTINGS, swept))
    script.broken = RuntimeError("no")
    done = scripted_copy.refresh(to="search")
    assert [str(failure.part) for failure in done.failures] == [
        "first__depth_1/search_results [tiny]",
        "first__depth_2/search_results [tiny]",
    ]


def test_a_broken_file_is_one_line(scripted_copy: Box, script: Script, command: Callable[..., Result]) -> None:
    before = scripted_copy.versions()
    memories = [{"id": "a", "content": "x"}]
    scripted_copy.write_fixture({"memories": memories, "queries": [{"q": "x", "expected_ids": ["b"]}]})
    result = command(scripted_copy, "refresh", "--to", "search")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"{scripted_copy.fixture}: ")
    after = scripted_copy.versions()
    assert {name for name in after if after[name] != before[name]} == {"benchmark_source [tiny]"}
    assert not list(scripted_copy.root.glob("data/tables/.*"))
    assert (script.builds, script.searches) == (0, 0)
