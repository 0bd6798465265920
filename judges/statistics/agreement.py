"""Two sets of labels on the same answers, and what several judges say together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

import polars as pl

from converters.tables import AGREEMENT, JUDGMENTS, SCORED_STATUSES
from judges.aggregate import ALL, TYPE_PREFIX
from judges.statistics.intervals import DIGITS

CONSENSUS: Final = "consensus"
_COUNTS: Final = ("n_both_right", "n_only_left", "n_only_right", "n_both_wrong")


def cohens_kappa(both_right: int, only_left: int, only_right: int, both_wrong: int) -> float | None:
    """Agreement beyond chance (Cohen 1960): (pₒ - pₑ) / (1 - pₑ), pₑ from each side's own share of right labels.

    Null where there are no labels, or both sides give all answers the same one: agreement then says nothing.
    """
    n = both_right + only_left + only_right + both_wrong
    left, right = both_right + only_left, both_right + only_right
    # In whole numbers, times n²: where 1 - pₑ is zero it is exactly zero.
    by_chance = left * right + (n - left) * (n - right)
    if n * n == by_chance:
        return None
    return round((n * (both_right + both_wrong) - by_chance) / (n * n - by_chance), DIGITS)


def agreement(judgments: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare the labels of each pair: of several judges on the same answers, or of one judge on two systems.

    Args:
        judgments: name to ``Judgments``.

    Returns:
        One row a pair and slice, pairs in the order given, slices ``all`` and ``type:<question_type>`` by name: left,
        right, slice, n (questions that both labelled), n_both_right, n_only_left and n_only_right (right by that one
        alone: the flips), n_both_wrong, n_unlabelled (questions of both without a label on one side or both),
        agreement (share of equal labels; null where n is 0), kappa.
    """
    rows = [
        {"left": left, "right": right, **row}
        for left, right in combinations(judgments, 2)
        for row in _slices(judgments[left], judgments[right])
    ]
    return AGREEMENT.validate(pl.DataFrame(rows, schema=AGREEMENT.empty.schema))


def _slices(left: pl.DataFrame, right: pl.DataFrame) -> Iterator[dict[str, Any]]:
    both = left.select("question_id", "question_type", "label").join(
        right.select("question_id", other="label"), on="question_id"
    )
    yield _row(ALL, both)
    for kind in sorted(both["question_type"].unique()):
        yield _row(f"{TYPE_PREFIX}{kind}", both.filter(pl.col("question_type") == kind))


def _row(name: str, both: pl.DataFrame) -> dict[str, Any]:
    labelled = both.drop_nulls(["label", "other"])
    kinds = [(True, True), (True, False), (False, True), (False, False)]
    counts = [labelled.filter(pl.col("label") == one, pl.col("other") == two).height for one, two in kinds]
    n = labelled.height
    return {
        "slice": name,
        "n": n,
        **dict(zip(_COUNTS, counts, strict=True)),
        "n_unlabelled": both.height - n,
        "agreement": round((counts[0] + counts[3]) / n, DIGITS) if n else None,
        "kappa": cohens_kappa(*counts),
    }


def consensus(judgments: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The label that more than half of the judges who gave one agree on, as a judge of its own.

    Args:
        judgments: name of each judge to ``Judgments`` of the same answers; a judge without a label does not vote.

    Returns:
        ``Judgments`` of every question that any judge has, in ordinal order: status ok (empty where every vote is on
        a missing answer) with a label; degraded on a tie; error where judges failed and none voted; not_run where none
        was asked.
    """
    if not judgments:
        return JUDGMENTS.empty
    facts = ["question_id", "ordinal", "question_type", "is_abstention"]
    rows = pl.concat([table.select(*facts, "status", "label") for table in judgments.values()])
    voted = pl.col("n_right") + pl.col("n_wrong")
    votes = pl.format("{} of {} judges say right", "n_right", voted)
    label = pl.when(pl.col("n_right") != pl.col("n_wrong")).then(pl.col("n_right") > pl.col("n_wrong"))
    merged = (
        rows.group_by("question_id")
        .agg(
            pl.col("ordinal", "question_type", "is_abstention").first(),
            n_right=pl.col("label").sum(),
            n_wrong=(~pl.col("label")).sum(),
            all_empty=(pl.col("status").filter(pl.col("status").is_in(SCORED_STATUSES)) == "empty").all(),
            all_not_run=(pl.col("status") == "not_run").all(),
        )
        .with_columns(label=label)
        .with_columns(
            status=pl.when(pl.col("all_not_run"))
            .then(pl.lit("not_run"))
            .when(voted == 0)
            .then(pl.lit("error"))
            .when(pl.col("label").is_null())
            .then(pl.lit("degraded"))
            .when(pl.col("all_empty"))
            .then(pl.lit("empty"))
            .otherwise(pl.lit("ok")),
            error=pl.when(pl.col("label").is_null() & (voted > 0)).then(pl.format("a tie: {}", votes)),
            explanation=pl.when(voted > 0).then(votes),
            judge=pl.lit(CONSENSUS),
            retryable=pl.lit(False),
        )
        .sort("ordinal", "question_id")
    )
    schema = JUDGMENTS.empty.schema
    absent = [pl.lit(None).alias(name) for name in schema.names() if name not in merged.columns]
    return JUDGMENTS.validate(merged.with_columns(absent).select(schema.names()).cast(schema))
