"""What a report shows in a web page: Markdown tables."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from converters.tables import BASE_OVERLAY, SCORED_STATUSES
from judges.aggregate import ALL, LEVELS, TYPE_PREFIX
from judges.report_answers import NAMES, judges_of, overall, shown_judge
from judges.report_values import HEADLINE, HEADLINE_K, Figures, cell, interval, markdown_table, number

_NAMES: Final = {**HEADLINE, "ndcg": "nDCG"}
_COUNTS: Final = {"n": "n", "n_excluded": "excluded", "n_failed": "failed"}
_TEXT_WIDTH: Final = 100
_ID_WIDTH: Final = 40
_WORST_K: Final = 10


def markdown_headline(report: pl.DataFrame) -> str:
    """Retrieval and answers in one: a row a headline metric of all questions, with its interval, strict value and n."""
    figures = Figures.of(report)
    rows = [
        [
            f"{name}@{k}",
            number(figures.get(metric, k)),
            interval(figures.get(metric, k, "ci_low"), figures.get(metric, k, "ci_high")),
            number(figures.get(metric, k, "strict")),
            *(str(figures.count(column)) for column in _COUNTS),
        ]
        for k in HEADLINE_K
        for metric, name in _NAMES.items()
        if figures.rows or report.is_empty()
    ]
    for judge in judges_of(report):
        rows += [
            [
                cell(f"{NAMES[row['metric']]}, judge: {shown_judge(judge)}", _TEXT_WIDTH),
                number(row["value"]),
                interval(row["ci_low"], row["ci_high"]),
                number(row["strict"]),
                *(str(row[column]) for column in _COUNTS),
            ]
            for row in overall(report, judge)
        ]
    return markdown_table(["metric", "value", "95 % interval", "strict", *_COUNTS.values()], rows)


def markdown_by_type(report: pl.DataFrame) -> str:
    """A row a question type, then one for all: each headline metric with its 95 % interval, and how many questions."""
    of_base = pl.col("level").is_in(LEVELS) & (pl.col("overlay") == BASE_OVERLAY)
    slices = report.filter(of_base)["slice"].unique(maintain_order=True).to_list()
    rows = []
    for name in [*(name for name in slices if name != ALL), ALL]:
        figures = Figures.of(report, name)
        values = [_with_interval(figures, metric, k) for k in HEADLINE_K for metric in HEADLINE]
        counts = [str(figures.count(column)) for column in _COUNTS]
        rows.append([cell(name.removeprefix(TYPE_PREFIX), _ID_WIDTH), *counts, *values])
    names = [f"{name}@{k}" for k in HEADLINE_K for name in HEADLINE.values()]
    return markdown_table(["type", *_COUNTS.values(), *names], rows)


def markdown_worst(scores: pl.DataFrame, n: int = 10) -> str:
    """The ``n`` questions whose evidence was found least, then latest; those found in full at the top are left out."""
    searched = scores.filter(pl.col("excluded").is_null() & pl.col("status").is_in(SCORED_STATUSES))
    worst = (
        searched.with_columns(
            share=(pl.col("evidence_ranks").list.eval(pl.element() <= _WORST_K).list.sum()) / pl.col("n_evidence"),
            first=pl.col("evidence_ranks").list.min(),
            last=pl.col("evidence_ranks").list.max(),
        )
        .filter((pl.col("share") < 1) | (pl.col("last") > pl.col("n_evidence")))
        .sort("share", "first", "last", "ordinal", descending=[False, True, True, False], nulls_last=False)
        .head(n)
    )
    n_failed = scores.filter(pl.col("excluded").is_null()).height - searched.height
    counts = f"{searched.height} questions scored; {n_failed} more failed and are not listed."
    if worst.is_empty():
        return f"No scored question ranks anything above its evidence. {counts}"
    rows = [
        [
            cell(row["question_id"], _ID_WIDTH),
            cell(row["question_type"], _ID_WIDTH),
            _ranks(row),
            str(row["n_ranked"]),
            cell(row["question"], _TEXT_WIDTH),
        ]
        for row in worst.iter_rows(named=True)
    ]
    return f"{markdown_table(['id', 'type', 'evidence found at', 'sessions ranked', 'question'], rows)}\n\n{counts}"


def _ranks(row: dict[str, Any]) -> str:
    ranks = row["evidence_ranks"]
    return f"{', '.join(map(str, ranks)) or 'none'} ({len(ranks)} of {row['n_evidence']})"


def _with_interval(figures: Figures, metric: str, k: int) -> str:
    low, high = figures.get(metric, k, "ci_low"), figures.get(metric, k, "ci_high")
    value = number(figures.get(metric, k))
    return value if low is None else f"{value} ({interval(low, high)})"
