"""Corrected labels: what they change beside the original, what they make stale, and what they ask of a judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result
from fakes.openai import FakeOpenAI
from projects import Box, parts, ran, write_yaml

Command = Callable[..., Result]
SCOPE: dict[str, Any] = {"systems": ("bm25",), "benchmarks": ("chats",)}
LEXICAL = {"systems": {"bm25": {"reader": "extractive", "judges": ["lexical"]}}}
WHY = {"why": "a person read the session again"}


def correct(box: Box, overlay: str = "audited", benchmark: str = "chats", **questions: dict[str, Any]) -> None:
    said = {name: {**question, **WHY} for name, question in questions.items()}
    content = {"corrections": {overlay: {"benchmark": benchmark, "questions": said}}}
    write_yaml(box.root / "data" / "corrections.yaml", content)


def report(box: Box, command: Command) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command(box, "report", "bm25", "chats", "--json").stdout)
    return found


def figure(told: dict[str, Any], metric: str, k: int = 0) -> dict[str, tuple[float | None, int]]:
    """Value and n of a figure of all questions, by overlay."""
    return {
        row["overlay"]: (row["value"], row["n"])
        for row in told["report"]
        if (row["slice"], row["metric"], row["k"]) == ("all", metric, k) and row["level"] != "turn"
    }


def test_a_correction_is_scored_beside_the_original(fresh: Box, command: Command) -> None:
    fresh.edit_systems(LEXICAL)
    fresh.refresh(**SCOPE)
    before = report(fresh, command)
    correct(
        fresh,
        q1={"answer": "a poodle called Rex"},
        q2={"answer_session_ids": ["answer_q2_0"]},
        q3_abs={"is_abstention": False, "answer": "Bo", "answer_session_ids": ["answer_q3_abs_0"]},
    )
    plan = fresh.plan(**SCOPE)
    assert parts(plan)[:3] == [
        "corrections [chats]",
        "bm25/corrected_scores [chats]",
        "bm25/corrected_judgments/lexical [chats]",
    ]
    # The pair is no target, and its report is there.
    assert {*parts(plan)} <= {*parts(fresh.plan())}
    done = fresh.refresh(**SCOPE)
    assert ran(done) == [
        "corrections [chats]",
        "bm25/corrected_scores [chats]",
        "bm25/corrected_judgments/lexical [chats]",
        "bm25/report [chats]",
        "leaderboard",
    ]
    told = report(fresh, command)
    assert [row for row in told["report"] if row["overlay"] == "base"] == before["report"]
    assert told["headline"] == before["headline"]
    # q3 has evidence to find now, and q2 one session in place of two.
    recall = figure(told, "recall", 1)
    assert recall["base"][1] == 2
    assert recall["audited"][1] == 3
    accuracy = figure(told, "accuracy")
    assert accuracy["base"][1] == accuracy["audited"][1] == 3
    abstention = figure(told, "accuracy_abstention")
    assert (abstention["base"][1], abstention["audited"][1]) == (1, 0)
    text = command(fresh, "report", "bm25", "chats").stdout
    lines = [line.split() for line in text.splitlines() if line.startswith("audited")]
    assert ["audited", "R@5"] in [line[:2] for line in lines]
    assert "corrected labels" in fresh.events()["bm25/report [chats]"].metadata

    correct(fresh, q2={"answer_session_ids": ["answer_q2_0"]}, q1={"answer": "a beagle"})
    plan = fresh.plan(**SCOPE)
    assert parts(plan) == ["corrections [chats]"]
    assert 'setting audited on chats: q1.answer: "a poodle called Rex" -> "a beagle"' in plan.work[0].why
    assert {str(part) for part in plan.may_follow} == {
        "bm25/corrected_scores [chats]",
        "bm25/corrected_judgments/lexical [chats]",
        "bm25/report [chats]",
        "leaderboard",
    }
    fresh.refresh(**SCOPE)
    assert figure(report(fresh, command), "recall", 1)["audited"][1] == 2

    (fresh.root / "data" / "corrections.yaml").unlink()
    assert ran(fresh.refresh(**SCOPE)) == ["bm25/report [chats]", "leaderboard"]
    assert report(fresh, command)["report"] == before["report"]


def test_only_the_judge_is_asked_and_only_where_what_it_is_shown_changed(
    fresh: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_KEY", FakeOpenAI.key)
    with FakeOpenAI() as fake:
        model = {"model": "gpt-4o", "base_url": f"{fake.url}/v1", "key_env": "FAKE_KEY", "context_tokens": 16000}
        write_yaml(fresh.root / "data" / "models.yaml", {"models": {"one": model}})
        fresh.edit_systems(
            {
                "readers": {"llm": {"model": "one"}},
                "judges": {"strict": {"model": "one"}},
                "systems": {"bm25": {"reader": "llm", "judges": ["strict"]}},
            }
        )
        fresh.refresh(**SCOPE)
        readers, judges = len(fake.readers), len(fake.judges)
        assert readers == 3
        correct(
            fresh,
            q1={"answer": "a poodle called Rex"},
            q2={"answer_session_ids": ["answer_q2_0"]},
        )
        fresh.refresh(**SCOPE)
        assert (len(fake.readers), len(fake.judges)) == (readers, judges + 1)
        assert fake.judges[-1].graded[0] == "a poodle called Rex"


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (
            {"q9": {"answer": "x"}},
            "corrections.audited.questions.q9: the benchmark has no such question; correct its id",
        ),
        (
            {"q1": {"answer_session_ids": ["nowhere"]}},
            "corrections.audited.questions.q1.answer_session_ids: the question's haystack has no session 'nowhere'; "
            "name sessions by the source's ids",
        ),
    ],
    ids=["question", "session"],
)
def test_what_the_benchmark_does_not_have_is_one_line(
    fresh: Box, command: Command, questions: dict[str, Any], said: str
) -> None:
    correct(fresh, **questions)
    found = command(fresh, "refresh", "--system", "bm25", "--benchmark", "chats")
    assert found.exit_code == 2
    assert [line for line in found.stderr.splitlines() if said in line] != []
    assert "Traceback" not in found.output


def test_a_fixture_is_corrected_by_its_memories_ids(fresh: Box, command: Command) -> None:
    correct(fresh, benchmark="tiny", q1={"answer_session_ids": ["b", "c"]})
    fresh.refresh(systems=("bm25",), benchmarks=("tiny",))
    told = json.loads(command(fresh, "report", "bm25", "tiny", "--json").stdout)
    assert figure(told, "hit", 1) == {"base": (1.0, 3), "audited": (pytest.approx(2 / 3), 3)}
