"""What a report says of corrected labels: the headline figures against each overlay, beside the original ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import polars as pl

from converters.tables import BASE_OVERLAY
from judges.qa import ACCURACY
from judges.report_answers import NAMES, judges_of, overall, shown_judge
from judges.report_values import (
    HEADLINE,
    HEADLINE_K,
    NOTHING,
    Figures,
    cell,
    markdown_table,
    number,
    one_line,
    text_table,
)

HEAD: Final = ("corrected labels", "original", "n", "corrected", "n", "difference", "strict", "corrected strict")
_WIDTH: Final = 100
_Row = Mapping[str, Any]


def overlays_of(report: pl.DataFrame) -> list[str]:
    """The overlays that a report has beside base, by name."""
    return sorted(set(report["overlay"].unique()) - {BASE_OVERLAY})


def corrections_table(report: pl.DataFrame) -> str:
    """Plain text: a line an overlay and figure of all questions; empty where nothing is corrected."""
    lines = [[one_line(word, _WIDTH) for word in line] for line in _lines(report)]
    return "\n".join(text_table(HEAD, lines)) if lines else ""


def markdown_corrections(report: pl.DataFrame) -> str:
    """The same as a Markdown table."""
    return markdown_table(HEAD, [[cell(word, _WIDTH) for word in line] for line in _lines(report)])


def not_judged_again(overlays: Iterable[str], judges: Iterable[str]) -> str:
    """What is said of labels that came in a file, where overlays correct what they were given against."""
    by = ", ".join(one_line(shown_judge(judge), _WIDTH) for judge in judges)
    return (
        f"corrected labels ({', '.join(overlays)}) change no accuracy here: the labels of these answers (judge: {by}) "
        "came in a file, were given against the original, and cannot be given again"
    )


def _lines(report: pl.DataFrame) -> Iterator[list[str]]:
    for overlay in overlays_of(report):
        for name, original, corrected in _pairs(report, overlay):
            left, right = original["value"], corrected["value"]
            yield [
                f"{overlay} {name}",
                *(number(left), str(original["n"]), number(right), str(corrected["n"])),
                NOTHING if left is None or right is None else f"{right - left:+.3f}",
                *(number(original["strict"]), number(corrected["strict"])),
            ]


def _pairs(report: pl.DataFrame, overlay: str) -> Iterator[tuple[str, _Row, _Row]]:
    base, other = Figures.of(report).rows, Figures.of(report, overlay=overlay).rows
    for k in HEADLINE_K:
        for metric, name in HEADLINE.items():
            if (metric, k) in base and (metric, k) in other:
                yield f"{name}@{k}", base[metric, k], other[metric, k]
    for judge in judges_of(report):
        corrected = {row["metric"]: row for row in overall(report, judge, overlay)}
        for row in overall(report, judge):
            if row["metric"] in corrected:
                name = ACCURACY if row["metric"] == ACCURACY else NAMES[row["metric"]]
                yield f"{name}, judge: {shown_judge(judge)}", row, corrected[row["metric"]]
