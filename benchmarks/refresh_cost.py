"""What a refresh costs after one retrieval constant changed, against a cold refresh of the same system.

    python -m benchmarks.refresh_cost longmemeval_s.json.gz

Both run in this process (its start is not counted), on a project in a temporary folder: the ``hybrid`` system of
data/systems.yaml at turn granularity. The rival is our own cold refresh, which is what a harness without staleness does
after every change. Asserted: a refresh of nothing runs nothing; after the change neither corpus nor store runs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import dagster as dg
import yaml

from eval_assets import keys
from eval_assets.build import build_definitions, build_graph
from eval_assets.project import Project
from eval_assets.refresh import Refresh, refresh
from eval_assets.scope import Scope
from eval_assets.storage import kept_engines

_ROOT = Path(__file__).resolve().parent.parent
_BENCHMARK = "longmemeval_s"


def main() -> None:
    """Print the times of three refreshes and their ratio to the cold one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="a LongMemEval file with full haystacks, plain or gzipped")
    parser.add_argument("--system", default="hybrid")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = _project(Path(folder), arguments.source.resolve())
        with kept_engines(), dg.DagsterInstance.get() as instance:
            cold, seconds = _timed(project, instance, arguments.system)
            assert not cold.failures, cold.failures
            print(f"cold            {seconds:7.2f} s  {cold.runs} parts ran")
            nothing, idle = _timed(project, instance, arguments.system)
            assert nothing.runs == 0
            print(f"nothing stale   {idle:7.2f} s  0 parts ran")
            _set(project.systems_file, arguments.system, "rrf_k", 20)
            changed, partial = _timed(project, instance, arguments.system)
            stages = {keys.stage_of(one.part.key) for wave in changed.waves for one in wave.ran}
            assert stages.isdisjoint({"source", "corpus", "store"}), stages
            print(f"rrf_k changed   {partial:7.2f} s  {changed.runs} parts ran: {', '.join(sorted(stages))}")
            print(f"ratio to cold   {partial / seconds:7.3f}    (bound 0.25)")


def _project(folder: Path, source: Path) -> Project:
    for name in ("workspace.yaml", "dagster.yaml"):
        shutil.copy(_ROOT / name, folder)
    (folder / "data" / "sources").mkdir(parents=True)
    for path in (_ROOT / "data").glob("*.yaml"):
        shutil.copy(path, folder / "data")
    (folder / "data" / "sources" / "longmemeval_s").symlink_to(source)
    os.environ.pop("EVAL_ASSETS_SOURCES", None)
    os.environ.pop("EVAL_ASSETS_SYSTEMS", None)
    os.environ["DAGSTER_HOME"] = str(folder / "data" / "dagster_home")
    project = Project.at(folder)
    project.dagster_home()
    return project


def _timed(project: Project, instance: dg.DagsterInstance, system: str) -> tuple[Refresh, float]:
    started = time.perf_counter()
    graph = build_graph(project)
    done = refresh(instance, build_definitions(graph), Scope(graph, (system,), (_BENCHMARK,)))
    return done, time.perf_counter() - started


def _set(path: Path, system: str, setting: str, value: object) -> None:
    settings: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    settings["systems"][system]["retrieval"][setting] = value
    path.write_text(yaml.safe_dump(settings), "utf-8")


if __name__ == "__main__":
    main()
