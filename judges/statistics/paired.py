"""Whether two systems differ on the same questions: exact tests where possible, else a sampled one."""

from __future__ import annotations

from typing import Final

import numpy as np

from judges.retrieval_metrics import Flags, Values
from judges.statistics.intervals import DIGITS, SEED

FLIPS: Final = 20_000
"""Sampled assignments of signs. The least p value, 1 / 20,001, is small enough for Holm over a thousand rows."""
_EXACT_UP_TO: Final = 14
"""Differing questions whose assignments (16,384) are fewer than those sampled, and so all tried."""
_DRAWS_AT_ONCE: Final = 2_000_000
_TIE: Final = 1e-9


def mcnemar_p(gained: int, lost: int) -> float:
    """Two-sided p value of the exact McNemar test (McNemar 1947; exact as in Fagerland et al. 2013, section 2.2).

    Under no difference, ``gained`` of n = gained + lost is binomial with one half:
    p = min(1, 2 · Σ_{i ≤ min(gained, lost)} C(n, i) / 2ⁿ), 1 where n is 0. Computed in whole numbers.
    """
    n, fewer = gained + lost, min(gained, lost)
    term = total = 1
    for i in range(fewer):
        term = term * (n - i) // (i + 1)
        total += term
    return min(1.0, 2 * total / (1 << n))


def sign_flip_ps(differences: Values, *, seed: int = SEED, flips: int = FLIPS) -> Values:
    """Two-sided p values of the paired randomisation test of a mean difference of zero (Fisher 1935, section 21).

    If the two systems do not differ, each question's difference might as well have the other sign. p is the share of
    assignments of signs whose absolute sum is at least the one seen. Differences of one size make it the exact McNemar
    test; 14 differing questions or fewer are enumerated; else ``flips`` assignments are sampled, the seen one among
    them: (1 + at least as extreme) / (1 + flips) (Phipson & Smyth 2010). Recommended for retrieval metrics by Smucker,
    Allan & Carterette 2007.

    Args:
        differences: one row a question, one column a metric, right - left; no NaN. Zeros change nothing.
        seed: of the sampling; all columns share the same signs.
        flips: how many assignments are sampled.

    Returns:
        One p value a column, rounded to 12 digits; 1 where nothing differs.
    """
    p = np.ones(differences.shape[1])
    sampled = []
    for column, values in enumerate(differences.T):
        exact = _exact(values[np.abs(values) > _TIE])
        if exact is None:
            sampled.append(column)
        else:
            p[column] = exact
    if sampled:
        p[sampled] = _sampled(differences[:, sampled], seed, flips)
    rounded: Values = p.round(DIGITS)
    return rounded


def _exact(differing: Values) -> float | None:
    sizes = np.abs(differing)
    if not len(differing) or np.ptp(sizes) <= _TIE:
        return mcnemar_p(int((differing > 0).sum()), int((differing < 0).sum()))
    if len(differing) > _EXACT_UP_TO:
        return None
    bits = np.arange(1 << len(differing))[:, None] >> np.arange(len(differing)) & 1
    return float(np.mean(_extreme((2 * bits - 1) @ differing, differing.sum(), sizes.sum())))


def _sampled(differences: Values, seed: int, flips: int) -> Values:
    rng = np.random.default_rng(seed)
    n_rows, n_columns = differences.shape
    seen, most = differences.sum(axis=0), np.abs(differences).sum(axis=0)
    extreme = np.zeros(n_columns)
    step = max(1, _DRAWS_AT_ONCE // n_rows)
    for start in range(0, flips, step):
        bits = rng.integers(2, size=(min(step, flips - start), n_rows), dtype=np.int64)
        extreme += _extreme((2.0 * bits - 1) @ differences, seen, most).sum(axis=0)
    p: Values = (1 + extreme) / (1 + flips)
    return p


def _extreme(sums: Values, seen: Values, most: Values) -> Flags:
    """Whether a sum is at least as far from zero as the one seen; rounding errors make no difference."""
    far: Flags = np.abs(sums) >= np.abs(seen) - _TIE * most
    return far


def holm(p_values: Values) -> Values:
    """Adjusted p values by Holm's step-down (Holm 1979): they hold for all tests together, whatever their dependence.

    The i-th smallest of m is multiplied by m - i + 1; none is below a smaller one's, nor above 1. Compare each with
    0.05. In the order given; NaN is no test: it counts for nothing and stays NaN.
    """
    adjusted = np.full(len(p_values), np.nan)
    tests = np.flatnonzero(~np.isnan(p_values))
    order = tests[np.argsort(p_values[tests], kind="stable")]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1).round(DIGITS)
    return adjusted
