"""The statistics against scipy's and statsmodels', on random data. One file: those take seconds to import."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, bootstrap, permutation_test
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa as their_kappa
from statsmodels.stats.multitest import multipletests

from judges.statistics.agreement import cohens_kappa
from judges.statistics.intervals import RESAMPLES, SEED, difference_intervals, mean_intervals, wilson_interval
from judges.statistics.paired import holm, mcnemar_p, sign_flip_ps

CLOSE = 1e-9
TRUTHS = np.arange(1, 10) / 10


@given(st.integers(1, 600).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson(counts: tuple[int, int]) -> None:
    theirs = binomtest(*counts).proportion_ci(method="wilson")
    assert wilson_interval(*counts) == (pytest.approx(theirs.low, abs=1e-11), pytest.approx(theirs.high, abs=1e-11))


@given(st.integers(0, 900), st.integers(0, 900))
def test_mcnemar(gained: int, lost: int) -> None:
    theirs = mcnemar([[7, gained], [lost, 5]], exact=True).pvalue
    assert mcnemar_p(gained, lost) == pytest.approx(theirs, rel=CLOSE, abs=1e-300)


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_holm(n: int) -> None:
    """With ties, zeros and ones; a call of theirs takes a tenth of a second."""
    rng = np.random.default_rng(n)
    p_values = rng.permutation(np.concatenate([rng.random(n) ** 4, [0, 1], np.repeat(rng.random(), 2)]))
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1], atol=CLOSE)


@given(st.tuples(*[st.integers(0, 300)] * 4).filter(any))
def test_kappa(counts: tuple[int, int, int, int]) -> None:
    ours = cohens_kappa(*counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        theirs = their_kappa([counts[:2], counts[2:]], return_results=False)
    assert ours is None if np.isnan(theirs) else ours == pytest.approx(theirs, abs=CLOSE)


def mean_difference(left: np.ndarray, right: np.ndarray, axis: int) -> np.ndarray:
    return right.mean(axis=axis) - left.mean(axis=axis)


@pytest.mark.parametrize("seed", range(12))
def test_every_assignment_of_signs(seed: int) -> None:
    """Few questions differ, by amounts that tie with one another: both enumerate."""
    rng = np.random.default_rng(seed)
    left, right = rng.choice([0, 0.25, 1 / 3, 0.5, 1], size=(2, int(rng.integers(2, 11))))
    theirs = permutation_test(
        (left, right), mean_difference, permutation_type="samples", vectorized=True, n_resamples=np.inf
    )
    assert sign_flip_ps((right - left)[:, None])[0] == pytest.approx(theirs.pvalue, abs=CLOSE)


def test_sampled_signs_are_near_scipys() -> None:
    rng = np.random.default_rng(3)
    left, right = rng.random((2, 80))
    right = np.minimum(right + 0.08, 1)
    theirs = permutation_test(
        (left, right), mean_difference, permutation_type="samples", vectorized=True, n_resamples=9_999, rng=rng
    )
    # Two samples of a probability of about a tenth: four standard errors.
    assert sign_flip_ps((right - left)[:, None])[0] == pytest.approx(theirs.pvalue, abs=0.016)


class GivenDraws(np.random.Generator):
    """A generator whose integers are those that ``mean_intervals`` draws, so that scipy sees the same resamples."""

    def integers(self, *_: object, **__: object) -> np.ndarray:
        return self.draws

    def __init__(self, n_rows: int) -> None:
        super().__init__(np.random.PCG64(SEED))
        self.draws = np.random.default_rng(SEED).integers(n_rows, size=(RESAMPLES, n_rows))


@pytest.mark.parametrize("n_rows", [2, 31, 500])
def test_paired_bootstrap_given_the_same_resamples(n_rows: int) -> None:
    left, right = np.random.default_rng(n_rows).random((2, n_rows))
    theirs = bootstrap(
        (left, right),
        mean_difference,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=GivenDraws(n_rows),
    ).confidence_interval
    low, high = difference_intervals(left[:, None], right[:, None])
    assert (low[0], high[0]) == (pytest.approx(theirs.low, abs=CLOSE), pytest.approx(theirs.high, abs=CLOSE))


@pytest.mark.parametrize("n", [100, 250, 500])
def test_wilson_covers_the_truth_95_times_in_100(n: int) -> None:
    """Exactly: the probability of each count, summed over the counts whose interval holds the truth."""
    ends = np.array([wilson_interval(right, n) for right in range(n + 1)], dtype=np.float64)
    covered = [
        binom.pmf(np.arange(n + 1), n, truth)[(ends[:, 0] <= truth) & (truth <= ends[:, 1])].sum() for truth in TRUTHS
    ]
    assert 0.93 <= np.mean(covered) <= 0.97


@pytest.mark.parametrize("n", [100, 300])
def test_bootstrap_covers_the_truth_95_times_in_100(n: int) -> None:
    """Right or wrong answers, of every difficulty."""
    truths = np.repeat(TRUTHS, 400)
    samples = (np.random.default_rng(n).random((n, len(truths))) < truths).astype(np.float64)
    low, high = mean_intervals(samples)
    assert 0.93 <= np.mean((low <= truths) & (truths <= high)) <= 0.97


@pytest.mark.parametrize("n", [100, 150, 300])
def test_paired_bootstrap_covers_the_true_difference_95_times_in_100(n: int) -> None:
    """Two systems that find the same questions hard."""
    rng = np.random.default_rng(n)
    truths = np.repeat(TRUTHS, 300)
    hardness = rng.random((n, len(truths)))
    left = (hardness < truths - 0.05).astype(np.float64)
    right = (np.where(rng.random(hardness.shape) < 0.3, rng.random(hardness.shape), hardness) < truths).astype(float)
    low, high = difference_intervals(left, right)
    assert 0.93 <= np.mean((low <= 0.05) & (high >= 0.05)) <= 0.97


def test_of_equal_systems_one_in_twenty_is_called_different_at_most() -> None:
    rng = np.random.default_rng(11)
    differences = rng.choice([-1, -0.5, 0, 0, 0.5, 1], size=(100, 1_000)).astype(np.float64)
    assert 0.03 <= np.mean(sign_flip_ps(differences, flips=2_000) < 0.05) <= 0.07
