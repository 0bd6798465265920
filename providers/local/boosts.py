"""Multipliers of a chunk's score that do not depend on its text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np
import numpy.typing as npt

from providers.local.fusion import Scores
from providers.local.temporal import TimeRange

Times = npt.NDArray[np.datetime64]
_DAY = np.timedelta64(1, "D")


def importance_boost(importance: list[str | None], weights: Mapping[str, float]) -> Scores:
    """The weight of each importance; that of ``medium`` where there is none or it has no weight."""
    return np.array([weights.get(name or "medium", weights["medium"]) for name in importance])


def access_boost(accesses: npt.NDArray[np.int64], weight: float, cap: float) -> Scores:
    """1 + weight * log2(accesses + 1), at most ``cap``."""
    return np.minimum(1 + weight * np.log2(accesses + 1), cap)


def confidence_boost(
    confidence: Scores, decays: npt.NDArray[np.bool_], dates: Times, as_of: datetime | None, factor: float
) -> Scores:
    """Confidence, times factor ** days from the date to ``as_of`` where it decays and both are known."""
    days = np.zeros(len(dates)) if as_of is None else np.maximum((moment(as_of) - dates) / _DAY, 0)
    return np.where(decays & ~np.isnan(days), confidence * factor ** np.nan_to_num(days), confidence)


def closeness_boost(dates: Times, start: datetime, end: datetime, boost: float, decay_days: float) -> Scores:
    """1 + boost * exp(-days / decay): days outside of start..end, 0 inside of it; 1 for an undated chunk."""
    before = (moment(start) - dates) / _DAY
    after = (dates - moment(end)) / _DAY
    days = np.maximum(np.maximum(before, after), 0)
    return np.where(np.isnan(days), 1.0, 1 + boost * np.exp(-np.nan_to_num(days) / decay_days))


def within(dates: Times, period: TimeRange) -> npt.NDArray[np.bool_]:
    """Which chunks lie in the period; undated ones do."""
    return np.isnat(dates) | ((dates >= moment(period.start)) & (dates < moment(period.end)))


def moment(date: datetime) -> np.datetime64:
    """A UTC date as numpy has it, which knows no zones."""
    return np.datetime64(date.replace(tzinfo=None), "us")
