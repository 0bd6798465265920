"""A file of answers as a system's answers, and the labels in one as judgments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl

from converters.errors import BadInput
from converters.results.hypotheses import read_hypotheses
from converters.results.known import check_known
from converters.results.lines import shown
from converters.results.search_results import NO_LINE
from converters.tables import ANSWERS, BASE_OVERLAY, JUDGMENTS

NO_LABEL: Final = "no label in the file"


def import_answers(path: Path, questions: pl.DataFrame) -> pl.DataFrame:
    """Read answers: ``Answers``, one row a question in the order of the source.

    A question that the file has no line of, or a blank answer to, is ``empty``.

    Raises:
        BadInput: the file cannot be used (see ``read_hypotheses``), or names a question that is not in ``questions``.
    """
    found = read_hypotheses(path)
    check_known(path, found["question_id"], questions)
    rows = questions.sort("ordinal").select("question_id")
    rows = rows.join(found, on="question_id", how="left", maintain_order="left")
    absent = pl.col("hypothesis").is_null()
    nothing: pl.Expr = absent | (pl.col("hypothesis").str.strip_chars() == "")
    frame = rows.select(
        "question_id",
        status=pl.when(nothing).then(pl.lit("empty")).otherwise(pl.lit("ok")),
        error=pl.when(absent).then(pl.lit(NO_LINE)),
        retryable=False,
        answer="hypothesis",
        **{
            name: pl.lit(None, dtype)
            for name, dtype in ANSWERS.empty.schema.items()
            if name not in ("question_id", "status", "error", "retryable", "answer")
        },
    )
    return ANSWERS.validate(frame)


def import_judgments(
    path: Path, *, answers: pl.DataFrame, questions: pl.DataFrame, ground_truth: pl.DataFrame
) -> pl.DataFrame:
    """Read labels: ``Judgments``, one row a question in the order of the source.

    An ``empty`` answer without a label is wrong, and ``empty``; any other answer without one is ``not_run``.

    Args:
        path: judged answers.
        answers: ``Answers``, those that were judged.
        questions: ``Questions``.
        ground_truth: ``GroundTruth``.

    Raises:
        BadInput: the file cannot be used, names a question that is not in ``questions``, or holds another text than
            ``answers``: names the question.
    """
    found = read_hypotheses(path)
    check_known(path, found["question_id"], questions)
    truth = ground_truth.filter(pl.col("overlay") == BASE_OVERLAY)
    rows = (
        questions.sort("ordinal")
        .select("question_id", "ordinal")
        .join(truth.select("question_id", "question_type", "is_abstention"), on="question_id", how="left")
        .join(answers.select("question_id", "status", "answer"), on="question_id", how="left")
        .join(found, on="question_id", how="left")
        .sort("ordinal")
    )
    _check_texts(path, rows)
    return JUDGMENTS.validate(pl.DataFrame(list(_judged(rows)), schema=JUDGMENTS.empty.schema))


def _check_texts(path: Path, rows: pl.DataFrame) -> None:
    judged = rows.filter(pl.col("hypothesis").is_not_null())
    other = judged.filter(pl.col("answer").ne_missing(pl.col("hypothesis")))
    for row in other.head(1).iter_rows(named=True):
        problem = f"judges {shown(row['hypothesis'])}, and the answer is {shown(row['answer'])}"
        if row["answer"] is None:
            problem = f"judges {shown(row['hypothesis'])}, and the answers have none to this question"
        others = f" ({other.height:,} such questions)" if other.height > 1 else ""
        remedy = "give the judgments of these answers"
        raise BadInput(path, problem + others, remedy, record=f"question {shown(row['question_id'])}")


def _judged(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for row in rows.iter_rows(named=True):
        label, status = row["label"], "ok"
        if label is None:
            status = "empty" if row["status"] == "empty" else "not_run"
            label = False if status == "empty" else None
        yield {
            **{name: row[name] for name in ("question_id", "ordinal", "question_type", "is_abstention")},
            "status": status,
            "error": NO_LABEL if status == "not_run" else None,
            "retryable": False,
            "judge": row["judge_model"],
            "label": label,
        }
