"""What a ``Comparison`` says, for a reader: a table, a sentence a pair, and what the figures leave out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl

from judges.judging.lexical import NAME
from judges.report_answers import shown_judge
from judges.report_values import NOTHING, cell, interval, markdown_table, number, one_line, text_table
from judges.statistics.compare import BETTER, NOT_SEPARABLE, WORSE
from judges.statistics.metric import Metric

_WIDTH: Final = 40
_FIGURES: Final = ("difference", "95 % interval", "p (Holm)", "verdict", "n", "gained", "lost")


def comparison_table(frame: pl.DataFrame, names: tuple[str, str]) -> str:
    """A plain-text table of one pair: a line a metric, its means, their difference, p and verdict of the right."""
    lines = [
        [one_line(metric_of(row), _WIDTH), number(row["value_left"]), number(row["value_right"]), *_figures(row)]
        for row in frame.iter_rows(named=True)
    ]
    return "\n".join(text_table(("metric", *names, *_FIGURES), lines))


def markdown_comparison(frame: pl.DataFrame) -> str:
    """The same of all pairs as one Markdown table."""
    rows = [
        [
            cell(row["left"], _WIDTH),
            cell(row["right"], _WIDTH),
            cell(metric_of(row), _WIDTH),
            number(row["value_left"]),
            number(row["value_right"]),
            *_figures(row),
        ]
        for row in frame.iter_rows(named=True)
    ]
    return markdown_table(["left", "right", "metric", "left's", "right's", *_FIGURES], rows)


def verdict_lines(frame: pl.DataFrame) -> list[str]:
    """A sentence a pair: on which metrics the right is better or worse, and on how many the two are not separable."""
    pairs = frame.group_by("left", "right", maintain_order=True)
    return [_sentence(str(left), str(right), rows) for (left, right), rows in pairs]


def note_lines(frame: pl.DataFrame) -> list[str]:
    """What a reader must know beside the table: a lexical judge; questions failed, undefined, on one side only."""
    lexical = [shown_judge(NAME)] if NAME in frame["judge"] else []
    return lexical + [
        f"{row['left']} and {row['right']}, {one_line(metric_of(row), _WIDTH)}: {', '.join(notes)}"
        for row in frame.iter_rows(named=True)
        if (notes := list(_notes(row)))
    ]


def metric_of(row: Mapping[str, Any]) -> str:
    """The name of a row's metric, with its judge."""
    return str(Metric(row["level"], row["metric"], row["k"], row["judge"]))


def _figures(row: Mapping[str, Any]) -> list[str]:
    difference, p = row["difference"], row["p_adjusted"]
    counts = (NOTHING if row[column] is None else str(row[column]) for column in ("n", "n_gained", "n_lost"))
    return [
        NOTHING if difference is None else f"{difference:+.3f}",
        interval(row["ci_low"], row["ci_high"]),
        NOTHING if p is None else f"{p:.2g}",
        row["verdict"] or NOTHING,
        *counts,
    ]


def _sentence(left: str, right: str, rows: pl.DataFrame) -> str:
    found = {
        verdict: [one_line(metric_of(row), _WIDTH) for row in rows.iter_rows(named=True) if row["verdict"] == verdict]
        for verdict in (BETTER, WORSE, NOT_SEPARABLE)
    }
    unknown = rows.height - sum(map(len, found.values()))
    parts = [f"{verdict} on {', '.join(found[verdict])}" for verdict in (BETTER, WORSE) if found[verdict]]
    parts += [f"{NOT_SEPARABLE} on {_share(found[NOT_SEPARABLE], rows.height)}"] if found[NOT_SEPARABLE] else []
    parts += [f"{unknown} that cannot be compared"] if unknown else []
    return f"{right} against {left}: {'; '.join(parts)}"


def _share(names: Sequence[str], of: int) -> str:
    if len(names) == of:
        return f"any of {of} metrics" if of > 1 else names[0]
    return f"{len(names)} of {of} metrics"


def _notes(row: Mapping[str, Any]) -> Iterator[str]:
    for side in ("left", "right"):
        if row[f"n_failed_{side}"]:
            yield f"{row[f'n_failed_{side}']} failed in {row[side]}"
    if row["n_undefined"]:
        yield f"{row['n_undefined']} of {row['n']} undefined"
    for side in ("left", "right"):
        if row[f"n_only_{side}"]:
            yield f"{row[f'n_only_{side}']} only in {row[side]}"
