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
    """``ANSWERS (n=500)  accuracy=0.606 (0.563 to 0.648)   task-averaged=0.654 (...)   abstention=0.933 (...)``.

    Says how many count in strict values alone; says nothing where the report has no answers.
    """
    rows = {row["metric"]: row for row in _rows(report) if row["slice"] == ALL}
    if not rows:
        return ""
    figures = [f"{name}={_with_interval(rows[metric])}" for metric, name in NAMES.items()]
    failed = rows[ACCURACY]["n_failed"]
    line = f"ANSWERS (n={rows[ACCURACY]['n']})  {'   '.join(figures)}"
    return f"{line}   ({failed} not judged)" if failed else line


def answers_table(report: pl.DataFrame) -> str:
    """A plain-text table: each accuracy of all questions, then of each type; empty where there are no answers."""
    lines = [(_label(row), *_cells(row)) for row in _rows(report)]
    return "\n".join(["answer level", *text_table(_HEAD, lines)]) if lines else ""


def markdown_answers(report: pl.DataFrame) -> str:
    """The same as a Markdown table."""
    return markdown_table(_HEAD, [[cell(_label(row), _WIDTH), *_cells(row)] for row in _rows(report)])


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
    """Each accuracy of all questions and the same with ``_strict``; n_answers and n_answers_failed."""
    found: dict[str, float | int | None] = {}
    for row in _rows(report):
        if row["slice"] == ALL:
            found |= {row["metric"]: row["value"], f"{row['metric']}_strict": row["strict"]}
            if row["metric"] == ACCURACY:
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
