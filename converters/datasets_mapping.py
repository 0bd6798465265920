"""Which columns of a data set hold what: a setting, and so free of everything heavy."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

Column = Annotated[str, StringConstraints(min_length=1)]


class DatasetMapping(BaseModel):
    """The columns of a data set, by default named as LongMemEval's; a dot leads into a nested field.

    A column that is not named here and that the data set lacks counts as empty, but for question and sessions. One that
    is named must be there; null says that there is none.

    Attributes:
        question_id: text or whole number, unique. Without: ``q`` and the row's number from 1.
        question: text.
        answer: text or whole number, or null.
        question_type: text. Without: ``question``.
        question_date: see session_dates.
        sessions: a list of sessions, each a list of turns (objects), a list of texts (turns of the user), or one text
            (one turn of the user). A text that is a JSON list is read as one, here and below, for CSV has no lists.
        session_ids: a list of texts, one a session. Without: ``session_1``, ``session_2``...
        session_dates: a list of dates, one a session: ISO 8601, LongMemEval's ``2023/05/20 (Sat) 02:21``, a date or
            timestamp column, or null. Without a zone they are read as UTC.
        answer_session_ids: a list of session_ids. Without: sessions with a turn that is marked as evidence.
        abstention: true where the sessions do not hold the answer. Without: where question_id contains ``_abs``.
        role: the field of a turn that says who speaks.
        content: the field of a turn that holds its text.
        evidence: the field of a turn that is true where the turn holds the answer.
        roles: what other roles mean, for instance ``{human: user, gpt: assistant}``.
        split: which split, where a saved data set has several.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    question_id: Column | None = "question_id"
    question: Column = "question"
    answer: Column | None = "answer"
    question_type: Column | None = "question_type"
    question_date: Column | None = "question_date"
    sessions: Column = "haystack_sessions"
    session_ids: Column | None = "haystack_session_ids"
    session_dates: Column | None = "haystack_dates"
    answer_session_ids: Column | None = "answer_session_ids"
    abstention: Column | None = None
    role: Column = "role"
    content: Column = "content"
    evidence: Column = "has_answer"
    roles: dict[str, Literal["user", "assistant"]] = {}
    split: Column | None = None

    @property
    def text(self) -> str:
        """What was said, as JSON that is the same for the same mapping."""
        return json.dumps(self.model_dump(exclude_unset=True), sort_keys=True)
