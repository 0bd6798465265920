from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from boards import Ask, scored

from judges.aggregate import aggregate
from judges.statistics.intervals import mean_intervals

RIGHT = Ask(["s1"], ["s1"])
WRONG = Ask(["s2"], ["s1"])
FAILED = Ask([], ["s1"], status="error")
ABSTENTION = Ask(["s1"], [], abstention=True)
CUT = Ask(["s1"], ["s1"], limit=1)


def figures(
    *asks: Ask, metric: str = "hit", k: int = 5, slice_name: str = "all", level: str = "session"
) -> dict[str, object]:
    report = aggregate(scored(*asks))
    wanted = {"slice": slice_name, "level": level, "metric": metric, "k": k}
    return report.row(by_predicate=pl.all_horizontal(pl.col(c) == v for c, v in wanted.items()), named=True)


def test_failures_are_left_out_of_the_value_and_zero_in_strict() -> None:
    row = figures(*[RIGHT] * 6, *[WRONG] * 2, *[FAILED] * 2)
    assert (row["value"], row["strict"]) == (6 / 8, 6 / 10)
    assert (row["n"], row["n_excluded"], row["n_failed"], row["n_undefined"]) == (8, 0, 2, 0)


def test_abstention_is_in_neither() -> None:
    row = figures(RIGHT, WRONG, ABSTENTION, Ask([], [], abstention=True, status="error"))
    assert (row["value"], row["strict"], row["n"], row["n_excluded"], row["n_failed"]) == (0.5, 0.5, 2, 2, 0)


@pytest.mark.parametrize(("asks", "strict"), [([ABSTENTION], None), ([FAILED], 0.0), ([ABSTENTION, FAILED], 0.0)])
def test_nothing_to_score_is_null(asks: list[Ask], strict: float | None) -> None:
    row = figures(*asks)
    assert (row["value"], row["ci_low"], row["ci_high"], row["n"]) == (None, None, None, 0)
    assert row["strict"] == strict


def test_one_undefined_question_makes_the_mean_null() -> None:
    row = figures(RIGHT, CUT, FAILED)
    assert (row["value"], row["strict"], row["ci_low"], row["n"], row["n_undefined"]) == (None, None, None, 2, 1)
    assert figures(RIGHT, CUT, FAILED, k=1)["value"] == 1


def test_slices_by_type() -> None:
    asks = [Ask(["s1"], ["s1"], type="b"), Ask(["s2"], ["s1"], type="a")]
    report = aggregate(scored(*asks))
    assert report["slice"].unique(maintain_order=True).to_list() == ["all", "type:a", "type:b"]
    assert figures(*asks, slice_name="type:b")["value"] == 1
    assert figures(*asks, slice_name="type:a")["value"] == 0


def test_own_k_covers_the_queries_that_name_one() -> None:
    deep = Ask(["s2", "s3", "s1"], ["s1"], own_k=3)
    shallow = Ask(["s2", "s3", "s1"], ["s1"], own_k=2)
    row = figures(deep, shallow, RIGHT, k=0)
    assert (row["value"], row["n"]) == (0.5, 2)
    report = aggregate(scored(RIGHT))
    assert report.filter(pl.col("k") == 0).is_empty()
    # A cut-off that is some query's own is not published as if all had it.
    assert 2 not in aggregate(scored(deep, shallow))["k"]


def test_turn_level_excludes_questions_without_a_marked_turn() -> None:
    marked = Ask([("s1", [0])], ["s1"], turns=[("s1", 0)])
    row = figures(marked, RIGHT, ABSTENTION, level="turn")
    assert (row["value"], row["n"], row["n_excluded"], row["n_undefined"]) == (1, 1, 2, 0)
    blind = figures(marked, Ask(["s1"], ["s1"], turns=[("s1", 0)]), level="turn")
    assert (blind["value"], blind["n"], blind["n_undefined"]) == (None, 2, 1)


def test_no_questions_no_rows() -> None:
    assert aggregate(scored()).is_empty()


class TestBootstrap:
    def test_covers_the_true_mean_about_95_times_in_100(self) -> None:
        rng = np.random.default_rng(5)
        samples = (rng.random((80, 400)) < 0.7).astype(np.float64)
        low, high = mean_intervals(samples)
        assert 0.91 <= np.mean((low <= 0.7) & (high >= 0.7)) <= 0.98

    def test_agrees_with_the_standard_error(self) -> None:
        sample = np.random.default_rng(6).random((500, 1))
        low, high = mean_intervals(sample)
        width = 2 * 1.96 * sample.std() / np.sqrt(500)
        assert float((high - low)[0]) == pytest.approx(float(width), rel=0.06)

    def test_is_the_same_every_time_and_in_chunks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sample = np.random.default_rng(7).random((50, 3))
        once = mean_intervals(sample)
        assert np.array_equal(once, mean_intervals(sample))
        assert not np.array_equal(once, mean_intervals(sample, seed=1))
        monkeypatch.setattr("judges.statistics.intervals._DRAWS_AT_ONCE", 5000)
        np.testing.assert_allclose(once, mean_intervals(sample), atol=1e-12)

    @pytest.mark.parametrize("shape", [(0, 2), (1, 2), (5, 0)])
    def test_nothing_to_resample(self, shape: tuple[int, int]) -> None:
        low, high = mean_intervals(np.ones(shape))
        assert len(low) == len(high) == shape[1]
        assert np.isnan(low).all()
