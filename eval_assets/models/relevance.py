"""What a judge says of the hits of a system: one call a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from converters.tables import BASE_OVERLAY, RELEVANCE
from eval_assets.models.chat import Chat, Took
from eval_assets.models.rows import Row, rows_of
from eval_assets.models.settings import Model
from judges.hits import memories
from judges.judging.verdict import Unreadable as NoVerdict
from judges.relevance.build import HIT_TOKENS, relevance_prompt
from judges.relevance.parse import parse_relevance
from providers.protocol import Progress, quiet
from providers.remote.errors import CallFailed, NotRecorded, Unreadable

_KNOWN: Final = ("question_id", "ordinal", "question_type", "is_abstention")
_SEARCHED: Final = ("ok", "empty")
_SPARE: Final = 0.9
"""Share of a model's context that is used: tokens are estimated."""
_RULES: Final = 1_000
"""Tokens set aside for rules, question and reference."""
_AROUND: Final = 40
"""Tokens around a hit: its fence, its label, its date."""
_LEAST: Final = 20
REPLY_TOKENS: Final = 16
"""Tokens of one judgment in a reply."""


def hit_tokens(model: Model, n_hits: int) -> int:
    """Tokens of each hit that are shown: fewer where so many hits would not fit into the model's context."""
    room = int((model.context_tokens - _reply_tokens(model, n_hits)) * _SPARE) - _RULES
    return max(_LEAST, min(HIT_TOKENS, room // max(1, n_hits) - _AROUND))


def judge_hits(
    name: str,
    chat: Chat,
    *,
    results: pl.DataFrame,
    questions: pl.DataFrame,
    ground_truth: pl.DataFrame,
    progress: Progress = quiet,
) -> pl.DataFrame:
    """``Relevance``, one row a question in the order of the source.

    A search without hits is ``empty``; one that failed or was degraded, as in retrieval scores, is ``not_run``. A reply
    that does not judge every hit is asked for again, and is an ``error`` if it stays so: never a list of zeros.

    Args:
        name: of the judge, as the rows have it.
        chat: its model.
        results: ``SearchResults``.
        questions: ``Questions``.
        ground_truth: ``GroundTruth``: the judge is shown the reference answer.
        progress: told of questions judged.

    Raises:
        Stop: the model answers nothing more; what was answered is in the ledger.
    """
    truth = ground_truth.filter(pl.col("overlay") == BASE_OVERLAY)
    asked = (
        questions.select("question_id", "ordinal", "question")
        .join(
            truth.select("question_id", "question_type", "is_abstention", gold="answer"), on="question_id", how="left"
        )
        .join(results.select("question_id", "hits", searched="status", why="error"), on="question_id", how="left")
        .sort("ordinal")
    )

    def one(row: Mapping[str, Any]) -> Row:
        known = {column: row[column] for column in _KNOWN} | {"judge": name, "retryable": False}
        if row["searched"] not in _SEARCHED:
            return {**known, "status": "not_run", "error": f"its search failed: {row['why'] or 'no result'}"}
        if not row["hits"]:
            return {**known, "status": "empty", "relevance": []}
        return {**known, **_judge(chat, row)}

    rows = rows_of(asked.rows(named=True), one, chat.model.concurrency, progress)
    return RELEVANCE.validate(pl.DataFrame(rows, schema=RELEVANCE.empty.schema))


def _judge(chat: Chat, row: Mapping[str, Any]) -> Row:
    hits = memories(row["hits"])
    prompt = relevance_prompt(row["question"], row["gold"], hits, hit_tokens=hit_tokens(chat.model, len(hits)))
    shown = {"prompt": prompt.version, "n_shortened": prompt.n_shortened}

    def read(text: str) -> list[int]:
        try:
            return parse_relevance(text, prompt.n_hits)
        except NoVerdict as error:
            raise Unreadable(f"{chat.name}: unreadable: {error.reason}") from None

    took = Took()
    try:
        said = chat.ask(
            "judge",
            prompt.messages,
            read,
            schema=prompt.response_schema,
            parameters={"max_tokens": _reply_tokens(chat.model, len(hits))},
            cut_ok=True,
            took=took,
        )
    except NotRecorded as error:
        return {"status": "not_run", "error": str(error), "retryable": True}
    except CallFailed as error:
        again = error.retryable and not isinstance(error, Unreadable)
        return {"status": "error", "error": str(error), "retryable": again, **shown, **took.row}
    return {"status": "ok", "relevance": said.value, **shown, **took.row}


def _reply_tokens(model: Model, n_hits: int) -> int:
    return model.max_output_tokens + REPLY_TOKENS * n_hits
