"""Imported systems as they are written in systems.yaml."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from projects import SYSTEMS, Box, make_project, merged, write_yaml

from converters.errors import BadInput
from eval_assets.doctor import facts
from eval_assets.graph import Graph
from eval_assets.project import Project
from eval_assets.result_sources import result_source_of
from eval_assets.settings import Settings, load_settings
from eval_assets.settings_systems import ImportedSystem
from eval_assets.sources import STAT, change_since

RUN = {"file": "theirs.run", "format": "trec_run"}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return make_project(tmp_path_factory.mktemp("settings") / "project")


def loaded(box: Box, theirs: Any, **more: Any) -> Settings:
    write_yaml(box.systems_file, merged(SYSTEMS, {"systems": {"theirs": theirs}, **more}))
    return load_settings(Project.at(box.root))


def test_pairs_are_where_it_has_files(box: Box) -> None:
    theirs = {
        "provider": "imported",
        "results": {"tiny": RUN},
        "answers": {"chats": {"file": "answers.jsonl"}},
        "judgments": {"chats": {"file": "judged.jsonl", "format": "hypotheses"}},
    }
    settings = loaded(box, theirs, targets=[{"systems": ["theirs"], "benchmarks": ["tiny", "chats", "absent"]}])
    assert settings.pairs == [("theirs", "tiny"), ("theirs", "chats")]
    system = settings.systems["theirs"]
    assert isinstance(system, ImportedSystem)
    assert list(system.files("chats")) == ["answers", "judgments"]
    (box.root / "data" / "sources" / "answers.jsonl").write_text("{}")
    told = facts(Graph(Project.at(box.root), settings))
    assert told[-3:] == [
        "results        theirs on tiny: its file is missing",
        "answers        theirs on chats: data/sources/answers.jsonl",
        "judgments      theirs on chats: its file is missing",
    ]


def test_a_file_is_looked_for_beside_the_settings_first(box: Box) -> None:
    file = loaded(box, {"provider": "imported", "results": {"tiny": RUN}}).systems["theirs"]
    assert isinstance(file, ImportedSystem)
    project = Project.at(box.root)
    found = file.results["tiny"]
    assert found.find(project) is None
    for folder in (project.sources, project.data):
        (folder / "theirs.run").write_text("")
        assert found.find(project) == folder / "theirs.run"
    assert found.target(project) == project.sources / "theirs.run"


@pytest.mark.parametrize(
    ("theirs", "line"),
    [
        ({"provider": "imported"}, "theirs: an imported system without files; give results, answers or judgments; "),
        ({"provider": "import", "results": {"tiny": RUN}}, "theirs.provider: input should be 'imported'; "),
        (
            {"provider": "imported", "results": {"tinny": RUN}},
            "theirs.results: unknown name 'tinny'; known are: absent, chats, tiny",
        ),
        (
            {"provider": "imported", "answers": {"chat": {"file": "x"}}},
            "theirs.answers: unknown name 'chat'; known are: absent, chats, tiny",
        ),
        (
            {"provider": "imported", "results": {"tiny": {"file": "x", "format": "trec"}}},
            "theirs.results.tiny.format: input should be 'trec_run' or 'retrieval_log'; ",
        ),
        ({"provider": "imported", "results": {"tiny": {"file": "x"}}}, "theirs.results.tiny.format: field required; "),
        ({"provider": "imported", "results": {"tiny": {**RUN, "file": ""}}}, "theirs.results.tiny.file: string should"),
        (
            {"provider": "imported", "results": {"tiny": {**RUN, "tag": 1}}},
            "theirs.results.tiny.tag: unknown setting; ",
        ),
        ({"provider": "imported", "results": {"tiny": "x"}}, "theirs.results.tiny: input should be a valid dictionary"),
        ({"provider": "imported", "results": {"tiny": RUN}, "store": "turns"}, "theirs.store: unknown setting; "),
        ({"provider": "imported", "results": {"tiny": RUN}, "limit": 0}, "theirs.limit: input should be greater"),
    ],
    ids=range(11),
)
def test_a_wrong_setting_is_one_line(box: Box, theirs: dict[str, Any], line: str) -> None:
    with pytest.raises(BadInput) as error:
        loaded(box, theirs)
    assert error.value.line.startswith(f"{box.systems_file}: systems.{line}")
    assert "\n" not in error.value.line


def test_files_outside_of_the_project(box: Box, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.run"
    path.write_text("")
    system = loaded(box, {"provider": "imported", "results": {"tiny": {**RUN, "file": str(path)}}}).systems["theirs"]
    assert isinstance(system, ImportedSystem)
    assert system.results["tiny"].find(Project.at(box.root)) == path


def test_packed_bytes_are_the_same_bytes(box: Box) -> None:
    settings = loaded(box, {"provider": "imported", "results": {"tiny": RUN}, "answers": {"tiny": {"file": "told"}}})
    project = Project.at(box.root)
    plain, told = project.data / "theirs.run", project.sources / "told"
    plain.write_text("q Q0 d 1 1 x\n")
    told.write_text('{"question_id": "q", "hypothesis": "a"}\n')
    before = result_source_of(project, settings, "theirs", "tiny")
    seen = {**before.facts(), STAT: before.stat()}
    assert change_since(before, seen) is None
    plain.write_bytes(gzip.compress(plain.read_bytes()))
    after = result_source_of(project, settings, "theirs", "tiny")
    assert after.data_version(after.facts()) == before.data_version(seen)
    assert change_since(after, seen) is None

    told.write_text('{"question_id": "q", "hypothesis": "b"}\n')
    words = change_since(after, seen)
    assert words is not None
    assert words.startswith("the file changed: answers sha256 ")
    fewer = loaded(box, {"provider": "imported", "results": {"tiny": {**RUN, "format": "retrieval_log"}}})
    words = change_since(result_source_of(project, fewer, "theirs", "tiny"), seen)
    assert words is not None
    assert "results format trec_run -> retrieval_lo" in words
    assert "answers format hypotheses -> (none)" in words
