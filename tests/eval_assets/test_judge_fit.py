"""A judge is put to cases with known verdicts: what it is told to be worth, and when it cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asking import chat
from fakes.openai import Fail, FakeOpenAI
from judging import Knowing
from projects import Box, make_project, write_yaml

from eval_assets.models.cases import NOT_TRIED, judge_is_fit, try_judge
from eval_assets.models.settings import JudgeSettings
from eval_assets.project import Project
from eval_assets.settings import load_settings
from judges.judging.cases import bundled_cases

CASES = [case.case for case in bundled_cases()]
KEY = "FAKE_MODEL_KEY"


def box_with(root: Path, url: str, **model: Any) -> Box:
    """A project with two judges of one model."""
    box = make_project(root)
    settings = {
        "model": "gpt-4o",
        "base_url": f"{url}/v1",
        "key_env": KEY,
        "structured": "json_schema",
        "input_usd": 1.0,
        "output_usd": 2.0,
        "attempts": 1,
        "backoff_s": 0.01,
        **model,
    }
    write_yaml(box.root / "data" / "models.yaml", {"models": {"fake": settings}})
    judges = {"ours": {"model": "fake"}, "theirs": {"model": "fake", "prompts": "official"}}
    box.edit_systems({"judges": judges})
    return box


def fit(box: Box, judge: str = "ours") -> tuple[bool, dict[str, Any]]:
    project = Project.at(box.root)
    return judge_is_fit(project, load_settings(project), judge)


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv(KEY, FakeOpenAI.key)
    return monkeypatch


def test_a_judge_that_knows_is_believed_and_asked_once(tmp_path: Path, keyed: pytest.MonkeyPatch) -> None:
    with FakeOpenAI(Knowing()) as fake:
        box = box_with(tmp_path / "project", fake.url)
        passed, facts = fit(box)
        assert (passed, facts["accuracy"], facts["cases"], facts["wrong"]) == (True, 1.0, len(CASES), "none")
        assert facts["cost (USD)"] > 0
        assert len(fake.seen) == len(CASES)
        assert fit(box) == (passed, facts)
        assert fit(box, "theirs")[1]["accuracy"] == 1.0
        assert len(fake.seen) == 2 * len(CASES)
    keyed.setenv("EVAL_ASSETS_LEDGER_MODE", "replay")
    keyed.delenv(KEY)
    assert fit(box) == (passed, facts), "the ledger tells it without key or service"


def test_a_judge_that_errs_too_often_is_named_with_its_errors(tmp_path: Path, keyed: pytest.MonkeyPatch) -> None:
    wrong = CASES[:5]
    with FakeOpenAI(Knowing(wrong[:4], unreadable=wrong[4:])) as fake:
        passed, facts = fit(box_with(tmp_path, fake.url))
    assert not passed
    assert facts["accuracy"] == round(1 - 5 / len(CASES), 4)
    assert [line.split(" | ")[0].strip("| ") for line in facts["wrong"].splitlines()[2:]] == wrong
    assert "unreadable" in facts["wrong"]


def test_one_error_is_forgiven(tmp_path: Path) -> None:
    with FakeOpenAI(Knowing(CASES[:1])) as fake, chat(fake, tmp_path) as asked:
        trial = try_judge(JudgeSettings(model="gpt_4o"), asked)
    assert trial.accuracy == 1 - 1 / len(CASES)
    assert trial.table.filter(~trial.table["right"])["case"].to_list() == CASES[:1]


def test_an_outage_is_no_accuracy(tmp_path: Path, keyed: pytest.MonkeyPatch) -> None:
    with FakeOpenAI(lambda _: Fail(500, None, "The server had an error.", "server_error")) as fake:
        passed, facts = fit(box_with(tmp_path, fake.url))
    assert not passed
    assert "accuracy" not in facts
    assert facts["cases without a reply"] == len(CASES)
    assert "The server had an error." in facts["for instance"]


def test_a_wrong_key_is_told(tmp_path: Path, keyed: pytest.MonkeyPatch) -> None:
    keyed.setenv(KEY, "another")
    with FakeOpenAI(Knowing()) as fake:
        passed, facts = fit(box_with(tmp_path, fake.url))
    assert not passed
    assert list(facts) == ["could not be asked"]
    assert "another" not in facts["could not be asked"]


def test_without_a_key_or_a_record_it_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = box_with(tmp_path, "http://127.0.0.1:1")
    assert fit(box) == (True, {NOT_TRIED: f"model gpt-4o needs a key: set the environment variable {KEY}"})
    monkeypatch.setenv("EVAL_ASSETS_LEDGER_MODE", "replay")
    said = f"{len(CASES)} of {len(CASES)} cases are not in the ledger, to be replayed"
    assert fit(box) == (True, {NOT_TRIED: said})


def test_the_lexical_judge_is_tried_without_a_model(fresh: Box) -> None:
    passed, facts = fit(fresh, "lexical")
    assert passed
    assert facts["accuracy"] >= facts["least accuracy"]
    assert "cost (USD)" not in facts
