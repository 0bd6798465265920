"""A system's answers: what a reader makes of the hits of each question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from converters.tables import ANSWERS
from eval_assets.models.chat import Chat, Took
from eval_assets.models.rows import Row, rows_of
from eval_assets.models.settings import Model, Reader
from judges.hits import memories
from judges.readers.extractive import extract, n_read
from judges.readers.prompt import reading_prompt
from judges.tokens import estimate_tokens
from providers.protocol import Progress, quiet
from providers.remote.errors import CallFailed, Degraded, NotRecorded, Unreadable

_SPARE: Final = 0.9
"""Share of a model's context that is used: tokens are estimated."""
_FAILED: Final = ("degraded", "error", "not_run")


def budget(reader: Reader, model: Model) -> int:
    """Tokens of a prompt."""
    room = int((model.context_tokens - model.max_output_tokens) * _SPARE)
    return min(reader.budget_tokens or room, room)


def read_answers(
    reader: Reader, chat: Chat | None, *, results: pl.DataFrame, questions: pl.DataFrame, progress: Progress = quiet
) -> pl.DataFrame:
    """``Answers``, one row a question in the order of the source.

    A question whose search failed is ``not_run``; a reply that was cut off is ``degraded``; a call that failed is an
    ``error``. Degraded hits are read like others. No later run asks again after what the model itself did (a refusal,
    no text, a reply cut off): it would come out the same.

    Args:
        reader: its settings.
        chat: the model; None for the extractive reader.
        results: ``SearchResults``.
        questions: ``Questions``.
        progress: told of questions answered.

    Raises:
        Stop: the model answers nothing more; what was answered is in the ledger.
    """
    asked = (
        questions.sort("ordinal")
        .select("question_id", "question", "as_of")
        .join(results.select("question_id", "hits", searched="status", why="error"), on="question_id", how="left")
    )

    def one(row: Mapping[str, Any]) -> Row:
        if row["searched"] is None or row["searched"] in _FAILED:
            said = f"its search failed: {row['why'] or 'no result'}"
            return {"question_id": row["question_id"], "status": "not_run", "error": said, "retryable": False}
        return {"question_id": row["question_id"], "retryable": False, **_answer(reader, chat, row)}

    rows = rows_of(asked.rows(named=True), one, chat.model.concurrency if chat else 1, progress)
    return ANSWERS.validate(pl.DataFrame(rows, schema=ANSWERS.empty.schema))


def _answer(reader: Reader, chat: Chat | None, row: Mapping[str, Any]) -> Row:
    hits = memories(row["hits"])[: reader.hits]
    if chat is None:
        found = extract(row["question"], row["as_of"], hits)
        seen = n_read(hits)
        return {"status": "ok", "answer": found.answer, "n_hits_read": seen, "n_hits_cut": len(hits) - seen}
    prompt = reading_prompt(
        row["question"], row["as_of"], hits, budget_tokens=budget(reader, chat.model), count=estimate_tokens
    )
    read = {"n_hits_read": prompt.n_hits_used, "n_hits_cut": prompt.n_hits_cut}
    took = Took()
    try:
        said = chat.ask("answer", prompt.messages, str.strip, took=took)
    except Degraded as error:
        return {"status": "degraded", "error": str(error), "answer": str(error.value).strip(), **took.row, **read}
    except NotRecorded as error:
        return {"status": "not_run", "error": str(error), "retryable": True, **read}
    except CallFailed as error:
        again = error.retryable and not isinstance(error, Unreadable)
        return {"status": "error", "error": str(error), "retryable": again, **took.row, **read}
    return {"status": "ok", "answer": said.value, **took.row, **read}
