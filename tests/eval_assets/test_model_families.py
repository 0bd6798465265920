"""What each of the four families of data/models.yaml is sent, and that it takes it: the openai package over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asking import FAMILIES, answered, asks, chat, judged, model_of, name_of
from fakes.openai import Asked, Fail, FakeOpenAI, Say, family_of, usual

from judges.judging.build import RESPONSE_SCHEMA

SCHEMA = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": dict(RESPONSE_SCHEMA)}}
READER: dict[str, dict[str, Any]] = {
    "gpt_4o": {"max_tokens": 1024, "temperature": 0.0, "seed": 7},
    "gpt_5_mini": {"max_completion_tokens": 4096, "reasoning_effort": "low"},
    "gemini_flash": {"max_tokens": 4096, "temperature": 0.0, "reasoning_effort": "low"},
    "claude_sonnet": {"max_tokens": 1024, "temperature": 0.0},
}
OFFICIAL: dict[str, dict[str, Any]] = {
    "gpt_4o": {"max_tokens": 10, "temperature": 0, "seed": 7},
    # Ten tokens would be gone before a word is said.
    "gpt_5_mini": READER["gpt_5_mini"],
    "gemini_flash": READER["gemini_flash"],
    "claude_sonnet": {"max_tokens": 10, "temperature": 0},
}
JUDGE = {
    name: {**body, **({} if name == "claude_sonnet" else {"response_format": SCHEMA})} for name, body in READER.items()
}


def settings_in(asked: Asked) -> dict[str, Any]:
    return {name: value for name, value in asked.body.items() if name not in ("model", "messages")}


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family_is_sent_what_it_takes(name: str, tmp_path: Path) -> None:
    made = asks(3, wrong=[1])
    with FakeOpenAI() as fake, chat(fake, tmp_path, name) as asked:
        fake.known_ids |= {name_of(index) for index in range(3)}
        answers = answered(made, asked)
        judgments = judged(made, asked, answers)
        official = judged(made, asked, answers, prompts="official")
        assert [settings_in(one) for one in fake.readers] == [READER[name]] * 3
        assert [settings_in(one) for one in fake.judges] == [JUDGE[name]] * 3 + [OFFICIAL[name]] * 3
        assert {one.model for one in fake.asked} == {asked.model.model}
        assert all(one.headers["authorization"] == f"Bearer {fake.key}" for one in fake.seen)
    assert answers["answer"].to_list() == ["Code 0 is amber0.", "Code 1 is grey1.", "Code 2 is amber2."]
    assert judgments["label"].to_list() == official["label"].to_list() == [True, False, True]
    assert judgments["status"].to_list() == ["ok"] * 3


@pytest.mark.parametrize("name", FAMILIES)
def test_tokens_and_money_are_those_of_the_endpoint(name: str, tmp_path: Path) -> None:
    made = asks(3)
    model = model_of("http://nowhere", name)
    assert model.input_usd is not None and model.output_usd is not None
    with FakeOpenAI(prices=(model.input_usd, model.output_usd)) as fake, chat(fake, tmp_path, name) as asked:
        answers = answered(made, asked)
        judgments = judged(made, asked, answers)
    assert sum([*answers["cost_usd"], *judgments["cost_usd"]]) == pytest.approx(fake.spent_usd)
    thoughts = 40 if family_of(model.model) in ("reasoning", "google") else 0
    assert answers["output_tokens"].to_list() == [thoughts + len("Code 0 is amber0.") // 4 + 1] * 3


WRONG_SETTINGS: dict[str, tuple[str, dict[str, Any], str]] = {
    "temperature": ("gpt_5_mini", {"temperature": 0.0}, "'temperature' does not support 0"),
    "max_tokens": ("gpt_5_mini", {"token_parameter": "max_tokens"}, "Use 'max_completion_tokens' instead."),
    "effort": ("gpt_4o", {"reasoning_effort": "low"}, "'reasoning_effort' is not supported"),
    "model": ("gpt_4o", {"base_url": "{url}/v2"}, "no model gpt-4o-2024-08-06 at /v2/chat/completions"),
}


@pytest.mark.parametrize("which", WRONG_SETTINGS)
def test_a_setting_that_a_model_refuses_ends_the_step_and_says_which(which: str, tmp_path: Path) -> None:
    name, settings, said = WRONG_SETTINGS[which]
    with FakeOpenAI() as fake:
        settings = {key: value.format(url=fake.url) if key == "base_url" else value for key, value in settings.items()}
        with chat(fake, tmp_path, name, concurrency=1, **settings) as asked, pytest.raises(Exception) as told:
            answered(asks(9), asked)
        assert len(fake.seen) <= 2
    assert type(told.value).__name__ == "Stop"
    assert said in str(told.value) and str(told.value).endswith("mend the model in data/models.yaml")


def prose(asked: Asked) -> Say:
    """A model that was not asked for a form, and takes none."""
    if not asked.judges or "response_format" in asked.body:
        return usual(asked)
    gold, said = asked.graded
    return Say(f"I compared the two.\n\n**Verdict:** {'Correct' if gold in said else 'Incorrect'}")


def test_what_ignores_a_form_is_read_nevertheless(tmp_path: Path) -> None:
    made = asks(4, wrong=[0, 3])
    with FakeOpenAI(prose) as fake, chat(fake, tmp_path, "claude_sonnet") as asked:
        judgments = judged(made, asked, answered(made, asked))
    assert judgments["label"].to_list() == [False, True, True, False]
    assert judgments["score"].to_list() == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_wrong_key_ends_the_step_and_is_not_shown(name: str, tmp_path: Path) -> None:
    wrong = "sk-wrong-9876543210"
    with FakeOpenAI() as fake, chat(fake, tmp_path, name, key=wrong, concurrency=1) as asked:
        with pytest.raises(Exception) as told:
            answered(asks(9), asked)
        assert len(fake.seen) <= 2
    assert type(told.value).__name__ == "BadKey"
    assert "key" in str(told.value).lower() and wrong not in str(told.value)
    assert wrong.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


NO_MONEY = {
    "gpt_4o": Fail(429, "insufficient_quota", "You exceeded your current quota.", "insufficient_quota"),
    "gpt_5_mini": Fail(429, "insufficient_quota", "You exceeded your current quota.", "insufficient_quota"),
    "claude_sonnet": Fail(400, None, "Your credit balance is too low to access the Anthropic API."),
}


@pytest.mark.parametrize("name", NO_MONEY)
def test_an_account_without_money_ends_the_step_and_keeps_what_was_answered(name: str, tmp_path: Path) -> None:
    made = asks(6)

    def poor(asked: Asked) -> Say | Fail:
        return usual(asked) if asked.question in ("What is code 0?", "What is code 1?") else NO_MONEY[name]

    with FakeOpenAI(poor) as fake, chat(fake, tmp_path, name, concurrency=1) as asked:
        with pytest.raises(Exception) as told:
            answered(made, asked)
        assert type(told.value).__name__ == "OutOfQuota"
        before = len(fake.seen)
        fake.script = usual
        assert answered(made, asked)["status"].to_list() == ["ok"] * 6
        assert len(fake.seen) - before == 4
