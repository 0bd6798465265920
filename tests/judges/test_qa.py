"""Accuracies of judged answers."""

from __future__ import annotations

import hashlib
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.formats.hypotheses import Hypothesis, write_hypotheses
from converters.results.answers import import_answers, import_judgments
from converters.tables import JUDGMENTS
from judges.qa import aggregate_answers
from judges.report_answers import answers_headline, answers_line, answers_table, judgment_lines, markdown_answers


def judged(*rows: tuple[str, bool | None], abstention: tuple[int, ...] = (), status: str = "not_run") -> pl.DataFrame:
    """Rows of type and label; None is a row of that status."""
    found: list[dict[str, Any]] = [
        {
            "question_id": f"q{number}",
            "ordinal": number,
            "question_type": kind,
            "is_abstention": number in abstention,
            "status": status if label is None else "ok",
            "retryable": False,
            "label": label,
        }
        for number, (kind, label) in enumerate(rows)
    ]
    return JUDGMENTS.validate(pl.DataFrame(found, schema=JUDGMENTS.empty.schema))


def figures(judgments: pl.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["slice"], row["metric"]): row for row in aggregate_answers(judgments).to_dicts()}


def test_three_headlines_and_their_counts() -> None:
    found = figures(judged(("a", True), ("a", False), ("a", True), ("b", True), ("b", None), abstention=(3, 4)))
    names = ("value", "strict", "n", "n_excluded", "n_failed")
    shown = {key: tuple(row[name] for name in names) for key, row in found.items()}
    averages = (pytest.approx((2 / 3 + 1) / 2), pytest.approx((2 / 3 + 1 / 2) / 2))
    assert shown == {
        ("all", "accuracy"): (0.75, 0.6, 4, 0, 1),
        ("all", "accuracy_task_averaged"): (*averages, 4, 0, 1),
        ("all", "accuracy_abstention"): (1.0, 0.5, 1, 3, 1),
        ("type:a", "accuracy"): (2 / 3, 2 / 3, 3, 0, 0),
        ("type:b", "accuracy"): (1.0, 0.5, 1, 0, 1),
        ("type:b", "accuracy_abstention"): (1.0, 0.5, 1, 0, 1),
    }


def test_nobody_judged_is_no_zero_and_a_judge_that_failed_is() -> None:
    nobody = figures(judged(("a", None)))["all", "accuracy"]
    assert (nobody["value"], nobody["strict"], nobody["n_failed"]) == (None, None, 1)
    failed = figures(judged(("a", None), status="error"))["all", "accuracy"]
    assert (failed["value"], failed["strict"], failed["n_failed"]) == (None, 0.0, 1)
    assert aggregate_answers(JUDGMENTS.empty).is_empty()
    assert answers_line(aggregate_answers(JUDGMENTS.empty)) == ""


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=40))
def test_intervals_hold_their_value(rows: list[tuple[str, bool]]) -> None:
    for row in aggregate_answers(judged(*rows)).filter(pl.col("n") > 0).iter_rows(named=True):
        assert 0 <= row["ci_low"] <= row["value"] + 1e-12
        assert row["value"] - 1e-12 <= row["ci_high"] <= 1
        assert row["strict"] == row["value"]


def test_what_is_printed() -> None:
    judgments = judged(("a", True), ("b|c", False), ("b|c", None))
    report = aggregate_answers(judgments)
    line = answers_line(report)
    assert line.startswith("ANSWERS  accuracy=0.500 (1/2, 0.095 to 0.905)   accuracy_strict=0.333 (1/3)   task-")
    assert line.endswith("abstention=-   (1 not judged)")
    verdicts = [line.split()[:2] for line in judgment_lines(judgments)]
    assert verdicts == [["q0", "right"], ["q1", "wrong"], ["q2", "[not_run]"]]
    first = answers_table(report).splitlines()[2].split()
    assert first == ["accuracy", "0.500", "0.095", "to", "0.905", "2", "0.333", "3", "0", "1"]
    assert "accuracy b\\|c" in markdown_answers(report)
    assert answers_headline(report)["accuracy_strict"] == pytest.approx(1 / 3)


def _label(name: str) -> bool:
    return hashlib.sha256(name.encode()).digest()[0] % 3 > 0


@pytest.mark.real_data
def test_official_labels_give_the_official_numbers(real_oracle: Path, tmp_path: Path) -> None:
    """As LongMemEval's ``print_qa_metrics.py`` has it, over a label a question of the published file."""
    convert_corpus(real_oracle, "longmemeval", tmp_path / "corpus")
    tables = read_corpus(tmp_path / "corpus")
    questions, truth = tables["questions"], tables["ground_truth"]
    names = questions["question_id"].to_list()
    assert len(names) == 500
    path = tmp_path / "judged.jsonl"
    write_hypotheses((Hypothesis(name, f"to {name}", _label(name), "gpt-4o-2024-08-06") for name in names), path)
    answers = import_answers(path, questions)
    found = figures(import_judgments(path, answers=answers, questions=questions, ground_truth=truth))

    kinds = dict(truth.select("question_id", "question_type").iter_rows())
    by_kind: dict[str, list[int]] = {}
    abstentions = []
    for name in names:
        by_kind.setdefault(kinds[name], []).append(int(_label(name)))
        if "_abs" in name:
            abstentions.append(int(_label(name)))
    assert (len(by_kind), len(abstentions)) == (6, 30)
    assert found["all", "accuracy"]["value"] == mean(label for labels in by_kind.values() for label in labels)
    averaged = mean(mean(labels) for labels in by_kind.values())
    assert found["all", "accuracy_task_averaged"]["value"] == pytest.approx(averaged, abs=1e-15)
    assert found["all", "accuracy_abstention"]["value"] == mean(abstentions)
    assert found["all", "accuracy_abstention"]["n_excluded"] == 470
    for kind, labels in by_kind.items():
        assert (found[f"type:{kind}", "accuracy"]["value"], found[f"type:{kind}", "accuracy"]["n"]) == (
            mean(labels),
            len(labels),
        )
