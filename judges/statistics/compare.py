"""Two systems on the same questions: how much they differ, and whether chance explains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from converters.tables import COMPARISON
from judges.aggregate import ALL, TYPE_PREFIX
from judges.qa import TASK_AVERAGED
from judges.retrieval_metrics import Values
from judges.statistics.intervals import DIGITS, difference_intervals
from judges.statistics.metric import HEADLINES, Metric
from judges.statistics.outcomes import FAILED, KEY, NOT_RUN, UNDEFINED, select, weights
from judges.statistics.paired import holm, sign_flip_ps

BETTER: Final = "better"
WORSE: Final = "worse"
NOT_SEPARABLE: Final = "not separable"
ALPHA: Final = 0.05
FailedAs = Literal["zero", "left out"]


def compare(
    left: pl.DataFrame,
    right: pl.DataFrame,
    *,
    metrics: Sequence[Metric] = HEADLINES,
    names: tuple[str, str] = ("left", "right"),
    by_type: bool = False,
    failed: FailedAs = "zero",
) -> pl.DataFrame:
    """Compare two outcomes, question by question.

    Args:
        left: outcomes (see ``judges.statistics.outcomes``).
        right: outcomes of another system, or of another day.
        metrics: which; one that neither side has gets no row.
        names: what to call the two.
        by_type: also each question type, as further slices; these have no task average.
        failed: zero counts a failed question as 0, as ``strict`` does; left out compares those on which neither failed.

    Returns:
        ``Comparison``: by slice, then in the order of ``metrics``, then by judge. Where a question is undefined on a
        side, or a side ran none, the figures are null and only the counts of questions are there. The verdict follows
        from ``p_adjusted`` below 0.05; Holm's adjustment is over all rows returned.
    """
    pairs = _pairs(select(left, metrics), select(right, metrics))
    slices = [(ALL, pairs)]
    if by_type:
        slices += [
            (f"{TYPE_PREFIX}{kind[0]}", rows) for kind, rows in sorted(pairs.group_by("question_type"), key=_name)
        ]
    rows = [row for name, members in slices for row in _slice(name, members, failed)]
    for row in rows:
        row |= {"left": names[0], "right": names[1]}
    return together([pl.DataFrame(rows, schema=COMPARISON.empty.schema)])


def together(comparisons: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Several ``Comparison`` as one, in their order; Holm's adjustment and the verdicts are over all its rows."""
    frame = pl.concat([COMPARISON.empty, *comparisons])
    adjusted = pl.Series("p_adjusted", holm(frame["p"].to_numpy()), dtype=pl.Float64).fill_nan(None)
    sided = pl.when(pl.col("difference") > 0).then(pl.lit(BETTER)).otherwise(pl.lit(WORSE))
    separable = pl.when(pl.col("p_adjusted") < ALPHA).then(sided).otherwise(pl.lit(NOT_SEPARABLE))
    verdict = pl.when(pl.col("p_adjusted").is_not_null()).then(separable)
    return COMPARISON.validate(frame.with_columns(adjusted).with_columns(verdict=verdict))


def _name(group: tuple[tuple[Any, ...], pl.DataFrame]) -> str:
    return str(group[0][0])


def _pairs(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """One row a question and metric that either side has; columns of the left and, with a suffix, of the right."""
    keys = ["question_id", *KEY]
    order = pl.concat([left, right]).select(KEY).unique(maintain_order=True).with_row_index("place")
    return (
        left.join(right, on=keys, how="full", coalesce=True)
        .with_columns(question_type=pl.coalesce("question_type", "question_type_right"))
        .join(order, on=KEY)
        .sort("place", "judge", "question_id")
    )


def _slice(name: str, pairs: pl.DataFrame, failed: FailedAs) -> Iterator[dict[str, Any]]:
    """Rows of a slice. Metrics of the same questions share their draws, which are made once."""
    rows: list[dict[str, Any]] = []
    shared: dict[tuple[str, ...], list[tuple[int, Values, Values]]] = {}
    if name != ALL:
        pairs = pairs.filter(pl.col("metric") != TASK_AVERAGED)
    for key, members in pairs.group_by(KEY, maintain_order=True):
        counts, compared = _counts(members, failed)
        rows.append({"slice": name, **dict(zip(KEY, key, strict=True)), **counts})
        if compared is not None:
            sides = compared.select(pl.col("value", "value_right").fill_null(0) * weights())
            left, right = (column.to_numpy() for column in sides)
            shared.setdefault(tuple(compared["question_id"]), []).append((len(rows) - 1, left, right))
    for columns in shared.values():
        places, lefts, rights = zip(*columns, strict=True)
        for place, figures in zip(places, _figures(np.stack(lefts, 1), np.stack(rights, 1)), strict=True):
            rows[place] |= figures
    yield from rows


def _counts(pairs: pl.DataFrame, failed: FailedAs) -> tuple[dict[str, Any], pl.DataFrame | None]:
    """How many questions there are of each kind, and those to compare unless a value is unknown."""
    only_left, only_right = (pairs[column].null_count() for column in ("state_right", "state"))
    both = pairs.drop_nulls(["state", "state_right"])
    fails = [pl.col(side).is_in([FAILED, NOT_RUN]) for side in ("state", "state_right")]
    compared = both if failed == "zero" else both.filter(~fails[0] & ~fails[1])
    undefined = compared.filter(pl.any_horizontal(pl.col("state", "state_right") == UNDEFINED)).height
    idle = any((compared[side] == NOT_RUN).all() for side in ("state", "state_right"))
    counts = {
        "n": compared.height,
        "n_failed_left": both.filter(fails[0]).height,
        "n_failed_right": both.filter(fails[1]).height,
        "n_undefined": undefined,
        "n_only_left": only_left,
        "n_only_right": only_right,
        "p": None,
    }
    return counts, None if undefined or idle else compared


def _figures(left: Values, right: Values) -> Iterator[dict[str, Any]]:
    """For each column: means, their difference with its interval, and p."""
    differences = right - left
    low, high = difference_intervals(left, right)
    ps = sign_flip_ps(differences)
    for column in range(left.shape[1]):
        both = (left[:, column].mean(), right[:, column].mean())
        yield {
            "value_left": round(float(both[0]), DIGITS),
            "value_right": round(float(both[1]), DIGITS),
            "difference": round(float(both[1] - both[0]), DIGITS),
            "ci_low": None if np.isnan(low[column]) else float(low[column]),
            "ci_high": None if np.isnan(high[column]) else float(high[column]),
            "p": float(ps[column]),
            "n_gained": int((differences[:, column] > 0).sum()),
            "n_lost": int((differences[:, column] < 0).sum()),
        }
