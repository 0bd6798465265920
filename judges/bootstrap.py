"""Confidence intervals of means, by resampling the questions."""

from __future__ import annotations

from typing import Final

import numpy as np

from judges.retrieval_metrics import Values

RESAMPLES: Final = 2000
SEED: Final = 20240520
_DRAWS_AT_ONCE: Final = 2_000_000


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
    low, high = np.percentile(means, [2.5, 97.5], axis=0).round(12)
    return low, high
