"""Look-ups in scores and reports, and how their values are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final
from unicodedata import category

import polars as pl

from converters.tables import BASE_OVERLAY
from judges.aggregate import ALL, OWN_K

HEADLINE_K: Final = (5, 10)
HEADLINE: Final[Mapping[str, str]] = {"hit": "hit", "recall": "R", "mrr": "MRR"}
NOTHING: Final = "-"
_MARKDOWN: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]|~$"})
_JOINER: Final = "\u200d"


@dataclass(frozen=True)
class Figures:
    """The rows of one slice, level and overlay of a ``Report``, by metric and k."""

    rows: Mapping[tuple[str, int], Mapping[str, Any]]

    @classmethod
    def of(
        cls, report: pl.DataFrame, slice_name: str = ALL, level: str = "session", overlay: str = BASE_OVERLAY
    ) -> Figures:
        """Pick them; empty where the report has none."""
        chosen = (pl.col("slice") == slice_name) & (pl.col("level") == level) & (pl.col("overlay") == overlay)
        here = report.filter(chosen)
        return cls({(row["metric"], row["k"]): row for row in here.iter_rows(named=True)})

    def get(self, metric: str, k: int, column: str = "value") -> float | None:
        """One figure; null where the report has none."""
        found: float | None = self.rows.get((metric, k), {}).get(column)
        return found

    def count(self, column: str) -> int:
        """How many questions: n, n_excluded or n_failed, which are the same at every standard cut-off."""
        return next((int(row[column]) for (_, k), row in self.rows.items() if k != OWN_K), 0)


def values_of(entries: Sequence[Mapping[str, Any]], level: str = "session") -> dict[str, float | None]:
    """The list in a question's ``scores`` as ``metric@k`` to value."""
    return {f"{entry['metric']}@{entry['k']}": entry["value"] for entry in entries if entry["level"] == level}


def number(value: float | None) -> str:
    """Three decimals; ``-`` for null."""
    return NOTHING if value is None else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """``0.750 to 0.917``; ``-`` for null."""
    return NOTHING if low is None or high is None else f"{low:.3f} to {high:.3f}"


def one_line(text: str, width: int) -> str:
    """The text on one line, without control characters, cut to ``width`` characters."""
    spaced = " ".join(text.split())
    kept = "".join(sign for sign in spaced if sign == _JOINER or category(sign) not in {"Cc", "Cf", "Cs"})
    return kept if len(kept) <= width else f"{kept[: width - 1].rstrip()}…"


def cell(text: str, width: int) -> str:
    """The text for a cell of a Markdown table: one line, cut, with nothing in it that Markdown or HTML would read."""
    return escape(one_line(text, width), quote=False).translate(_MARKDOWN)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of cells that need no more escaping."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def k_label(metric: str, k: int) -> str:
    """``hit@5``, or ``hit@own`` for each query's own k."""
    return f"{metric}@{'own' if k == OWN_K else k}"


def text_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """A plain-text table: its first column to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return [
        "  ".join(
            [line[0].ljust(widths[0]), *(word.rjust(width) for word, width in zip(line[1:], widths[1:], strict=True))]
        )
        for line in (head, *lines)
    ]
