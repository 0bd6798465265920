from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.local.fusion import blend, reciprocal_rank_fusion

N = 12
RANKINGS = st.permutations(range(N)).flatmap(
    lambda rows: st.integers(0, N).map(lambda size: np.array(rows[:size], dtype=np.int64))
)


@given(RANKINGS, RANKINGS, st.integers(0, 200))
def test_legs_of_equal_weight_may_change_places(left: np.ndarray, right: np.ndarray, k: int) -> None:
    one = reciprocal_rank_fusion((left, right), (1.0, 1.0), k, N)
    other = reciprocal_rank_fusion((right, left), (1.0, 1.0), k, N)
    np.testing.assert_allclose(one, other, rtol=1e-15)


@given(RANKINGS, st.integers(0, 200))
def test_one_ranking_keeps_its_order_whatever_k(ranking: np.ndarray, k: int) -> None:
    scores = reciprocal_rank_fusion((ranking,), (1.0,), k, N)
    assert list(np.argsort(-scores, kind="stable")[: len(ranking)]) == list(ranking)
    assert (scores > 0).sum() == len(ranking)


@given(RANKINGS, RANKINGS, st.integers(1, N - 1), st.integers(0, 200))
def test_a_better_rank_never_lowers_the_score(left: np.ndarray, right: np.ndarray, place: int, k: int) -> None:
    if place >= len(right):
        return
    better = right.copy()
    better[[place - 1, place]] = better[[place, place - 1]]
    row = right[place]
    before = reciprocal_rank_fusion((left, right), (1.0, 1.0), k, N)[row]
    assert reciprocal_rank_fusion((left, better), (1.0, 1.0), k, N)[row] > before


def test_the_published_formula() -> None:
    scores = reciprocal_rank_fusion((np.array([2, 0]), np.array([0])), (1.0, 2.0), 60, 3)
    assert scores.tolist() == [pytest.approx(1 / 62 + 2 / 61), 0.0, pytest.approx(1 / 61)]


def test_blend_is_relative_to_the_best_fusion_score() -> None:
    assert blend(np.array([0.5, 0.8]), np.array([0.02, 0.01]), 0.6, 0.4).tolist() == pytest.approx([0.7, 0.68])
    assert blend(np.array([0.5]), np.array([0.0]), 0.6, 0.4).tolist() == pytest.approx([0.3])
    assert blend(np.zeros(0), np.zeros(0), 0.6, 0.4).tolist() == []
