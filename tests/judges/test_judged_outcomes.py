"""Hits that a model judged, as outcomes: what is compared and gated is what a report shows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_compare import only
from test_relevance_aggregate import ROWS, tables

from judges.relevance.aggregate import aggregate_relevance
from judges.statistics.baseline import Baseline, read_baseline, write_baseline
from judges.statistics.compare import compare
from judges.statistics.conditions import Conditions
from judges.statistics.gate import gate
from judges.statistics.judged_outcomes import relevance_outcomes
from judges.statistics.metric import parse_metric, parse_metrics
from judges.statistics.outcomes import OUTCOMES, strict_means

Row = tuple[str, list[int] | None, int, int, str | None]
COUNTS = ("value", "n_failed", "n_undefined")


@given(st.lists(st.sampled_from(ROWS), min_size=1, max_size=8), st.sampled_from([6, 50]))
def test_the_means_of_outcomes_are_the_strict_ones_of_the_report(rows: list[Row], limit: int) -> None:
    relevance, scores = tables(rows)
    scores = scores.with_columns(limit=pl.lit(limit, pl.UInt32))
    report = aggregate_relevance(relevance, scores).filter((pl.col("slice") == "all") & (pl.col("level") == "judged"))
    means = strict_means(relevance_outcomes(relevance, scores, judge="model"))
    ours = {row[:2]: row[2:] for row in means.select("metric", "k", *COUNTS).rows()}
    for row in report.select("metric", "k", pl.col("strict").alias("value"), *COUNTS[1:], "n").rows():
        value, n_failed, n_undefined, n = row[2:]
        if n + n_failed == 0:
            assert row[:2] not in ours, "a question that is excluded has no row"
            continue
        assert ours[row[:2]] == (None if value is None else pytest.approx(value, abs=1e-12), n_failed, n_undefined)


def test_two_systems_whose_hits_one_model_judged() -> None:
    late: Row = ("ok", [0, 1, 0], 1, 1, None)
    first: Row = ("ok", [1, 1, 0], 1, 1, None)
    sides = [relevance_outcomes(*tables([row] * 6), judge="model") for row in (late, first)]
    row = only(compare(*sides, metrics=parse_metrics(["judged.mrr@5"])))
    assert (row["judge"], row["level"], row["metric"], row["k"]) == ("model", "judged", "mrr", 5)
    assert (row["difference"], row["n_gained"], row["p"], row["verdict"]) == (0.5, 6, 2 / 2**6, "better")
    assert compare(*sides, metrics=parse_metrics(["judged.mrr@5[another]"])).is_empty()


def test_a_question_with_nothing_relevant_to_one_system_is_not_compared() -> None:
    found: Row = ("ok", [1], 0, 0, None)
    nothing: Row = ("ok", [0], 0, 0, None)
    sides = [relevance_outcomes(*tables(rows), judge="model") for rows in ([found, found], [found, nothing])]
    row = only(compare(*sides, metrics=parse_metrics(["judged.hit@1"])))
    assert (row["n"], row["n_only_left"], row["n_only_right"]) == (1, 1, 0)


def test_an_accepted_baseline_of_them_is_read_back_and_holds_against_itself(tmp_path: Path) -> None:
    outcomes = relevance_outcomes(*tables(ROWS), judge='m "1"]').filter(pl.col("k") == 5)
    baseline = Baseline("s", Conditions("b", "d", 50, {'m "1"] (relevance)': "v1"}), outcomes)
    file = tmp_path / "b.json"
    write_baseline(file, baseline)
    again = read_baseline(file)
    order = ["question_id", "metric"]
    assert again.outcomes.sort(order).equals(outcomes.sort(order))
    decisions = gate(
        outcomes, again.conditions, baseline=again, floors={parse_metric("judged.hit@5"): 0.4}, metrics=None
    )
    assert all(one.passed for one in decisions)
    assert str(decisions[0].metric) == 'judged.hit@5[m "1"]]'
    assert len(decisions) == 1 + 6
    missing = gate(outcomes, again.conditions, floors={parse_metric("judged.hit@5[other]"): 0.4})
    assert [(one.passed, one.value) for one in missing] == [(False, None)]


def test_nothing_judged_is_no_outcome() -> None:
    assert relevance_outcomes(*tables([]), judge="model").equals(OUTCOMES.to_frame())
