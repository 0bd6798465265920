"""Several judges on the same answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import judgments

from converters.tables import JUDGMENTS
from judges.statistics.agreement import AGREEMENT, agreement, cohens_kappa, consensus


def test_pairs_and_flips_by_type() -> None:
    types = ["x", "x", "y", "y", "y"]
    tables = {
        "a": judgments([True, True, False, False, "error"], types=types),
        "b": judgments([True, False, False, True, True], types=types),
        "c": judgments([True, False, True], types=types[:3]),
    }
    frame = agreement(tables)
    names = ("n", "n_both_right", "n_only_left", "n_only_right", "n_both_wrong", "n_unlabelled", "agreement", "kappa")
    found = {(row["left"], row["right"], row["slice"]): tuple(row[name] for name in names) for row in frame.to_dicts()}
    assert found["a", "b", "all"] == (4, 1, 1, 1, 1, 1, 0.5, 0)
    assert found["a", "b", "type:x"] == (2, 1, 1, 0, 0, 0, 0.5, 0)
    assert found["a", "b", "type:y"] == (2, 0, 0, 1, 1, 1, 0.5, 0)
    assert found["b", "c", "all"] == (3, 1, 0, 1, 1, 0, pytest.approx(2 / 3), 0.4)
    assert [name for name in found if name[2] == "all"] == [("a", "b", "all"), ("a", "c", "all"), ("b", "c", "all")]


def test_nothing_in_common_is_no_agreement() -> None:
    frame = agreement({"a": judgments([True]), "b": judgments([True], first=5), "c": JUDGMENTS.empty})
    assert frame.select("n", "agreement", "kappa").unique().rows() == [(0, None, None)]
    assert agreement({"a": judgments([True])}).is_empty()
    assert agreement({}).schema == AGREEMENT.empty.schema


@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (7, 0, 0, 0), (0, 0, 0, 7)])
def test_kappa_of_one_label_alone_is_null(counts: tuple[int, int, int, int]) -> None:
    assert cohens_kappa(*counts) is None


def rows(*tables: list[Any], **options: Any) -> list[tuple[Any, ...]]:
    named = {str(place): judgments(labels, **options) for place, labels in enumerate(tables)}
    return consensus(named).select("question_id", "status", "label", "error").rows()


def test_consensus() -> None:
    assert rows(
        [True, True, True, "empty", "not_run", "error", "not_run"],
        [True, False, "error", "empty", "error", "error", "not_run"],
        [False, "not_run", "error", "empty", "not_run", False, "not_run"],
    ) == [
        ("q0", "ok", True, None),
        ("q1", "degraded", None, "a tie: 1 of 2 judges say right"),
        ("q2", "ok", True, None),
        ("q3", "empty", False, None),
        ("q4", "error", None, None),
        ("q5", "ok", False, None),
        ("q6", "not_run", None, None),
    ]


def test_no_judges_no_consensus() -> None:
    assert consensus({}).is_empty()
    assert consensus({"a": JUDGMENTS.empty}).is_empty()


LABELS = st.lists(st.sampled_from([True, False, "empty", "error", "not_run"]), min_size=3, max_size=3)


@given(st.lists(LABELS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_the_judges_does_not_matter_and_one_is_its_own_consensus(tables: list[Any], random: Any) -> None:
    found = rows(*tables)
    assert rows(*random.sample(tables, len(tables))) == found
    alone = judgments(tables[0])
    assert rows(tables[0]) == alone.select("question_id", "status", "label", "error").rows()
