"""95 % confidence intervals: of a proportion, of means, and of differences of means on the same questions."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

from judges.retrieval_metrics import Values

RESAMPLES: Final = 2000
SEED: Final = 20240520
DIGITS: Final = 12
"""Rounding errors must not make a table's digest differ between machines."""
_CONFIDENCE: Final = 0.95
_DRAWS_AT_ONCE: Final = 2_000_000

Interval = tuple[float | None, float | None]


def wilson_interval(right: int, n: int) -> Interval:
    """95 % interval of a proportion (Wilson 1927; Brown, Cai & DasGupta 2001, eq. 4); none where ``n`` is 0.

    With p = right / n and z the normal quantile: (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n).
    """
    if not n:
        return None, None
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    share, spread = right / n, z * z / n
    middle = share + spread / 2
    reach = z * sqrt(share * (1 - share) / n + spread / (4 * n))
    low, high = (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)
    return max(0.0, round(low, DIGITS)), min(1.0, round(high, DIGITS))


def mean_intervals(values: Values, *, seed: int = SEED, resamples: int = RESAMPLES) -> tuple[Values, Values]:
    """95 % percentile-bootstrap interval of the mean of each column (Efron & Tibshirani 1993, section 13.3).

    All columns share the same resamples of rows: how often each row is drawn, times the values, is one matrix product.

    Args:
        values: one row a question, one column a metric; no NaN.
        seed: of the resampling: equal values give equal intervals.
        resamples: how many.

    Returns:
        Lower and upper ends, one element a column; NaN where fewer than two rows leave nothing to resample.
    """
    n_rows, n_columns = values.shape
    if n_rows < 2 or not n_columns:
        nothing = np.full(n_columns, np.nan)
        return nothing, nothing
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, n_columns))
    step = max(1, _DRAWS_AT_ONCE // n_rows)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(n_rows, size=(size, n_rows)) + np.arange(size)[:, None] * n_rows
        counts = np.bincount(drawn.ravel(), minlength=size * n_rows).reshape(size, n_rows)
        means[start : start + size] = counts.astype(np.float64) @ values / n_rows
    # Matrix products may differ in the last bits from one machine to another; the table's digest must not.
    low, high = np.percentile(means, [2.5, 97.5], axis=0).round(DIGITS)
    return low, high


def difference_intervals(
    left: Values, right: Values, *, seed: int = SEED, resamples: int = RESAMPLES
) -> tuple[Values, Values]:
    """95 % percentile-bootstrap interval of mean(right) - mean(left), row by row the same question.

    Both sides are drawn together, so what makes a question hard for both does not widen the interval: the difference of
    two means of one resample is the mean of its differences. Arguments and returns as of ``mean_intervals``.
    """
    return mean_intervals(right - left, seed=seed, resamples=resamples)
