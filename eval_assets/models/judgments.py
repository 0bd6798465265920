"""What a judge says of a system's answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from converters.tables import BASE_OVERLAY, JUDGMENTS
from eval_assets.models.chat import Chat, Said, Took
from eval_assets.models.rows import Row, rows_of
from eval_assets.models.settings import JudgeSettings
from judges.judging.build import judging_prompt
from judges.judging.choose import choose
from judges.judging.lexical import NAME, lexical_verdict
from judges.judging.parse import parse_verdict
from judges.judging.verdict import Unreadable as NoVerdict
from judges.judging.verdict import Verdict
from providers.protocol import Progress, quiet
from providers.remote.errors import CallFailed, NotRecorded, Unreadable

_KNOWN: Final = ("question_id", "ordinal", "question_type", "is_abstention")
NO_REFERENCE: Final = "no reference answer"
_JUDGED: Final = ("ok", "degraded")


def judge_answers(
    name: str,
    judge: JudgeSettings,
    chat: Chat | None,
    *,
    answers: pl.DataFrame,
    questions: pl.DataFrame,
    ground_truth: pl.DataFrame,
    overlay: str = BASE_OVERLAY,
    progress: Progress = quiet,
) -> pl.DataFrame:
    """``Judgments``, one row a question in the order of the source.

    An answer that is not there is wrong, and ``empty``; one that failed is ``not_run``. A reply that stays unreadable
    is an ``error``, never a score, and no later run asks for it again.

    Args:
        name: of the judge, as the rows have it.
        judge: its settings.
        chat: the model; None for the lexical judge.
        answers: ``Answers``.
        questions: ``Questions``.
        ground_truth: ``GroundTruth``.
        overlay: which of its corrections.
        progress: told of questions judged.

    Raises:
        Stop: the model answers nothing more; what was answered is in the ledger.
    """
    truth = ground_truth.filter(pl.col("overlay") == overlay)
    asked = (
        questions.select("question_id", "ordinal", "question")
        .join(
            truth.select("question_id", "question_type", "is_abstention", gold="answer"), on="question_id", how="left"
        )
        .join(answers.select("question_id", "answer", answered="status", why="error"), on="question_id", how="left")
        .sort("ordinal")
    )
    judged_by = NAME if chat is None else name

    def one(row: Mapping[str, Any]) -> Row:
        known = {column: row[column] for column in _KNOWN} | {"judge": judged_by, "retryable": False}
        if row["gold"] is None and not row["is_abstention"]:
            return {**known, "status": "not_run", "excluded": NO_REFERENCE}
        if row["answered"] == "empty":
            return {**known, "status": "empty", "label": False, "score": 0.0}
        if row["answered"] not in _JUDGED or row["answer"] is None:
            return {**known, "status": "not_run", "error": f"there is no answer: {row['why'] or 'none'}"}
        return {**known, **_judge(judge, chat, row)}

    rows = rows_of(asked.rows(named=True), one, chat.model.concurrency if chat else 1, progress)
    return JUDGMENTS.validate(pl.DataFrame(rows, schema=JUDGMENTS.empty.schema))


def _judge(judge: JudgeSettings, chat: Chat | None, row: Mapping[str, Any]) -> Row:
    given = (row["question"], row["gold"], row["answer"], row["question_type"], row["is_abstention"])
    if chat is None:
        prompt = f"{NAME}: {choose(row['question_type'], row['is_abstention'])}"
        return {"status": "ok", "prompt": prompt, **_verdict(lexical_verdict(*given))}
    took = Took()
    try:
        said, version = ask_judge(judge, chat, *given, took)
    except NotRecorded as error:
        return {"status": "not_run", "error": str(error), "retryable": True}
    except CallFailed as error:
        again = error.retryable and not isinstance(error, Unreadable)
        return {"status": "error", "error": str(error), "retryable": again, **took.row}
    return {"status": "ok", "prompt": version, **_verdict(said.value), **took.row}


def ask_judge(
    judge: JudgeSettings,
    chat: Chat,
    question: str,
    gold: str | None,
    answer: str,
    question_type: str,
    is_abstention: bool,
    took: Took | None = None,
) -> tuple[Said, str]:
    """One judgment of a model, and the version of the prompt; raises ``CallFailed`` and ``Stop``."""
    prompt = judging_prompt(judge.prompts, question, gold, answer, question_type, is_abstention)

    def read(text: str) -> Verdict:
        try:
            return parse_verdict(text, judge.prompts)
        except NoVerdict as error:
            raise Unreadable(f"{chat.name}: unreadable: {error.reason}") from None

    said = chat.ask(
        "judge",
        prompt.messages,
        read,
        schema=prompt.response_schema,
        parameters=prompt.parameters,
        cut_ok=True,
        took=took,
    )
    return said, f"{prompt.name} {prompt.version}"


def _verdict(verdict: Verdict) -> Row:
    return {"label": verdict.label, "score": verdict.score, "explanation": verdict.explanation or None}
