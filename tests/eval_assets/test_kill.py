"""A refresh that is killed: what was good stays readable, and the next one ends where an undisturbed one would have."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from projects import TINY, Box
from shared import made_once

from converters.parquet import footer, read_table
from eval_assets.doctor import examine
from eval_assets.refresh import TAG
from eval_assets.stored import PATH

FIXTURE = copy.deepcopy(TINY)
FIXTURE["memories"][2]["content"] = "The launch party is in July."
PATIENCE = 120


@pytest.fixture(scope="module")
def undisturbed(refreshed: Box, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """Data versions after the change, where nothing is killed."""

    def make(place: Path) -> None:
        shutil.copytree(refreshed.root, place, symlinks=True)
        box = Box(place)
        box.write_fixture(FIXTURE)
        box.refresh()
        (place / "versions.json").write_text(json.dumps(box.versions()))

    found: dict[str, str | None] = json.loads(
        (made_once(tmp_path_factory, "undisturbed", make) / "versions.json").read_text()
    )
    return found


def kill_when(box: Box, pattern: str) -> bool:
    """Refresh in another process, and kill it once there is a new file of this name; whether it came to that."""
    before = set(box.root.glob(pattern))
    command = [str(Path(sys.executable).with_name("eval-assets")), "refresh"]
    with subprocess.Popen(
        command, cwd=box.root, env=box.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        for _ in range(PATIENCE * 100):
            if set(box.root.glob(pattern)) - before:
                process.kill()
            try:
                process.wait(timeout=0.01)
            except subprocess.TimeoutExpired:
                continue
            return process.returncode < 0
        process.kill()
    raise AssertionError("the refresh did not end")


@pytest.mark.parametrize(
    "moment",
    [
        "data/tables/.corpus-*",
        "data/tables/corpus/*/tiny/*-*.parquet",
        "data/tables/hybrid/retrieval_scores/tiny/*-*.parquet",
    ],
)
def test_kill_at(copied: Box, undisturbed: dict[str, str | None], moment: str) -> None:
    before = copied.versions()
    copied.write_fixture(FIXTURE)
    assert kill_when(copied, moment)

    with copied.open() as session:
        shelf = session.graph.shelf
        found = copied.events()
        assert set(found) == set(before)
        for name, event in found.items():
            if PATH in event.metadata:
                shelf.read(dg.AssetKey(name.split(" ")[0].split("/")), event)
        tables = {table.name: table for made in shelf.layout.values() for table in _tables(made)}
        whole = [path for path in copied.root.glob("data/tables/**/*.parquet") if not _hidden(path, copied.root)]
        for path in whole:
            read_table(tables[str(footer(path)["table"])], path)

    done = copied.refresh()
    assert not done.failures
    assert copied.versions() == undisturbed
    with copied.open() as session:
        unfinished = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.NOT_STARTED]
        assert session.instance.get_runs(dg.RunsFilter(statuses=unfinished)) == []
        dead = session.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], tags={TAG: "yes"}))
        assert len(dead) <= 1
        _, findings = examine(session.instance, session.graph)
    assert all("was left by a process that died" in finding.what for finding in findings)


def _tables(made: object) -> list[object]:
    return list(made.values()) if isinstance(made, dict) else [made]


def _hidden(path: Path, root: Path) -> bool:
    return any(name.startswith(".") for name in path.relative_to(root).parts)
