"""Ids of all kinds never become names of files: what is written, and where, depends on none of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from records import record, write

from converters.targets import TARGETS
from eval_assets.cli.compose import compose
from eval_assets.cli.convert import Target, convert

ODD = ("../../x", "a/b", "CON", "i" * 5_000, "/tmp/x", "\n.")
PLAIN = ("one", "two", "three", "four", "five", "six")


def _records(folder: Path, ids: tuple[str, ...]) -> Path:
    made = [
        record(name, haystack_session_ids=[f"{name}s", f"{name}e"], answer_session_ids=[f"{name}e"]) for name in ids
    ]
    return write(folder / "in.json", *made)


def _fixture(folder: Path, ids: tuple[str, ...]) -> Path:
    memories = [{"id": name, "content": f"m {number}", "client_id": name} for number, name in enumerate(ids)]
    queries = [{"q": "?", "expected_ids": [name], "client_id": name} for name in ids]
    (folder / "in.json").write_text(json.dumps({"memories": memories, "queries": queries}))
    return folder / "in.json"


def _listing(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# A fixture's memories are no conversations, so there is no LongMemEval file of them.
@pytest.mark.parametrize(
    ("target", "make"),
    [
        (target, make)
        for target in Target
        for make in (_records, _fixture)
        if (target, make) != (Target.longmemeval, _fixture)
    ],
)
def test_convert(tmp_path: Path, target: Target, make: Callable[[Path, tuple[str, ...]], Path]) -> None:
    found = []
    for label, ids in (("odd", ODD), ("plain", PLAIN)):
        place = tmp_path / label / "deep" / "deeper"
        place.mkdir(parents=True)
        source = make(place, ids)
        # An import takes no client_id of 5,000 characters, and so a batch is refused.
        own = make is _records
        convert(source, target, place / "out", batches=own, containers=own and target is Target.fixture)
        found.append(_listing(tmp_path / label))
    assert found[0] == found[1]


def test_compose(tmp_path: Path) -> None:
    found = []
    for label, ids in (("odd", ODD), ("plain", PLAIN)):
        place = tmp_path / label / "deep" / "deeper"
        place.mkdir(parents=True)
        source = _records(place, ids)
        filler = record(
            "f", haystack_sessions=[[{"role": "user", "content": "Filler."}], record()["haystack_sessions"][1]]
        )
        compose(source, [write(place / "filler.json", filler)], place / "out.json", sessions=2)
        found.append(_listing(tmp_path / label))
    assert found[0] == found[1]


def test_all_targets_are_meant() -> None:
    assert {target.value for target in Target} == {*TARGETS, "fixture", "corpus"}
