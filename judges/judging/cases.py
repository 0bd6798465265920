"""A bundled set of answers with known verdicts: what a judge is worth before its numbers are believed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files

import polars as pl
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from judges.judging.choose import choose
from judges.judging.verdict import Unreadable, Verdict


class Case(BaseModel):
    """An answer, and what a judge must say of it.

    Attributes:
        case: its name.
        kind: right, paraphrase, wrong, partial, outdated, refusal, injected or injected in memory.
        question: the question.
        answer: the reference; None where there is none.
        hypothesis: the answer to judge.
        question_type: as in LongMemEval or LoCoMo.
        is_abstention: the question cannot be answered.
        expected: whether the answer is right.
        at_most: what its score may be.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    case: str
    kind: str
    question: str
    answer: str | None
    hypothesis: str
    question_type: str
    is_abstention: bool = False
    expected: bool
    at_most: float = Field(default=1.0, ge=0, le=1)


@cache
def bundled_cases() -> tuple[Case, ...]:
    """The cases of ``cases.yaml``, in its order."""
    text = files("judges.judging").joinpath("cases.yaml").read_text(encoding="utf-8")
    return tuple(TypeAdapter(list[Case]).validate_python(yaml.safe_load(text)))


def judge_accuracy(judge: Callable[[Case], Verdict], cases: Iterable[Case] | None = None) -> pl.DataFrame:
    """Put a judge to the cases; the mean of ``right`` is its accuracy.

    Args:
        judge: gives a verdict, or raises ``Unreadable``, which is not right.
        cases: the bundled ones by default.

    Returns:
        One row a case, in their order: case, kind, prompt, expected (bool), got (bool, null where unreadable), score
        (null likewise), right (bool: the label is the expected one and the score not above the case's ``at_most``),
        explanation (the judge's, or why the reply is unreadable).
    """
    rows = [_tried(judge, case) for case in (bundled_cases() if cases is None else cases)]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


_SCHEMA = {
    "case": pl.String,
    "kind": pl.String,
    "prompt": pl.String,
    "expected": pl.Boolean,
    "got": pl.Boolean,
    "score": pl.Float64,
    "right": pl.Boolean,
    "explanation": pl.String,
}


def _tried(judge: Callable[[Case], Verdict], case: Case) -> tuple[object, ...]:
    known = (case.case, case.kind, choose(case.question_type, case.is_abstention), case.expected)
    try:
        verdict = judge(case)
    except Unreadable as error:
        return (*known, None, None, False, error.reason)
    right = verdict.label == case.expected and verdict.score <= case.at_most
    return (*known, verdict.label, verdict.score, right, verdict.explanation)
