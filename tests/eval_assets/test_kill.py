"""A refresh that is killed: what was good stays readable, and the next one ends where an undisturbed one would have."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from projects import BENCHMARKS, SYSTEMS, TINY, Box, make_project, write_yaml
from shared import made_once

from converters.parquet import footer, read_table
from converters.schema import Table
from eval_assets.cli import app
from eval_assets.doctor import examine
from eval_assets.refresh import TAG
from eval_assets.stored import PATH

SETTINGS = {
    **SYSTEMS,
    "systems": {"bm25": SYSTEMS["systems"]["bm25"]},
    "targets": [{"systems": ["bm25"], "benchmarks": ["tiny"]}],
}
FIXTURE = copy.deepcopy(TINY)
FIXTURE["memories"][2]["content"] = "The launch party is in July."
PATIENCE = 120

# A process that has imported all that a refresh needs, and from which those to be killed are forked.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["test_kill", "eval_assets.cli.session", "eval_assets.refresh", "providers.local.system"])


@pytest.fixture(scope="module")
def one_system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Up to date, to copy; with what it comes to after the change where nothing is killed: ``versions.json``."""

    def make(place: Path) -> None:
        before = make_project(place)
        write_yaml(before.systems_file, SETTINGS)
        write_yaml(place / "data" / "benchmarks.yaml", {"benchmarks": {"tiny": BENCHMARKS["benchmarks"]["tiny"]}})
        before.refresh(to="scores")
        shutil.copytree(place, place / "after", symlinks=True)
        after = Box(place / "after")
        after.write_fixture(FIXTURE)
        after.refresh(to="scores")
        (place / "versions.json").write_text(json.dumps(after.versions()))
        shutil.rmtree(after.root)

    return made_once(tmp_path_factory, "one_system", make)


def refresh_in(environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    app(["refresh", "--to", "scores"])


def kill_when(box: Box, pattern: str) -> bool:
    """Refresh in another process, and kill it once there is a new file of this name; whether it came to that."""
    before = set(box.root.glob(pattern))
    process = FORKS.Process(target=refresh_in, args=(box.environment,))
    process.start()
    for _ in range(PATIENCE * 100):
        if set(box.root.glob(pattern)) - before:
            process.kill()
        process.join(timeout=0.01)
        if process.exitcode is not None:
            return process.exitcode == -signal.SIGKILL
    process.kill()
    raise AssertionError("the refresh did not end")


@pytest.mark.parametrize(
    "moment",
    [
        "data/tables/.corpus-*",
        "data/tables/corpus/*/tiny/*-*.parquet",
        "data/tables/bm25/retrieval_scores/tiny/*-*.parquet",
    ],
)
def test_kill_at(one_system: Path, tmp_path: Path, moment: str) -> None:
    copied = Box(tmp_path / "copy")
    shutil.copytree(one_system, copied.root, symlinks=True)
    undisturbed: dict[str, Any] = json.loads((copied.root / "versions.json").read_text())
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

    done = copied.refresh(to="scores")
    assert not done.failures
    assert copied.versions() == undisturbed
    with copied.open() as session:
        unfinished = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.NOT_STARTED]
        assert session.instance.get_runs(dg.RunsFilter(statuses=unfinished)) == []
        dead = session.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], tags={TAG: "yes"}))
        assert len(dead) <= 1
        _, findings = examine(session.instance, session.graph)
    assert all("was left by a process that died" in finding.what for finding in findings)


def _tables(made: Table | Mapping[str, Table]) -> list[Table]:
    return [made] if isinstance(made, Table) else list(made.values())


def _hidden(path: Path, root: Path) -> bool:
    return any(name.startswith(".") for name in path.relative_to(root).parts)
