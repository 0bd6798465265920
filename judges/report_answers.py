"""What a report says of judged answers, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from converters.tables import SCORED_STATUSES
from judges.aggregate import ALL, TYPE_PREFIX
from judges.qa import ABSTENTION, ACCURACY, ANSWER, TASK_AVERAGED
from judges.report_values import cell, interval, markdown_table, number, one_line, text_table

NAMES: Final[Mapping[str, str]] = {
    ACCURACY: "accuracy",
    TASK_AVERAGED: "task-averaged",
    ABSTENTION: "abstention",
}
_HEAD: Final = ("answers", "value", "95 % interval", "strict", "n", "excluded", "failed")
_WIDTH: Final = 60


def answers_line(report: pl.DataFrame) -> str:
    """``ANSWERS (n=500, judge: gpt)  accuracy=0.606 (0.563 to 0.648)   ...``, a line a judge.

    Says how many count in strict values alone; says nothing where the report has no answers.
    """
    return "\n".join(_line(report, judge) for judge in judges_of(report))


def judges_of(report: pl.DataFrame) -> list[str]:
    """The judges whose answers a report is about, in its order; the first is the one that headlines are of."""
    return report.filter(pl.col("level") == ANSWER)["judge"].unique(maintain_order=True).to_list()


def _line(report: pl.DataFrame, judge: str) -> str:
    rows = {row["metric"]: row for row in _rows(report) if row["slice"] == ALL and row["judge"] == judge}
    figures = [f"{name}={_with_interval(rows[metric])}" for metric, name in NAMES.items()]
    failed = rows[ACCURACY]["n_failed"]
    by = f", judge: {one_line(judge, _WIDTH)}" if judge else ""
    line = f"ANSWERS (n={rows[ACCURACY]['n']}{by})  {'   '.join(figures)}"
    return f"{line}   ({failed} not judged)" if failed else line


def answers_table(report: pl.DataFrame) -> str:
    """A plain-text table a judge: each accuracy of all questions, then of each type; empty without answers."""
    tables = []
    for judge in judges_of(report):
        lines = [(_label(row), *_cells(row)) for row in _rows(report) if row["judge"] == judge]
        title = f"answer level, judge: {one_line(judge, _WIDTH)}" if judge else "answer level"
        tables.append("\n".join([title, *text_table(_HEAD, lines)]))
    return "\n\n".join(tables)


def markdown_answers(report: pl.DataFrame) -> str:
    """The same as one Markdown table."""
    head = ("", "judge", *_HEAD[1:])
    rows = [[cell(_label(row), _WIDTH), cell(row["judge"] or "-", _WIDTH), *_cells(row)] for row in _rows(report)]
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
    judges = ", ".join(one_line(judge, _WIDTH) for judge in judgments["judge"].drop_nulls().unique().sort())
    return f"{judgments.height} questions; judgments: {ended}; judged by: {judges or 'not said'}"


def answers_headline(report: pl.DataFrame) -> dict[str, float | int | None]:
    """Of the first judge each accuracy of all questions and the same with ``_strict``; n_answers, n_answers_failed.

    Of each further one the accuracies, with its name in brackets.
    """
    found: dict[str, float | int | None] = {}
    for place, judge in enumerate(judges_of(report)):
        mark = f"[{judge}]" if place else ""
        for row in _rows(report):
            if row["slice"] != ALL or row["judge"] != judge:
                continue
            found |= {f"{row['metric']}{mark}": row["value"], f"{row['metric']}_strict{mark}": row["strict"]}
            if row["metric"] == ACCURACY and not place:
                found |= {"n_answers": row["n"], "n_answers_failed": row["n_failed"]}
    return found


def _rows(report: pl.DataFrame) -> Iterator[dict[str, Any]]:
    return report.filter(pl.col("level") == ANSWER).iter_rows(named=True)


def _label(row: Mapping[str, Any]) -> str:
    kind = "" if row["slice"] == ALL else f" {row['slice'].removeprefix(TYPE_PREFIX)}"
    return f"{NAMES[row['metric']]}{kind}"


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        number(row["value"]),
        interval(row["ci_low"], row["ci_high"]),
        number(row["strict"]),
        *(str(row[column]) for column in ("n", "n_excluded", "n_failed")),
    ]


def _with_interval(row: Mapping[str, Any]) -> str:
    value = number(row["value"])
    return value if row["ci_low"] is None else f"{value} ({interval(row['ci_low'], row['ci_high'])})"


def _verdict(row: Mapping[str, Any]) -> str:
    if row["status"] not in SCORED_STATUSES:
        return f"[{row['status']}]"
    return "right" if row["label"] else "no answer" if row["status"] == "empty" else "wrong"
