"""From judged hits to a report: ``judged.*`` and ``memorybench.*`` with their n, what was left out, and an interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from converters.tables import REPORT
from judges.aggregate import ALL, Block, block_rows, slices
from judges.relevance.counted import counted
from judges.relevance.metrics import (
    JUDGED_LEVEL,
    MEMORYBENCH,
    MEMORYBENCH_K,
    NAMES,
    judged_metrics,
    memorybench_metrics,
)
from judges.report_values import interval, k_label, markdown_table, number, text_table
from judges.retrieval_metrics import CUTOFFS, Flags, Values

MEMORYBENCH_LEVEL: Final = MEMORYBENCH.rstrip(".")
_SHOWN_K: Final = (5, 10)
_HEAD: Final = ("relevance as judged", "value", "95 % interval", "strict", "n", "excluded", "failed", "undefined")


def aggregate_relevance(relevance: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Summarise ``Relevance``, over all questions and by question type.

    At level ``judged`` a question of which nothing is relevant is excluded, and one whose judging failed is too, if it
    has no evidence to find. At level ``memorybench`` nothing is excluded: that tool counts every question. Where nobody
    was asked, ``strict`` is null.

    Args:
        relevance: what the judge says of the hits.
        scores: ``RetrievalScores`` of the same search, which say what was not found and where the list was cut.

    Returns:
        ``Report``: levels ``judged`` (metrics of ``judges.relevance.metrics.NAMES`` at each of ``CUTOFFS``) and
        ``memorybench`` (k 10), with the judge's name.
    """
    rows = counted(relevance, scores)
    failed, excluded = (rows[column].to_numpy() for column in ("failed", "excluded"))
    names = rows["judge"].drop_nulls().unique().sort()
    everyone = np.ones(rows.height, dtype=np.bool_)

    def block(level: str, ks: Sequence[int], found: Sequence[Mapping[str, float | None]], out: Flags) -> Block:
        columns = [(metric, k) for metric in NAMES for k in ks]
        values: Values = np.full((rows.height, len(columns)), np.nan)
        for place, row in enumerate(found):
            for column, (metric, k) in enumerate(columns):
                value = row.get(f"{level}.{metric}@{k}", row.get(f"{level}.{metric}"))
                values[place, column] = np.nan if value is None else value
        return Block(level, columns, values, everyone, out, ", ".join(names))

    said = [
        (row["relevance"], row["n_missed"], row["cut"])
        for row in rows.select("relevance", "n_missed", "cut").iter_rows(named=True)
    ]
    judged = [{} if hits is None else judged_metrics(hits, missed, cut=cut) for hits, missed, cut in said]
    theirs: list[Mapping[str, float | None]] = [
        {} if hits is None else dict(memorybench_metrics(hits)) for hits, _, _ in said
    ]
    blocks = (
        block(JUDGED_LEVEL, CUTOFFS, judged, excluded),
        block(MEMORYBENCH_LEVEL, (MEMORYBENCH_K,), theirs, ~everyone),
    )
    asked = (rows["status"] != "not_run").to_numpy()
    found = [
        line | ({} if (members & asked & ~one.excluded).any() else {"strict": None})
        for name, members in slices(rows)
        for one in blocks
        for line in block_rows(name, one, members, failed)
    ]
    return REPORT.validate(pl.DataFrame(found, schema=REPORT.empty.schema))


def markdown_relevance(report: pl.DataFrame) -> str:
    """A row a metric of all questions, at 5 and at 10."""
    return markdown_table(_HEAD, _lines(report))


def relevance_table(report: pl.DataFrame) -> str:
    """The same as plain text; empty where no hits were judged."""
    lines = _lines(report)
    return "\n".join(text_table(_HEAD, lines)) if lines else ""


def _lines(report: pl.DataFrame) -> list[tuple[str, ...]]:
    levels = (JUDGED_LEVEL, MEMORYBENCH_LEVEL)
    here = report.filter((pl.col("slice") == ALL) & pl.col("level").is_in(levels) & pl.col("k").is_in(list(_SHOWN_K)))
    return [
        (
            f"{row['level']}.{k_label(row['metric'], row['k'])}",
            number(row["value"]),
            interval(row["ci_low"], row["ci_high"]),
            number(row["strict"]),
            *(str(row[column]) for column in ("n", "n_excluded", "n_failed", "n_undefined")),
        )
        for row in here.iter_rows(named=True)
    ]
