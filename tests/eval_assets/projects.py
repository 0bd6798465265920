"""A small project of its own for the tests of the asset graph: two benchmarks, one store, three systems and a sweep."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg
import yaml

from eval_assets.build import build_definitions, build_graph
from eval_assets.cli.session import Session
from eval_assets.plan import Plan, make_plan
from eval_assets.project import Project
from eval_assets.refresh import Refresh, refresh
from eval_assets.scope import Part, Scope
from eval_assets.stored import Event, last_event

REPOSITORY = Path(__file__).resolve().parents[2]
VARIABLES = ("EVAL_ASSETS_ROOT", "EVAL_ASSETS_SYSTEMS", "EVAL_ASSETS_SOURCES", "DAGSTER_HOME")

BENCHMARKS: dict[str, Any] = {
    "benchmarks": {
        "tiny": {"format": "fixture", "files": ["fixtures/tiny.json"]},
        "chats": {"format": "longmemeval", "files": ["chats.json", "chats.json.gz"], "fetch": "made by hand"},
        "absent": {"format": "longmemeval", "files": ["absent.json"], "fetch": "absent.json of the archive"},
    }
}
SYSTEMS: dict[str, Any] = {
    "stores": {"turns": {"provider": "local", "ingest": {"granularity": "turn"}}},
    "systems": {
        "bm25": {"description": "Words alone.", "store": "turns", "retrieval": {"mode": "lexical"}},
        "hybrid": {"store": "turns", "retrieval": {"mode": "hybrid", "rrf_k": 60}},
        "tuned": {"store": "turns", "retrieval.mode": "hybrid", "retrieval.rrf_k": [10, 20]},
    },
    "targets": [
        {"systems": ["bm25", "hybrid"], "benchmarks": ["tiny"]},
        {"systems": ["bm25"], "benchmarks": ["absent"]},
    ],
}
TINY: dict[str, Any] = {
    "memories": [
        {"id": "a", "content": "The launch is on the 4th of June.", "created_at": "2025-01-02T09:00:00Z"},
        {"id": "b", "content": "Priya signs every contract.", "created_at": "2025-01-03T09:00:00Z", "type": "fact"},
        {"id": "c", "content": "The office plants are watered by nobody.", "created_at": "2025-01-04T09:00:00Z"},
        {"id": "d", "content": "Backups run at two at night.", "created_at": "2025-01-05T09:00:00Z", "client_id": "x"},
    ],
    "queries": [
        {"q": "When is the launch?", "expected_ids": ["a"]},
        {"q": "Who signs a contract?", "expected_ids": ["b"]},
        {"q": "When do backups run?", "expected_ids": ["d"], "client_id": "x", "k": 1},
    ],
}


def chats() -> list[dict[str, Any]]:
    """LongMemEval records: two questions with evidence, one of them about two sessions, and an abstention."""
    return [
        _chat("q1", "Which dog do I have?", ["I adopted a beagle called Bo.", "My bicycle has a flat tyre."], [0]),
        _chat(
            "q2", "How many trips did I take?", ["I flew to Oslo.", "Rain all day.", "I went to Rome by train."], [0, 2]
        ),
        _chat("q3_abs", "What is my cat called?", ["I adopted a beagle called Bo.", "I like tea."], [0]),
    ]


def _chat(name: str, question: str, says: list[str], evidence: list[int]) -> dict[str, Any]:
    ids = [f"answer_{name}_{index}" if index in evidence else f"{name}_{index}" for index in range(len(says))]
    return {
        "question_id": name,
        "question_type": "multi-session" if len(evidence) > 1 else "single-session-user",
        "question": question,
        "answer": 2 if len(evidence) > 1 else "beagle",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_dates": [f"2023/05/{20 + index} (Sat) 02:2{index}" for index in range(len(says))],
        "haystack_session_ids": ids,
        "haystack_sessions": [
            [
                {"role": "user", "content": text, **({"has_answer": True} if index in evidence else {})},
                {"role": "assistant", "content": "I see."},
            ]
            for index, text in enumerate(says)
        ],
        "answer_session_ids": [ids[index] for index in evidence],
    }


@dataclass(frozen=True)
class Box:
    """A project in a folder."""

    root: Path

    @property
    def systems_file(self) -> Path:
        return self.root / "data" / "systems.yaml"

    @property
    def fixture(self) -> Path:
        return self.root / "data" / "fixtures" / "tiny.json"

    @property
    def chats(self) -> Path:
        return self.root / "data" / "sources" / "chats.json"

    @property
    def home(self) -> Path:
        return self.root / "data" / "dagster_home"

    @cached_property
    def environment(self) -> dict[str, str]:
        """What a subprocess needs to work in this project."""
        kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        return {**kept, "EVAL_ASSETS_ROOT": str(self.root), "DAGSTER_HOME": str(self.home)}

    @contextmanager
    def open(self) -> Iterator[Session]:
        """The project as it is on disk now, in this process."""
        graph = build_graph(Project.at(self.root))
        self.home.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / "dagster.yaml", self.home / "dagster.yaml")
        with dg.DagsterInstance.from_config(str(self.home)) as instance:
            yield Session(graph, build_definitions(graph), instance)

    def refresh(self, **scope: Any) -> Refresh:
        with self.open() as session:
            return refresh(session.instance, session.definitions, Scope(session.graph, **scope))

    def plan(self, **scope: Any) -> Plan:
        with self.open() as session:
            return make_plan(session.instance, session.definitions, Scope(session.graph, **scope))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command line, in a process of its own."""
        command = [str(Path(sys.executable).with_name("eval-assets")), *arguments]
        return subprocess.run(command, env=self.environment, cwd=self.root, capture_output=True, text=True, check=False)

    def events(self) -> dict[str, Event]:
        """The last materialization of every part of every system on every benchmark."""
        with self.open() as session:
            benchmarks, systems = list(session.graph.settings.benchmarks), list(session.graph.settings.systems)
            parts = Scope(session.graph, systems, benchmarks).parts
            found = {str(part): last_event(session.instance, part.key, part.partition) for part in parts}
        return {part: event for part, event in found.items() if event}

    def versions(self) -> dict[str, str | None]:
        return {part: event.data_version for part, event in self.events().items()}

    def edit_systems(self, change: Mapping[str, Any]) -> None:
        """Merge a change, mapping by mapping, into systems.yaml."""
        write_yaml(self.systems_file, merged(yaml.safe_load(self.systems_file.read_text()), change))

    def write_fixture(self, content: Mapping[str, Any]) -> None:
        self.fixture.write_text(json.dumps(content))


def make_project(root: Path) -> Box:
    """A project that nothing ran in yet."""
    (root / "data" / "fixtures").mkdir(parents=True)
    (root / "data" / "sources").mkdir()
    for name in ("workspace.yaml", "dagster.yaml"):
        shutil.copyfile(REPOSITORY / name, root / name)
    write_yaml(root / "data" / "benchmarks.yaml", BENCHMARKS)
    write_yaml(root / "data" / "systems.yaml", SYSTEMS)
    box = Box(root)
    box.write_fixture(TINY)
    box.chats.write_text(json.dumps(chats()))
    return box


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        key: merged(old[key], value) if isinstance(value, dict) and isinstance(old.get(key), dict) else value
        for key, value in new.items()
    }
    return {**old, **both}


def write_yaml(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(dict(content), sort_keys=False))


def ran(done: Refresh) -> list[str]:
    """What ran, in order."""
    return [str(one.part) for wave in done.waves for one in wave.ran]


def parts(plan: Plan) -> list[str]:
    return [str(work.part) for work in plan.work]


def part(name: str, partition: str | None = "tiny") -> Part:
    return Part(dg.AssetKey(name.split("/")), partition)
