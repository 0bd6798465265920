"""Overlays of disputed labels, as written in corrections.yaml."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StrictBool, StrictInt, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from converters.corrections import Correction
from eval_assets.strict import Name, Strict

_Text = Annotated[str, StringConstraints(min_length=1, strict=True)]


class CorrectedQuestion(Strict):
    """What is corrected of a question, and why; what is left out stays as the source has it.

    Attributes:
        answer: the reference answer.
        answer_session_ids: all of the evidence, by the source's ids.
        is_abstention: whether the haystack does not hold the answer.
        question_type: its slice in reports.
        why: the reason, for readers; it decides nothing.
    """

    answer: _Text | StrictInt | None = None
    answer_session_ids: tuple[_Text, ...] | None = None
    is_abstention: StrictBool | None = None
    question_type: _Text | None = None
    why: _Text

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.decides:
            raise PydanticCustomError("nothing", "nothing is corrected: give an answer, evidence, abstention or type")
        return self

    @property
    def decides(self) -> dict[str, object]:
        """What is corrected."""
        given = self.model_dump(exclude={"why"}, exclude_none=True, mode="json")
        return dict(given)

    @property
    def correction(self) -> Correction:
        """The same as converters take it."""
        return Correction(self.answer, self.answer_session_ids, self.is_abstention, self.question_type)


class Overlay(Strict):
    """A named set of corrections of one benchmark."""

    benchmark: Name
    description: str = ""
    questions: Annotated[dict[_Text, CorrectedQuestion], Field(min_length=1)]


class CorrectionsFile(Strict):
    """As written; a file whose entries are all commented out corrects nothing."""

    corrections: dict[Name, Overlay] | None = None
