"""Pairs of systems on a benchmark, compared on what is stored of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import dagster as dg
import polars as pl

from converters.errors import BadInput
from converters.tables import COMPARISON
from eval_assets.graph import Graph
from eval_assets.runs import Run, conditions_of_both, read_run
from eval_assets.settings_comparisons import Pair
from judges.statistics.compare import compare, together
from judges.statistics.conditions import refuse_unlike
from judges.statistics.metric import HEADLINES, parse_metrics

_REMEDY = "compare other metrics, or say that unlike runs may be compared (--unlike, or unlike: true in the settings)"


@dataclass(frozen=True)
class Compared:
    """What came of comparing.

    Attributes:
        frame: ``Comparison``; Holm's adjustment is over all of it.
        refused: a line a pair of unlike runs.
        absent: scores and judgments that nobody made yet, by name.
    """

    frame: pl.DataFrame
    refused: Sequence[str]
    absent: Sequence[str]


def compare_pairs(graph: Graph, instance: dg.DagsterInstance, benchmark: str) -> Compared:
    """Compare the pairs of the settings that can both be on this benchmark, as far as there is something of both."""
    settings = graph.settings
    pairs = [
        pair
        for pair in settings.compared
        if settings.is_pair(pair.left, benchmark) and settings.is_pair(pair.right, benchmark)
    ]
    names = dict.fromkeys(name for pair in pairs for name in (pair.left, pair.right))
    runs = {name: read_run(graph, instance, name, benchmark) for name in names}
    frames, refused = [COMPARISON.empty], []
    for pair in pairs:
        try:
            frames.append(compare_pair(pair, runs))
        except BadInput as error:
            refused.append(f"{error.source}: {error.problem}")
    absent = [key.to_user_string() for run in runs.values() for key in run.absent]
    return Compared(together(frames), refused, absent)


def compare_pair(pair: Pair, runs: Mapping[str, Run]) -> pl.DataFrame:
    """``Comparison`` of two runs, empty where there is nothing of one of them.

    Raises:
        BadInput: they are unlike, and the pair does not say that this is wanted.
    """
    left, right = runs[pair.left], runs[pair.right]
    if left.outcomes.is_empty() or right.outcomes.is_empty():
        return COMPARISON.empty
    metrics = parse_metrics(pair.metrics, "metrics") if pair.metrics else HEADLINES
    if not pair.unlike:
        refuse_unlike(
            f"{pair.left} and {pair.right} on {left.benchmark}",
            *conditions_of_both(left, right, metrics),
            remedy=_REMEDY,
        )
    return compare(left.outcomes, right.outcomes, metrics=metrics, names=(pair.left, pair.right))
