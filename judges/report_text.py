"""What a report prints: plain text, and the same figures for machines. Markdown: ``judges.report_markdown``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from converters.tables import SCORED_STATUSES
from judges.aggregate import ALL, LEVELS
from judges.checks import hits_unmapped
from judges.qa import ACCURACY
from judges.report_answers import accuracies, answers_headline, judges_of, overall, shown_judge
from judges.report_buckets import failures_json
from judges.report_phases import Spent, phases_json
from judges.report_values import (
    HEADLINE,
    HEADLINE_K,
    Figures,
    interval,
    k_label,
    number,
    one_line,
    text_table,
    values_of,
)

_QUERY_NAMES: Final = {"hit": "hit", "recall": "rec", "mrr": "rr"}
_TEXT_WIDTH: Final = 60


def query_lines(scores: pl.DataFrame) -> list[str]:
    """A line a question of ``RetrievalScores``: hit, recall and reciprocal rank at 5 and at 10.

    A value that is not defined prints as ``-``; a failed search shows its status, an excluded question the reason.
    """
    rows = scores.sort("ordinal").to_dicts()
    names = [one_line(row["question_id"], _TEXT_WIDTH) for row in rows]
    width = max(map(len, names), default=0)
    lines = []
    for name, row in zip(names, rows, strict=True):
        values = values_of(row["scores"])
        groups = [
            " ".join(f"{short}@{k}={number(values.get(f'{metric}@{k}')):<5}" for metric, short in _QUERY_NAMES.items())
            for k in HEADLINE_K
        ]
        status = row["status"] if row["status"] not in SCORED_STATUSES else None
        marks = [f"[{mark}]" for mark in (status, row["excluded"]) if mark]
        question = one_line(row["question"], _TEXT_WIDTH)
        lines.append("  ".join([name.ljust(width), "   ".join(groups), *marks, question]))
    return lines


def aggregate_line(report: pl.DataFrame, slice_name: str = ALL) -> str:
    """``AGGREGATE (n=12)  hit@5=0.917 R@5=0.889 MRR@5=0.806   hit@10=...`` and what was left out, if anything was."""
    figures = Figures.of(report, slice_name)
    groups = [
        " ".join(f"{name}@{k}={number(figures.get(metric, k))}" for metric, name in HEADLINE.items())
        for k in HEADLINE_K
    ]
    undefined = max(int(figures.get(metric, k, "n_undefined") or 0) for metric in HEADLINE for k in HEADLINE_K)
    counts = {
        "excluded: no evidence to find": figures.count("n_excluded"),
        "failed": figures.count("n_failed"),
        "of n undefined: list cut too early": undefined,
    }
    left_out = [f"{count} {why}" for why, count in counts.items() if count]
    line = f"AGGREGATE (n={figures.count('n')})  {'   '.join(groups)}"
    return f"{line}   ({', '.join(left_out)})" if left_out else line


def headline_line(report: pl.DataFrame) -> str:
    """Retrieval beside answers: ``HEADLINE  hit@5=1.000 R@5=0.750   accuracy=0.750 (6/8, ...) ... (judge: gpt)``."""
    figures = Figures.of(report)
    parts = [
        " ".join(f"{name}@{k}={number(figures.get(metric, k))}" for metric, name in HEADLINE.items())
        for k in HEADLINE_K
        if figures.rows
    ]
    for judge in judges_of(report):
        found = next(row for row in overall(report, judge) if row["metric"] == ACCURACY)
        parts.append(" ".join([*accuracies(found), f"(judge: {one_line(shown_judge(judge), _TEXT_WIDTH)})"]))
    return f"HEADLINE  {'   '.join(parts)}"


def search_line(scores: pl.DataFrame) -> str:
    """What the figures rest on: questions, hits asked for, how the searches ended, what was excluded, unmapped hits."""
    limits = " or ".join(map(str, scores["limit"].unique().sort()))
    unmapped, hits = hits_unmapped(scores)
    return "; ".join(
        [
            f"{scores.height} questions, {limits or 'no'} hits asked for",
            f"searches: {_tally(scores['status'])}",
            f"excluded: {_tally(scores['excluded'].drop_nulls())}",
            f"{unmapped} of {hits} hits map to no session",
        ]
    )


def _tally(words: pl.Series) -> str:
    counts = words.alias("word").value_counts().sort("count", "word", descending=[True, False])
    return ", ".join(f"{count} {word}" for word, count in counts.iter_rows()) or "none"


def full_metrics(report: pl.DataFrame, slice_name: str = ALL) -> str:
    """A plain-text table a level: each metric and cut-off with its interval, strict value and counts."""
    return "\n\n".join(_level_table(Figures.of(report, slice_name, level), level) for level in LEVELS)


def _level_table(figures: Figures, level: str) -> str:
    n = figures.count("n")
    counts = f"n={n}, {figures.count('n_excluded')} excluded, {figures.count('n_failed')} failed"
    if not n:
        return f"{level} level: nothing to score ({counts})"
    if all(row["value"] is None for row in figures.rows.values()):
        return f"{level} level: undefined ({counts}; hits do not say what they cover, or lists were cut too early)"
    head = ("metric", "value", "95 % interval", "strict", "n", "excluded", "failed", "undefined")
    lines = [
        (
            k_label(metric, k),
            number(row["value"]),
            interval(row["ci_low"], row["ci_high"]),
            number(row["strict"]),
            *(str(row[column]) for column in ("n", "n_excluded", "n_failed", "n_undefined")),
        )
        for (metric, k), row in figures.rows.items()
    ]
    return "\n".join([f"{level} level", *text_table(head, lines)])


def headline(report: pl.DataFrame) -> dict[str, float | int | None]:
    """The figures to show and plot for all questions.

    Keys: ``hit@k``, ``recall@k``, ``mrr@k`` and the same with ``_strict`` at 5 and 10; n, n_excluded, n_failed; those
    of ``judges.report_answers.answers_headline``. What a report does not have is left out.
    """
    return {**_retrieval_headline(report), **answers_headline(report)}


def _retrieval_headline(report: pl.DataFrame) -> dict[str, float | int | None]:
    figures = Figures.of(report)
    if not figures.rows and not report.is_empty():
        return {}
    found: dict[str, float | int | None] = {}
    for k in HEADLINE_K:
        for metric in HEADLINE:
            found[f"{metric}@{k}"] = figures.get(metric, k)
            found[f"{metric}@{k}_strict"] = figures.get(metric, k, "strict")
    return found | {column: figures.count(column) for column in ("n", "n_excluded", "n_failed")}


def as_json(
    scores: pl.DataFrame | None,
    report: pl.DataFrame,
    judgments: pl.DataFrame | None = None,
    *,
    phases: Mapping[str, Spent] | None = None,
    buckets: Mapping[str, pl.DataFrame] | None = None,
) -> dict[str, Any]:
    """All of it for machines: ``headline``, ``report`` (rows as in ``Report``), ``phases``, ``buckets``, and questions.

    ``phases``: see ``phases_json``; ``buckets``: see ``failures_json``; ``questions`` and ``judgments``, a row each.

    A question has the columns of ``RetrievalScores``, its ``scores`` as level to ``metric@k`` to value; null where not
    defined. A judgment has the columns of ``Judgments``. What the system does not have is left out.
    """
    found: dict[str, Any] = {"headline": headline(report), "report": report.to_dicts()}
    if scores is not None:
        found["questions"] = [
            {**row, "scores": {level: values_of(row["scores"], level) for level in LEVELS}}
            for row in scores.sort("ordinal").iter_rows(named=True)
        ]
    found |= {"phases": phases_json(phases)} if phases else {}
    found |= {"buckets": failures_json(buckets)} if buckets else {}
    if judgments is not None:
        found["judgments"] = judgments.sort("ordinal").to_dicts()
    return found
