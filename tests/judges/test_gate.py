"""Floors and accepted baselines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from boards import Ask, scored
from hypothesis import given
from hypothesis import strategies as st
from judged import judgments

from converters.errors import BadInput
from judges.statistics.baseline import Baseline, read_baseline, write_baseline
from judges.statistics.conditions import Conditions
from judges.statistics.gate import gate
from judges.statistics.metric import parse_metric, parse_metrics
from judges.statistics.outcomes import OUTCOMES, STATES, judgment_outcomes, retrieval_outcomes, select

HERE = Conditions("smoke", "82c1" * 16, 50, {"j": "v1"})
ACCURACY = parse_metric("accuracy")


def outcomes(*labels: bool | str, **options: Any) -> pl.DataFrame:
    return select(judgment_outcomes(judgments(labels, **options)), [ACCURACY])


def accepted(frame: pl.DataFrame, conditions: Conditions = HERE) -> Baseline:
    return Baseline("local", conditions, frame)


def test_floors() -> None:
    run = pl.concat([outcomes(*[True] * 6, *[False] * 2, "error", "error"), outcomes(*[True] * 10, judge="k")])
    floors = {ACCURACY: 0.6, parse_metric("accuracy[j]"): 0.61, parse_metric("hit@5"): 0.1}
    decisions = gate(run, HERE, floors=floors)
    assert [(str(one.metric), one.passed, one.value) for one in decisions] == [
        ("accuracy[j]", True, 0.6),
        ("accuracy[k]", True, 1.0),
        ("accuracy[j]", False, 0.6),
        ("hit@5", False, None),
    ]
    assert [one.words for one in decisions][::2] == [
        "accuracy[j]: 0.600 reaches the floor of 0.600 (n=10, 2 failed)",
        "accuracy[j]: 0.600 is below the floor of 0.610 (n=10, 2 failed)",
    ]
    assert decisions[3].words == "hit@5: not measured; its floor is 0.100"


@pytest.mark.parametrize(
    ("frame", "name", "reason"),
    [
        (outcomes("not_run", "not_run"), "accuracy[j]", "none of 2 questions was run"),
        (
            retrieval_outcomes(scored(Ask(["s1"], ["s1"], limit=1), Ask(["s1"], ["s1"]))),
            "hit@5",
            "undefined on 1 of 2 questions",
        ),
    ],
    ids=["never run", "cut"],
)
def test_what_cannot_be_known_reaches_no_floor(frame: pl.DataFrame, name: str, reason: str) -> None:
    (decision,) = gate(frame, HERE, floors={parse_metric(name): 0.0})
    assert (decision.passed, decision.value) == (False, None)
    assert decision.words == f"{name}: cannot be known ({reason}); its floor is 0.000"


def test_a_mean_of_thirds_reaches_the_floor_that_it_is() -> None:
    run = retrieval_outcomes(scored(*[Ask(["s1", "s8", "s9"], ["s1", "s2", "s3"])] * 7))
    assert gate(run, HERE, floors={parse_metric("recall@3"): 1 / 3})[0].passed


def test_a_drop_that_chance_explains_passes_and_one_that_it_does_not_fails() -> None:
    baseline = accepted(outcomes(*[True] * 20))
    for lost, passed in ((5, True), (6, False)):
        (decision,) = gate(outcomes(*[False] * lost, *[True] * (20 - lost)), HERE, baseline=baseline)
        assert (decision.rule, decision.passed, decision.bound) == ("baseline", passed, 1.0)
    assert decision.words.startswith("accuracy[j]: 0.700, worse than the baseline's 1.000 (-0.300, -0.5")
    assert decision.words.endswith("; adjusted p=0.031; n=20)")


def test_failing_is_falling() -> None:
    (decision,) = gate(outcomes(*["error"] * 8), HERE, baseline=accepted(outcomes(*[True] * 8)))
    assert not decision.passed
    assert decision.words.endswith("n=8, 8 failed)")


def test_each_metric_of_the_baseline_is_looked_for_in_the_run() -> None:
    retrieval = select(retrieval_outcomes(scored(Ask(["s1"], ["s1"]))), parse_metrics(["hit@5", "mrr@5"]))
    baseline = accepted(pl.concat([retrieval, outcomes(True)]))
    decisions = gate(retrieval, HERE, baseline=baseline)
    assert [(str(one.metric), one.passed) for one in decisions] == [
        ("accuracy[j]", False),
        ("hit@5", True),
        ("mrr@5", True),
    ]
    assert decisions[0].words == (
        "accuracy[j]: cannot be compared with the baseline "
        "(no common questions: 1 only in the baseline, 0 only in the run)"
    )
    assert len(gate(retrieval, HERE, baseline=baseline, metrics=parse_metrics(["mrr@5"]))) == 1
    with pytest.raises(BadInput, match="holds none of the metrics"):
        gate(retrieval, HERE, baseline=baseline, metrics=parse_metrics(["turn.hit@5"]))


def test_a_run_that_lacks_questions_does_not_pass() -> None:
    baseline = accepted(outcomes(True, True, False))
    (decision,) = gate(outcomes(True, True), HERE, baseline=baseline)
    assert not decision.passed
    assert decision.words.endswith("n=2, 1 only in the baseline)")
    assert gate(outcomes(True, True), HERE, baseline=baseline, unlike=True)[0].passed
    assert gate(outcomes(True, True, False, True), HERE, baseline=baseline)[0].passed


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Conditions("oracle", HERE.digest, 50, HERE.judges), "benchmark smoke and oracle"),
        (Conditions("smoke", "0" * 64, 50, HERE.judges), "benchmark digest 82c182c182c1 and 000000000000"),
        (Conditions("smoke", HERE.digest, None, HERE.judges), "hits asked for 50 and none"),
        (Conditions("smoke", HERE.digest, 50, {"j": "v2"}), "prompt version of j v1 and v2"),
        (Conditions("smoke", HERE.digest, 50, {"i": "v1"}), "judge i on one side only, judge j on one side only"),
    ],
    ids=["benchmark", "digest", "k", "prompts", "judge"],
)
def test_unlike_runs_are_refused_unless_told_to(other: Conditions, words: str) -> None:
    run = outcomes(True, False)
    with pytest.raises(BadInput, match=r"^baseline: the runs are unlike: ") as refused:
        gate(run, other, baseline=accepted(run))
    assert f": {words}; accept a baseline" in refused.value.line
    assert [one.passed for one in gate(run, other, baseline=accepted(run), unlike=True)] == [True]


def test_a_gate_without_rules_is_refused() -> None:
    with pytest.raises(BadInput, match="neither floors nor a baseline"):
        gate(outcomes(True), HERE)


IDS = st.text(st.characters(codec="utf-8"), max_size=8)
ROWS = st.fixed_dictionaries(
    {
        "question_id": IDS,
        "judge": IDS,
        "state": st.sampled_from(STATES),
        "value": st.floats(0, 1).map(lambda value: round(value, 12)),
    }
)


@given(
    rows=st.lists(ROWS, max_size=8, unique_by=lambda row: (row["question_id"], row["judge"])),
    judges=st.dictionaries(IDS, IDS),
)
def test_a_baseline_is_read_as_it_was_written(
    rows: list[dict[str, Any]], judges: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    facts = {"question_type": "a\u2028b", "level": "answer", "metric": "accuracy", "k": 0}
    kept = [{**facts, **row, "value": row["value"] if row["state"] == "scored" else None} for row in rows]
    frame = pl.DataFrame(kept, schema=OUTCOMES).sort("question_id", "judge")
    path = tmp_path_factory.mktemp("baseline") / "accepted" / "smoke.json"
    for shuffled in (frame, frame.reverse()):
        write_baseline(path, Baseline("\u2028", Conditions("b", "d", None, judges), shuffled))
        assert path.read_bytes().count(b"\n") == 7 + frame["question_id"].n_unique()
        found = read_baseline(path)
        assert (found.system, found.conditions) == ("\u2028", Conditions("b", "d", None, judges))
        assert found.outcomes.equals(frame, null_equal=True)
    assert [one.name for one in path.parent.iterdir()] == ["smoke.json"]


def test_what_the_file_looks_like(tmp_path: Path) -> None:
    path = tmp_path / "smoke.json"
    write_baseline(path, accepted(outcomes(True, "error", types=["b", "a"])))
    conditions = f'{{"benchmark": "smoke", "digest": "{HERE.digest}", "judges": {{"j": "v1"}}, "k": 50}}'
    assert path.read_text("ascii").splitlines() == [
        "{",
        '"format": 1,',
        '"system": "local",',
        f'"conditions": {conditions},',
        '"questions": [',
        '{"id": "q0", "type": "b", "scores": {"accuracy[j]": 1.0}},',
        '{"id": "q1", "type": "a", "scores": {"accuracy[j]": "failed"}}',
        "]",
        "}",
    ]
    with pytest.raises(BadInput, match="exists already"):
        write_baseline(path, accepted(outcomes(True)), force=False)


def test_a_baseline_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    write_baseline(path, accepted(outcomes(True)))
    before = path.read_bytes()
    with pytest.raises(BadInput, match="cannot be written"):
        write_baseline(path / "b.json", accepted(outcomes(True)))
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [before]


GOOD = {
    "format": 1,
    "system": "local",
    "conditions": {"benchmark": "b", "digest": "d"},
    "questions": [{"id": "q", "type": "t", "scores": {"hit@5": 1}}],
}


def broken(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


def one_score(score: Any, name: str = "hit@5") -> str:
    return broken(questions=[{"id": "q", "type": "t", "scores": {name: score}}])


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("", "is not JSON"),
        ("[]", "Expected `object`"),
        (json.dumps(GOOD)[:-9], "is not JSON"),
        ("<<<<<<< HEAD\n" + json.dumps(GOOD), "is not JSON"),
        ("[" * 100_000, "Expected `object`"),
        ('{"questions": ' + "[" * 100_000, "questions[0]: Expected `object`"),
        (broken(format=2), "format: Invalid enum value 2"),
        (broken(more=1), "unknown field `more`"),
        (broken(questions=GOOD["questions"] * 2), "question 2 (q): is there twice"),
        (one_score(1.5), "questions[0].scores[...]: Expected `float` <= 1.0"),
        (one_score("NaN"), "questions[0].scores[...]: Invalid enum value 'NaN'"),
        (one_score(None), "questions[0].scores[...]: Expected `"),
        (one_score(1, "hits@5"), "question 1 (q): hits@5: is not a metric"),
        (json.dumps(GOOD).replace('"hit@5": 1', '"hit@5": NaN'), "is not JSON"),
        (json.dumps(GOOD).replace('"hit@5": 1', '"hit@5": 1e999'), "questions[0].scores[...]: Number out of range"),
        ('{"system": "\udcff"}', "is not JSON"),
    ],
    ids=lambda value: str(len(value)),
)
def test_a_damaged_file_is_refused_in_one_line(content: str, where: str, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput) as refused:
        read_baseline(path)
    assert where in refused.value.line
    assert refused.value.line.startswith(f"{path}: ")
    assert refused.value.line.endswith("; restore the file from version control, or accept a baseline again")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file; accept a baseline first"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(BadInput, match="cannot be read"):
        read_baseline(tmp_path)
