"""What a report says of where questions went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from judges.report_answers import shown_judge
from judges.report_values import cell, markdown_table, one_line, text_table
from judges.statistics.buckets import BUCKETS, bucket_counts, buckets

_WIDTH = 60


def failures(
    scores: pl.DataFrame, judgments: Mapping[str, pl.DataFrame], answers: pl.DataFrame | None
) -> dict[str, pl.DataFrame]:
    """Each question's bucket, by judge; those that cannot be judged have none."""
    return {judge: buckets(scores, frame, answers) for judge, frame in judgments.items()}


def failures_table(found: Mapping[str, pl.DataFrame]) -> str:
    """Plain text: a line a judge, a column a bucket."""
    lines = [[one_line(shown_judge(judge), _WIDTH), *_counts(frame)] for judge, frame in found.items()]
    return "\n".join(text_table(("questions by judge", *BUCKETS), lines))


def markdown_failures(found: Mapping[str, pl.DataFrame]) -> str:
    """The same as a Markdown table."""
    lines = [[cell(shown_judge(judge), _WIDTH), *_counts(frame)] for judge, frame in found.items()]
    return markdown_table(("questions by judge", *BUCKETS), lines)


def failures_json(found: Mapping[str, pl.DataFrame]) -> dict[str, dict[str, Any]]:
    """For machines, by judge: ``counts`` of each bucket, and ``questions``: each one's bucket."""
    return {
        judge: {"counts": bucket_counts(frame), "questions": dict(frame.select("question_id", "bucket").iter_rows())}
        for judge, frame in found.items()
    }


def _counts(frame: pl.DataFrame) -> list[str]:
    return [str(count) for count in bucket_counts(frame).values()]
