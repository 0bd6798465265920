"""What a report says of judged answers, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from converters.tables import BASE_OVERLAY, SCORED_STATUSES
from judges.aggregate import ALL, TYPE_PREFIX
from judges.qa import ABSTENTION, ACCURACY, ANSWER, TASK_AVERAGED
from judges.report_values import cell, interval, markdown_table, number, one_line, text_table

NAMES: Final[Mapping[str, str]] = {
    ACCURACY: "accuracy",
    TASK_AVERAGED: "task-averaged",
    ABSTENTION: "abstention",
}
LEXICAL: Final = "lexical"
"""The judge that asks no model: its numbers are told from a model's wherever they are shown."""
_HEAD: Final = ("answers", "value", "95 % interval", "n", "strict", "n strict", "excluded", "failed")
_FURTHER: Final = (TASK_AVERAGED, ABSTENTION)
_WIDTH: Final = 60


def answers_line(report: pl.DataFrame) -> str:
    """A line a judge; nothing where the report has no answers.

    ``ANSWERS (judge: gpt)  accuracy=0.750 (6/8, 0.409 to 0.929)   accuracy_strict=0.600 (6/10)   task-averaged=...``
    """
    return "\n".join(_line(report, judge) for judge in judges_of(report))


def shown_judge(judge: str) -> str:
    """A judge's name, for a reader; says of the lexical one what it is."""
    return f"{judge} (compares words, asks no model)" if judge == LEXICAL else judge or "not said"


def judges_of(report: pl.DataFrame) -> list[str]:
    """The judges whose answers a report is about, in its order; the first is the one that headlines are of."""
    return report.filter(pl.col("level") == ANSWER)["judge"].unique(maintain_order=True).to_list()


def _line(report: pl.DataFrame, judge: str) -> str:
    rows = {row["metric"]: row for row in overall(report, judge)}
    figures = [*accuracies(rows[ACCURACY]), *(f"{NAMES[name]}={_with_interval(rows[name])}" for name in _FURTHER)]
    failed = rows[ACCURACY]["n_failed"]
    by = f" (judge: {one_line(shown_judge(judge), _WIDTH)})" if judge else ""
    line = f"ANSWERS{by}  {'   '.join(figures)}"
    return f"{line}   ({failed} not judged)" if failed else line


def overall(report: pl.DataFrame, judge: str, overlay: str = BASE_OVERLAY) -> list[dict[str, Any]]:
    """The rows of all questions by one judge, against the labels of one overlay."""
    return [row for row in _rows(report, overlay) if row["slice"] == ALL and row["judge"] == judge]


def accuracies(row: Mapping[str, Any]) -> list[str]:
    """``accuracy=0.750 (6/8, 0.409 to 0.929)`` and ``accuracy_strict=0.600 (6/10)``, of a row of accuracy."""
    n = row["n"]
    right = 0 if row["value"] is None else round(row["value"] * n)
    between = "" if row["ci_low"] is None else f", {interval(row['ci_low'], row['ci_high'])}"
    return [
        f"{ACCURACY}={number(row['value'])} ({right}/{n}{between})",
        f"{ACCURACY}_strict={number(row['strict'])} ({right}/{n + row['n_failed']})",
    ]


def answers_table(report: pl.DataFrame) -> str:
    """A plain-text table a judge: each accuracy of all questions, then of each type; empty without answers."""
    tables = []
    for judge in judges_of(report):
        lines = [(_label(row), *_cells(row)) for row in _rows(report) if row["judge"] == judge]
        title = f"answer level, judge: {one_line(shown_judge(judge), _WIDTH)}" if judge else "answer level"
        tables.append("\n".join([title, *text_table(_HEAD, lines)]))
    return "\n\n".join(tables)


def markdown_answers(report: pl.DataFrame) -> str:
    """The same as one Markdown table."""
    head = ("", "judge", *_HEAD[1:])
    rows = [[cell(_label(row), _WIDTH), cell(shown_judge(row["judge"]), _WIDTH), *_cells(row)] for row in _rows(report)]
    return markdown_table(head, rows)


def judgment_lines(judgments: pl.DataFrame) -> list[str]:
    """A line a question of ``Judgments``: right, wrong, or the status of what was not judged; and its type."""
    rows = judgments.sort("ordinal").to_dicts()
    names = [one_line(row["question_id"], _WIDTH) for row in rows]
    width = max(map(len, names), default=0)
    return [
        f"{name:{width}}  {_verdict(row):8}  {one_line(row['question_type'], _WIDTH)}"
        for name, row in zip(names, rows, strict=True)
    ]


def judgments_line(judgments: pl.DataFrame) -> str:
    """What the accuracies rest on: how many answers, how judging ended, and who judged."""
    counts = judgments["status"].value_counts().sort("count", "status", descending=[True, False])
    ended = ", ".join(f"{count} {status}" for status, count in counts.iter_rows()) or "none"
    named = judgments["judge"].drop_nulls().unique().sort()
    judges = ", ".join(one_line(shown_judge(judge), _WIDTH) for judge in named)
    return f"{judgments.height} questions; judgments: {ended}; judged by: {judges or 'not said'}"


def answers_headline(report: pl.DataFrame) -> dict[str, float | int | None]:
    """Of the first judge each accuracy of all questions and the same with ``_strict``; n_answers, n_answers_failed.

    Of each further one the accuracies, with its name in brackets; so of the lexical one, even where it is the first.
    """
    found: dict[str, float | int | None] = {}
    for place, judge in enumerate(judges_of(report)):
        mark = f"[{judge}]" if place or judge == LEXICAL else ""
        for row in overall(report, judge):
            found |= {f"{row['metric']}{mark}": row["value"], f"{row['metric']}_strict{mark}": row["strict"]}
            if row["metric"] == ACCURACY and not place:
                found |= {"n_answers": row["n"], "n_answers_failed": row["n_failed"]}
    return found


def _rows(report: pl.DataFrame, overlay: str = BASE_OVERLAY) -> Iterator[dict[str, Any]]:
    return report.filter((pl.col("level") == ANSWER) & (pl.col("overlay") == overlay)).iter_rows(named=True)


def _label(row: Mapping[str, Any]) -> str:
    kind = "" if row["slice"] == ALL else f" {row['slice'].removeprefix(TYPE_PREFIX)}"
    return f"{NAMES[row['metric']]}{kind}"


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        number(row["value"]),
        interval(row["ci_low"], row["ci_high"]),
        str(row["n"]),
        number(row["strict"]),
        *(str(count) for count in (row["n"] + row["n_failed"], row["n_excluded"], row["n_failed"])),
    ]


def _with_interval(row: Mapping[str, Any]) -> str:
    value = number(row["value"])
    return value if row["ci_low"] is None else f"{value} ({interval(row['ci_low'], row['ci_high'])})"


def _verdict(row: Mapping[str, Any]) -> str:
    if row["status"] not in SCORED_STATUSES:
        return f"[{row['status']}]"
    return "right" if row["label"] else "no answer" if row["status"] == "empty" else "wrong"
