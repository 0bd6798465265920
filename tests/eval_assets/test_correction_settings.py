"""corrections.yaml as it is read."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from projects import REPOSITORY, Box, write_yaml

from converters.errors import BadInput
from eval_assets.project import Project
from eval_assets.settings import load_settings

GOOD: dict[str, Any] = {"answer": 2, "why": "counted again"}


def loaded(box: Box, name: str = "audited", benchmark: str = "chats", **question: Any) -> Any:
    content = {"corrections": {name: {"benchmark": benchmark, "questions": {"q1": question}}}}
    write_yaml(box.root / "data" / "corrections.yaml", content)
    return load_settings(Project.at(box.root)).corrections


def test_an_overlay_is_of_one_benchmark(fresh: Box) -> None:
    found = loaded(fresh, **GOOD)
    settings = load_settings(Project.at(fresh.root))
    assert settings.corrections_of("chats") == found
    assert settings.corrections_of("tiny") == {}
    assert found["audited"].questions["q1"].correction.answer == 2


@pytest.mark.parametrize("text", ["", "corrections:\n", "corrections: {}\n"])
def test_nothing_is_corrected_as_shipped(fresh: Box, text: str) -> None:
    (fresh.root / "data" / "corrections.yaml").write_text(
        text or (REPOSITORY / "data" / "corrections.yaml").read_text()
    )
    assert load_settings(Project.at(fresh.root)).corrections == {}


def test_the_commented_example_is_one(fresh: Box) -> None:
    lines = (REPOSITORY / "data" / "corrections.yaml").read_text().splitlines()
    start = lines.index("# corrections:")
    example = yaml.safe_load("\n".join(line[2:] for line in lines[start:] if line.startswith("#")))
    example["corrections"]["audited"]["benchmark"] = "chats"
    write_yaml(fresh.root / "data" / "corrections.yaml", example)
    assert len(load_settings(Project.at(fresh.root)).corrections["audited"].questions) == 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"benchmark": "elsewhere"}, "corrections.audited.benchmark: unknown name 'elsewhere'"),
        ({"name": "base"}, "corrections.base: this name stands for the source's own labels"),
        ({"answer": None}, "nothing is corrected"),
        ({"why": None}, "corrections.audited.questions.q1.why"),
        ({"anwser": 3}, "corrections.audited.questions.q1.anwser: unknown setting"),
        ({"is_abstention": "no way"}, "corrections.audited.questions.q1.is_abstention"),
        ({"answer": True}, "corrections.audited.questions.q1.answer"),
    ],
    ids=["benchmark", "base", "nothing", "why", "misspelt", "abstention", "answer"],
)
def test_what_is_wrong_is_said_in_a_line(fresh: Box, changed: dict[str, Any], said: str) -> None:
    given = {name: value for name, value in {**GOOD, **changed}.items() if value is not None}
    with pytest.raises(BadInput) as caught:
        loaded(fresh, **given)
    assert said in caught.value.line
    assert "corrections.yaml" in caught.value.line
    assert "\n" not in caught.value.line


def test_a_system_cannot_be_called_as_the_asset_is(fresh: Box) -> None:
    fresh.edit_systems({"systems": {"corrections": {"store": "turns"}}})
    with pytest.raises(BadInput, match="taken by an asset"):
        load_settings(Project.at(fresh.root))
