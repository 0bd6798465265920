from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from projects import BENCHMARKS, SYSTEMS, Box, make_project, merged, write_yaml

from converters.errors import BadInput
from eval_assets.project import Project
from eval_assets.settings import Settings, flatten, load_settings, nest


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return make_project(tmp_path_factory.mktemp("settings") / "project")


def loaded(box: Box, change: dict[str, Any]) -> Settings:
    write_yaml(box.systems_file, merged(SYSTEMS, change))
    return load_settings(Project.at(box.root))


def refused(box: Box, change: dict[str, Any]) -> str:
    with pytest.raises(BadInput) as error:
        loaded(box, change)
    line = error.value.line
    assert "\n" not in line
    assert line.startswith(f"{box.systems_file}: ")
    return line.removeprefix(f"{box.systems_file}: ")


def test_a_sweep_makes_one_system_a_value_over_one_store(box: Box) -> None:
    sweep = {"store": "turns", "retrieval.rrf_k": [10, 20, 60, 100]}
    settings = loaded(box, {"systems": {"tuned": sweep}})
    names = ("tuned__rrf_k_10", "tuned__rrf_k_20", "tuned__rrf_k_60", "tuned__rrf_k_100")
    assert settings.sweeps == {"tuned": names}
    assert [settings.systems[name].retrieval["rrf_k"] for name in names] == [10, 20, 60, 100]
    assert {settings.systems[name].store for name in names} == {"turns"}
    assert "tuned" not in settings.systems


def test_nested_and_dotted_names_are_the_same(box: Box) -> None:
    dotted = {"store": "turns", "retrieval.mode": "dense", "retrieval.rrf_k": [10, 20]}
    nested = {"store": "turns", "retrieval": {"mode": "dense", "rrf_k": [10, 20]}}
    one, other = (loaded(box, {"systems": {"sweep": values}}) for values in (dotted, nested))
    assert one == other
    assert one.systems["sweep__rrf_k_20"].retrieval == {"mode": "dense", "rrf_k": 20}


def test_a_sweep_over_two_settings_is_their_product(box: Box) -> None:
    sweep = {"store": "turns", "retrieval": {"rrf_k": [10, 20], "similarity_floor": [0.3, 0.55]}}
    both = loaded(box, {"systems": {"both": sweep}}).sweeps["both"]
    assert both == (
        "both__rrf_k_10__similarity_floor_0p3",
        "both__rrf_k_10__similarity_floor_0p55",
        "both__rrf_k_20__similarity_floor_0p3",
        "both__rrf_k_20__similarity_floor_0p55",
    )


def test_a_sweep_in_the_targets_stands_for_its_systems(box: Box) -> None:
    settings = loaded(box, {"targets": [{"systems": ["tuned"], "benchmarks": ["tiny", "chats"]}]})
    assert settings.pairs == [
        ("tuned__rrf_k_10", "tiny"),
        ("tuned__rrf_k_10", "chats"),
        ("tuned__rrf_k_20", "tiny"),
        ("tuned__rrf_k_20", "chats"),
    ]


SYSTEM = "systems.hybrid"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"systems": {"hybrid": {"retrieval": {"rff_k": 5}}}}, f"{SYSTEM}.retrieval.rff_k: unknown setting; "),
        ({"systems": {"hybrid": {"colour": "red"}}}, f"{SYSTEM}.colour: unknown setting; "),
        (
            {"systems": {"hybrid": {"retrieval": {"rrf_k": "many"}}}},
            f"{SYSTEM}.retrieval.rrf_k: input should be a valid",
        ),
        ({"systems": {"hybrid": {"retrieval": {"rrf_k": -1}}}}, f"{SYSTEM}.retrieval.rrf_k: input should be greater"),
        ({"systems": {"hybrid": {"limit": 0}}}, f"{SYSTEM}.limit: input should be greater"),
        ({"systems": {"hybrid": {"store": "turn"}}}, f"{SYSTEM}.store: unknown name 'turn'; known are: turns"),
        ({"systems": {"hybrid": {"retrieval": {"rrf_k": []}}}}, f"{SYSTEM}.retrieval: a sweep over no values; "),
        ({"systems": {"hybrid": {"retrieval": {"rrf_k": [5, 5]}}}}, f"{SYSTEM}.retrieval: a sweep has one value twice"),
        ({"systems": {"hybrid": {"retrieval.rrf_k": 5}}}, "systems: retrieval.rrf_k is given twice; "),
        ({"systems": {"tuned": {"retrieval": None}}}, "systems: retrieval is given twice; "),
        ({"systems": {"hybrid": {"reader": "gpt"}}}, f"{SYSTEM}.reader: unknown name 'gpt'; known are: extractive"),
        (
            {"systems": {"hybrid": {"reader": "extractive", "judges": ["gpt"]}}},
            f"{SYSTEM}.judges: unknown name 'gpt'; known are: lexical",
        ),
        ({"systems": {"hybrid": {"judges": ["lexical"]}}}, f"{SYSTEM}: judges judge what a reader answered"),
        (
            {
                "judges": {"words": {"kind": "lexical"}},
                "systems": {"hybrid": {"reader": "extractive", "judges": ["lexical", "words"]}},
            },
            f"{SYSTEM}.judges: two judges without a model, which say the same; name one of them",
        ),
        (
            {"judges": {"gpt": {"model": "gpt_4o"}}},
            "judges.gpt.model: unknown name 'gpt_4o'; there are none yet: add it",
        ),
        ({"systems": {"hybrid": None}}, f"{SYSTEM}: input should be a valid dictionary"),
        ({"systems": None}, "systems: input should be a valid dictionary"),
        ({"systems": {"Two words": {"store": "turns"}}}, "systems.Two words.[key]: string should match"),
        ({"systems": {"corpus": {"store": "turns"}}}, "systems.corpus: this name is taken by an asset; "),
        ({"systems": {"tuned__rrf_k_10": {"store": "turns"}}}, "two systems are called tuned__rrf_k_10; rename one"),
        ({"stores": {"turns": {"provider": "remote"}}}, "stores.turns.provider: unknown name 'remote'; known are: "),
        ({"stores": {"turns": {"ingest": {"size": 1}}}}, "stores.turns.ingest.size: unknown setting; "),
        ({"stores": {"turns": {"isolation": "some"}}}, "stores.turns.isolation: input should be 'global' or"),
        ({"targets": [{"systems": ["bm52"], "benchmarks": ["tiny"]}]}, "targets.0.systems: unknown name 'bm52'; known"),
        (
            {"targets": [{"systems": ["bm25"], "benchmarks": ["tin"]}]},
            "targets.0.benchmarks: unknown name 'tin'; known",
        ),
        ({"targets": [{"systems": ["bm25"]}]}, "targets.0.benchmarks: field required; "),
        ({"goals": []}, "goals: unknown setting; "),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_file_and_field(box: Box, change: dict[str, Any], line: str) -> None:
    assert line in refused(box, change)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("systems: [\nstores:", "line 3: not readable as YAML; "),
        ("a: \x00", "not readable as YAML; "),
        ("", "input should be a valid dictionary"),
        ("- a\n", "input should be a valid dictionary"),
    ],
)
def test_a_file_that_is_no_settings(box: Box, text: str, line: str) -> None:
    box.systems_file.write_text(text)
    with pytest.raises(BadInput) as error:
        load_settings(Project.at(box.root))
    assert line in error.value.line
    assert str(box.systems_file) in error.value.line


def test_bytes_that_are_no_text(box: Box) -> None:
    box.systems_file.write_bytes(b"a: \xff")
    with pytest.raises(BadInput, match="not readable as YAML"):
        load_settings(Project.at(box.root))


def test_a_missing_file(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_ASSETS_SYSTEMS", str(box.root / "other.yaml"))
    with pytest.raises(BadInput, match=r"other\.yaml: no such file; put it there"):
        load_settings(Project.at(box.root))


def test_another_settings_file_and_another_sources_folder(
    box: Box, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_yaml(tmp_path / "mine.yaml", merged(SYSTEMS, {"systems": {"mine": {"store": "turns"}}}))
    (tmp_path / "absent.json").write_text("[]")
    monkeypatch.setenv("EVAL_ASSETS_SYSTEMS", str(tmp_path / "mine.yaml"))
    monkeypatch.setenv("EVAL_ASSETS_SOURCES", str(tmp_path))
    project = Project.at(box.root)
    settings = load_settings(project)
    assert "mine" in settings.systems
    assert settings.benchmarks["absent"].file(project) == tmp_path / "absent.json"


def test_a_wrong_benchmark(box: Box) -> None:
    write_yaml(box.systems_file, SYSTEMS)
    path = box.root / "data" / "benchmarks.yaml"
    write_yaml(path, merged(BENCHMARKS, {"benchmarks": {"tiny": {"format": "csv"}}}))
    with pytest.raises(BadInput) as error:
        load_settings(Project.at(box.root))
    assert error.value.line.startswith(f"{path}: benchmarks.tiny.format: input should be ")
    write_yaml(path, BENCHMARKS)


def test_the_project_is_found_from_inside_it(box: Box, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_yaml(box.systems_file, SYSTEMS)
    monkeypatch.chdir(box.root / "data" / "fixtures")
    assert Project.find().root == box.root
    monkeypatch.setenv("EVAL_ASSETS_ROOT", str(tmp_path))
    with pytest.raises(BadInput, match="no project here"):
        Project.find()


NAMES = st.text("abc_", min_size=1, max_size=4)
LEAVES = st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2) | st.none()
NESTED = st.recursive(LEAVES, lambda inside: st.dictionaries(NAMES, inside, min_size=1, max_size=3), max_leaves=8)


@given(st.dictionaries(NAMES, NESTED, max_size=3))
def test_flat_settings_nest_to_what_they_were(values: dict[str, Any]) -> None:
    flat = flatten(values)
    assert not any(isinstance(value, dict) for value in flat.values())
    assert nest(flat) == values
    assert flatten(nest(flat)) == flat


@given(st.dictionaries(NAMES, NESTED, max_size=3))
def test_yaml_does_not_change_what_is_flattened(values: dict[str, Any]) -> None:
    assert flatten(yaml.safe_load(yaml.safe_dump(values))) == flatten(values)
