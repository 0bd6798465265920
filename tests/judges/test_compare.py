"""Two systems on the same questions."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from boards import Ask, scored
from hypothesis import given
from hypothesis import strategies as st
from judged import judgments

from converters.errors import BadInput
from converters.tables import COMPARISON, JUDGMENTS
from judges.aggregate import aggregate
from judges.qa import aggregate_answers
from judges.statistics.compare import compare, together
from judges.statistics.metric import HEADLINES, Metric, parse_metric, parse_metrics
from judges.statistics.outcomes import judgment_outcomes, retrieval_outcomes, select, strict_means
from judges.statistics.paired import holm, mcnemar_p

FOUND = Ask(["s1"], ["s1"])
LOST = Ask(["s2"], ["s1"])
LATE = Ask(["s2", "s3", "s1"], ["s1"])
BROKEN = Ask([], ["s1"], status="error")
CUT = Ask(["s1"], ["s1"], limit=1)
ACCURACY = parse_metrics(["accuracy"])
SCORE = parse_metrics(["score"])


def answers(*labels: bool | str, **options: Any) -> pl.DataFrame:
    return judgment_outcomes(judgments(labels, **options))


def only(frame: pl.DataFrame) -> dict[str, Any]:
    assert frame.height == 1
    return frame.row(0, named=True)


def test_labels_that_differ_often_enough() -> None:
    row = only(compare(answers(*[False] * 8, True), answers(*[True] * 8, True), metrics=ACCURACY, names=("a", "b")))
    assert (row["left"], row["right"], row["judge"], row["n"]) == ("a", "b", "j", 9)
    assert (row["value_left"], row["value_right"]) == (pytest.approx(1 / 9), 1)
    assert (row["difference"], row["n_gained"], row["n_lost"]) == (pytest.approx(8 / 9), 8, 0)
    assert (row["p"], row["p_adjusted"], row["verdict"]) == (2 / 2**8, 2 / 2**8, "better")
    assert 0 < row["ci_low"] < row["difference"] <= row["ci_high"] <= 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_labels_are_compared_by_mcnemar_and_the_mirror_image_says_the_opposite(pairs: list[tuple[bool, bool]]) -> None:
    left, right = (answers(*side) for side in zip(*pairs, strict=True))
    row, mirrored = (only(compare(*sides, metrics=ACCURACY)) for sides in ((left, right), (right, left)))
    assert row["p"] == pytest.approx(mcnemar_p(row["n_gained"], row["n_lost"]), abs=1e-12)
    assert (row["difference"], row["p"]) == (-mirrored["difference"], mirrored["p"])
    opposite = {"better": "worse", "worse": "better", "not separable": "not separable"}
    assert mirrored["verdict"] == opposite[row["verdict"]]


def test_a_graded_metric_and_holm_over_all_rows() -> None:
    metrics = parse_metrics(["hit@1", "mrr@5", "hit@5"])
    sides = [retrieval_outcomes(scored(*asks)) for asks in ([LATE] * 8 + [FOUND] * 4, [FOUND] * 12)]
    frame = compare(*sides, metrics=metrics)
    assert frame["metric"].to_list() == ["hit", "mrr", "hit"]
    assert frame["difference"].to_list() == pytest.approx([8 / 12, 8 / 12 * 2 / 3, 0])
    assert frame["p_adjusted"].to_list() == holm(frame["p"].to_numpy()).tolist()
    assert frame["verdict"].to_list() == ["better", "better", "not separable"]


def test_a_second_look_costs_the_first_its_verdict() -> None:
    sides = [retrieval_outcomes(scored(*asks)) for asks in ([LATE] * 6 + [FOUND] * 4, [FOUND] * 10)]
    alone = only(compare(*sides, metrics=parse_metrics(["hit@1"])))
    assert (alone["p_adjusted"], alone["verdict"]) == (1 / 32, "better")
    both = compare(*sides, metrics=parse_metrics(["hit@1", "mrr@5"]))
    assert both.select("p", "p_adjusted", "verdict").rows() == [(1 / 32, 1 / 16, "not separable")] * 2
    assert both["ci_low"].min() > 0


def test_failures_count_as_zero_or_are_left_out_on_both_sides() -> None:
    left, right = answers(True, True, "error", False), answers(True, "error", True, "not_run")
    strict = only(compare(left, right, metrics=ACCURACY))
    assert (strict["value_left"], strict["value_right"], strict["n"]) == (0.5, 0.5, 4)
    assert (strict["n_failed_left"], strict["n_failed_right"]) == (1, 2)
    scored_by_both = only(compare(left, right, metrics=ACCURACY, failed="left out"))
    assert (scored_by_both["value_left"], scored_by_both["n"], scored_by_both["n_failed_right"]) == (1, 1, 2)


def test_only_the_same_questions() -> None:
    left, right = answers(True, False, True), answers(True, True, False, False, first=1)
    row = only(compare(left, right, metrics=ACCURACY))
    assert (row["n"], row["n_only_left"], row["n_only_right"]) == (2, 1, 2)
    assert (row["value_left"], row["value_right"]) == (0.5, 1)


FIGURES = ("value_left", "value_right", "difference", "ci_low", "ci_high", "p", "p_adjusted", "verdict", "n_gained")


@pytest.mark.parametrize(
    ("left", "right", "n"),
    [
        ([True] * 3, [], 0),
        (["not_run"] * 3, [True] * 3, 3),
        ([], [], None),
    ],
    ids=["nothing in common", "never judged", "no questions"],
)
def test_nothing_to_compare_is_null(left: list[Any], right: list[Any], n: int | None) -> None:
    frame = compare(answers(*left), answers(*right), metrics=ACCURACY)
    assert frame.schema == COMPARISON.empty.schema
    assert [(row["n"], *(row[name] for name in FIGURES)) for row in frame.to_dicts()] == (
        [] if n is None else [(n, *[None] * len(FIGURES))]
    )


def test_an_undefined_question_makes_its_row_null_and_no_other() -> None:
    metrics = parse_metrics(["hit@5", "hit@1"])
    deep, top = compare(
        retrieval_outcomes(scored(FOUND, CUT)), retrieval_outcomes(scored(LOST, FOUND)), metrics=metrics
    ).to_dicts()
    assert (deep["n"], deep["n_undefined"], *(deep[name] for name in FIGURES)) == (2, 1, *[None] * len(FIGURES))
    assert (top["difference"], top["n_undefined"], top["p_adjusted"]) == (-0.5, 0, 1)


@pytest.mark.parametrize("score", [None, float("nan")], ids=["null", "nan"])
def test_a_judge_that_gave_no_score_has_none_and_a_missing_answer_scores_zero(score: float | None) -> None:
    table = judgments([True, True, "empty"], scores=[0.5, 0.25, None])
    row = only(compare(*[judgment_outcomes(table)] * 2, metrics=SCORE))
    assert (row["value_left"], row["n_undefined"]) == (0.25, 0)
    table = table.with_columns(score=pl.when(pl.col("ordinal") == 1).then(pl.lit(score)).otherwise("score"))
    row = only(compare(*[judgment_outcomes(table)] * 2, metrics=SCORE))
    assert (row["value_left"], row["p"], row["n_undefined"]) == (None, None, 1)


def test_one_question_and_equal_ones_are_not_separable() -> None:
    one = only(compare(answers(False), answers(True), metrics=ACCURACY))
    assert (one["difference"], one["ci_low"], one["p"], one["verdict"]) == (1, None, 1, "not separable")
    same = only(compare(answers(True, False), answers(True, False), metrics=ACCURACY))
    assert (same["ci_low"], same["ci_high"], same["p"], same["verdict"]) == (0, 0, 1, "not separable")


def test_by_type() -> None:
    left, right = (answers(*labels, types=["b", "a", "b"]) for labels in ((True, False, True), (True, True, False)))
    frame = compare(left, right, metrics=ACCURACY, by_type=True)
    assert frame.select("slice", "n", "difference").rows() == [
        ("all", 3, 0),
        ("type:a", 1, 1),
        ("type:b", 2, -0.5),
    ]


def test_a_task_average_weighs_types_alike() -> None:
    types = ["a"] * 6 + ["b"] * 2
    left = answers(*[True] * 3, *[False] * 5, types=types)
    right = answers(*[True] * 3, *[False] * 3, True, True, types=types)
    frame = compare(left, right, metrics=parse_metrics(["accuracy_task_averaged"]), by_type=True)
    row = only(frame)
    assert (row["value_left"], row["value_right"], row["difference"]) == (0.25, 0.75, 0.5)
    assert (row["n_gained"], row["p"]) == (2, 0.5)


def test_the_order_of_the_rows_and_the_run_change_nothing() -> None:
    rng = np.random.default_rng(2)
    sides = [answers(*rng.random(60) < chance) for chance in (0.4, 0.6)]
    once = compare(*sides, metrics=ACCURACY)
    again = compare(*(side.sample(fraction=1, shuffle=True, seed=3) for side in sides), metrics=ACCURACY)
    assert COMPARISON.digest(once) == COMPARISON.digest(again)


def test_several_judges_stay_apart() -> None:
    first, second = answers(True, False, judge="a"), answers(False, False, judge="b[1]")
    both = pl.concat([first, second])
    frame = compare(both, both, metrics=ACCURACY)
    assert frame.select("judge", "value_left").rows() == [("a", 0.5), ("b[1]", 0)]
    assert only(compare(both, both, metrics=parse_metrics(["accuracy[b[1]]"])))["judge"] == "b[1]"


ASKS = st.sampled_from(
    [
        FOUND,
        LOST,
        LATE,
        BROKEN,
        Ask(["s1"], [], abstention=True),
        Ask([("s1", [0])], ["s1"], turns=[("s1", 0)], own_k=2, type="other"),
        Ask([], ["s1"], turns=[("s1", 0)], own_k=5, status="not_run"),
        CUT,
    ]
)


@given(st.lists(ASKS, min_size=1, max_size=8))
def test_means_of_outcomes_are_the_reports_strict_column(asks: list[Ask]) -> None:
    scores = scored(*asks)
    report = aggregate(scores).filter(pl.col("slice") == "all", pl.col("n") + pl.col("n_failed") > 0)
    _same(strict_means(retrieval_outcomes(scores)), report)


@given(st.lists(st.sampled_from([True, False, "empty", "error", "not_run"]), min_size=1, max_size=12))
def test_accuracies_of_outcomes_are_the_reports(labels: list[Any]) -> None:
    types = ["a" if place % 4 else "b" for place in range(len(labels))]
    table = judgments(labels, types=types, abstention=range(0, len(labels), 3))
    report = aggregate_answers(table).filter(pl.col("slice") == "all")
    _same(strict_means(judgment_outcomes(table)), report)


def _same(means: pl.DataFrame, report: pl.DataFrame) -> None:
    key = ["level", "metric", "k"]
    theirs = {row[:3]: row[3:] for row in report.select(*key, "strict", "n_failed", "n_undefined").rows()}
    ours = {row[:3]: row[3:] for row in means.select(*key, "value", "n_failed", "n_undefined").rows()}
    assert ours.keys() == theirs.keys()
    for name, (strict, *counts) in theirs.items():
        assert ours[name] == (None if strict is None else pytest.approx(strict, abs=1e-12), *counts), name


def test_no_judgments_no_outcomes() -> None:
    assert judgment_outcomes(JUDGMENTS.empty).is_empty()
    assert retrieval_outcomes(scored()).is_empty()
    assert select(judgment_outcomes(JUDGMENTS.empty), HEADLINES).is_empty()


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("hit@5", Metric("session", "hit", 5)),
        ("turn.recall_all@20", Metric("turn", "recall_all", 20)),
        ("mrr@own", Metric("session", "mrr", 0)),
        ("accuracy", Metric("answer", "accuracy")),
        ("judged.mrr@5", Metric("judged", "mrr", 5)),
        ("judged.f1@10[a@1 [b]]", Metric("judged", "f1", 10, "a@1 [b]")),
        ("accuracy[gpt-4o@5]", Metric("answer", "accuracy", 0, "gpt-4o@5")),
    ],
)
def test_names_of_metrics(text: str, metric: Metric) -> None:
    assert parse_metric(text) == metric
    assert str(metric) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hit",
        "hit@0",
        "hit@-1",
        "hits@5",
        "answer.accuracy@1",
        "page.hit@5",
        "accuracy[]",
        "hit@5[x]",
        "turn.hit@5[x]",
        "judged.hit@own",
        "judged.hit@7",
        "judged.recall_all@5",
        "judged.hit@5[]",
    ],
)
def test_what_is_no_metric(text: str) -> None:
    with pytest.raises(BadInput, match=r"gate\.yaml: .*is not a metric; use one of hit, recall"):
        parse_metric(text, "gate.yaml")


def test_several_pairs_share_one_adjustment() -> None:
    """Six lost questions are separable alone (p = 0.03), and not beside a second pair."""
    left = answers(*[True] * 9)
    worse = compare(left, answers(*[False] * 6, *[True] * 3), metrics=ACCURACY, names=("a", "b"))
    same = compare(left, left, metrics=ACCURACY, names=("a", "c"))
    both = together([worse, same])
    assert worse["verdict"].to_list() == ["worse"]
    assert both["verdict"].to_list() == ["not separable", "not separable"]
    assert both["p_adjusted"].to_list() == holm(both["p"].to_numpy()).tolist() == [2 * 2 / 2**6, 1.0]
    assert together([]).is_empty()
    nobody = compare(left, answers(*[True] * 9, first=9), metrics=ACCURACY)
    assert together([nobody, worse])["verdict"].to_list() == [None, "worse"]
