"""What a report says beside its rows: both accuracies with their n, time and money, and where questions went wrong."""

from __future__ import annotations

import json

import polars as pl
import pytest
from boards import Ask, scored
from judged import RIGHT, WRONG, judgments

from converters.tables import JUDGMENTS, REPORT
from judges.aggregate import aggregate
from judges.judging.lexical import NAME
from judges.qa import aggregate_answers
from judges.report_answers import (
    LEXICAL,
    answers_headline,
    answers_line,
    answers_table,
    judgments_line,
    markdown_answers,
)
from judges.report_buckets import failures, failures_json, failures_table, markdown_failures
from judges.report_markdown import markdown_headline
from judges.report_phases import Phase, markdown_phases, phases_json, phases_table, spent
from judges.report_text import as_json, headline_line
from judges.statistics.usage import Price

TEN: list[bool | str] = [*[RIGHT] * 6, *[WRONG] * 2, "error", "not_run"]


def phase(name: str, *times: float | None, tokens: int | None = None, usd: float | None = None) -> Phase:
    frame = judgments([RIGHT] * len(times)).with_columns(
        latency_ms=pl.Series(times, dtype=pl.Float64),
        input_tokens=pl.lit(tokens, dtype=pl.UInt32),
        output_tokens=pl.lit(tokens, dtype=pl.UInt32),
        cost_usd=pl.lit(usd, dtype=pl.Float64),
    )
    return Phase(name, frame, asks_model=tokens is not None)


def test_six_right_two_wrong_two_failed() -> None:
    report = aggregate_answers(judgments(TEN, judge="gpt"))
    line = answers_line(report)
    assert line.startswith("ANSWERS (judge: gpt)  accuracy=0.750 (6/8, 0.409 to 0.929)   accuracy_strict=0.600 (6/10)")
    assert line.endswith("(2 not judged)")
    cells = answers_table(report).splitlines()[2].split()
    assert cells == ["accuracy", "0.750", "0.409", "to", "0.929", "8", "0.600", "10", "0", "2"]


def test_an_outage_of_the_judge_makes_no_number() -> None:
    line = answers_line(aggregate_answers(judgments(["not_run", "not_run"])))
    assert "accuracy=- (0/0)   accuracy_strict=- (0/2)" in line


def test_retrieval_and_answers_in_one_headline() -> None:
    report = pl.concat([aggregate(scored(Ask(["s1"], ["s1"]))), aggregate_answers(judgments(TEN, judge="gpt"))])
    line = headline_line(report)
    assert line.startswith("HEADLINE  hit@5=1.000 R@5=1.000 MRR@5=1.000   hit@10=1.000 ")
    assert line.endswith("accuracy=0.750 (6/8, 0.409 to 0.929) accuracy_strict=0.600 (6/10) (judge: gpt)")
    rows = markdown_headline(report).splitlines()
    assert rows[2].startswith("| hit@5 | 1.000 |")
    assert "| accuracy, judge: gpt | 0.750 | 0.409 to 0.929 | 0.600 | 8 | 0 | 2 |" in rows
    without = markdown_headline(aggregate_answers(judgments(TEN, judge="gpt")))
    assert [row.split(" | ")[0] for row in without.splitlines()[2:]] == [
        "| accuracy, judge: gpt",
        "| task-averaged, judge: gpt",
        "| abstention, judge: gpt",
    ]


def test_the_judge_without_a_model_is_told_as_such_wherever_its_numbers_are() -> None:
    assert LEXICAL == NAME
    frame = judgments(TEN, judge=NAME)
    report = aggregate_answers(frame)
    found = failures(scored(*[Ask(["s1"], ["s1"])] * 10), {NAME: frame}, None)
    shown = [
        answers_line(report),
        answers_table(report),
        headline_line(report),
        markdown_answers(report),
        markdown_headline(report),
        judgments_line(frame),
        failures_table(found),
        markdown_failures(found),
    ]
    assert [text for text in shown if "asks no model" not in text] == []
    figures = set(answers_headline(report)) - {"n_answers", "n_answers_failed"}
    assert [name for name in figures if not name.endswith("[lexical]")] == []


def test_times_and_money_are_in_no_row_of_a_report() -> None:
    slow, fast = (
        judgments(TEN).with_columns(latency_ms=pl.lit(ms), cost_usd=pl.lit(ms), input_tokens=pl.lit(7, dtype=pl.UInt32))
        for ms in (9000.0, 1.0)
    )
    assert REPORT.digest(aggregate_answers(slow)) == REPORT.digest(aggregate_answers(fast))


def test_the_total_is_of_the_phases_that_have_figures_and_of_one_judge() -> None:
    second = phase("judge two", 1000, 1000, tokens=5, usd=0.5)
    found = spent(
        [
            phase("search", 10, 20, None),
            phase("answer", None, None, None),
            phase("judge one", 100, 200, 300, tokens=100, usd=0.25),
            Phase(second.name, second.table, asks_model=True, in_total=False),
        ]
    )
    assert list(found) == ["search", "answer", "judge one", "judge two", "total"]
    total = found["total"]
    assert (total.latency.n, total.latency.min, total.latency.max) == (2, 110, 220)
    assert total.usage is not None
    assert (total.usage.n, total.usage.input_tokens) == (5, 310)
    assert total.usage.usd == pytest.approx(0.25 * 3 + 0.5 * 2)
    assert found["search"].usage is None
    told = json.loads(json.dumps(phases_json(found), allow_nan=False))
    assert told["judge one"]["latency_ms"] == {
        "n": 3,
        "min": 100,
        "mean": 200,
        "median": 200,
        "p95": pytest.approx(290),
        "p99": pytest.approx(298),
        "max": 300,
    }
    assert told["search"]["usage"] is None


def test_a_price_stands_in_for_a_cost_that_was_not_recorded() -> None:
    recorded, unrecorded = phase("a", 1, tokens=10, usd=0.5).table, phase("a", 1, tokens=1_000_000).table
    both = Phase("a", pl.concat([recorded, unrecorded]), asks_model=True, price=Price(2, 3))
    used = spent([both])["a"].usage
    assert used is not None
    assert used.usd == pytest.approx(0.5 + 5)


def test_with_unknown_tokens_sums_are_lower_bounds() -> None:
    unknown = Phase("judge", pl.concat([phase("a", 5, tokens=10).table, phase("a", 6).table]), asks_model=True)
    found = spent([unknown])
    lines = phases_table(found).splitlines()
    assert lines[1].split()[-5:] == [">=", "10", ">=", "10", "-"]
    assert markdown_phases(found).splitlines()[2].endswith("| >= 10 | >= 10 | - |")


def test_nothing_known_is_nothing_shown() -> None:
    assert phases_table(spent([])) == ""
    assert phases_table(spent([phase("answer", None)])) == ""


def test_questions_that_cannot_be_judged_are_in_no_bucket() -> None:
    frame = judgments([RIGHT, "not_run"]).with_columns(excluded=pl.Series([None, "no reference answer"]))
    found = failures(scored(*[Ask(["s1"], ["s1"])] * 2), {"j": JUDGMENTS.validate(frame)}, None)
    assert failures_json(found)["j"]["questions"] == {"q0": "right"}
    told = as_json(None, REPORT.empty, buckets=found, phases=spent([]))
    assert told["buckets"]["j"]["counts"]["right"] == 1
    assert told["phases"]["total"]["latency_ms"]["n"] == 0
