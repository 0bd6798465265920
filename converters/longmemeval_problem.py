"""What is wrong with a LongMemEval record that is not as it should be: the field, the problem, and what to do."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal, NotRequired, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

# pydantic reads the fields of a TypedDict from typing_extensions only, on Python 3.11.
from typing_extensions import TypedDict

from converters.dates import parse_date
from converters.record_problem import RecordProblem

_ROLES: Final = ("user", "assistant")
_SHOWN_CHARACTERS: Final = 60
_SURROGATE: Final = "holds a lone surrogate (\\ud800 to \\udfff)"
_REMOVE: Final = "remove the character"
_AS_PUBLISHED: Final = "give it as the published files do"


def _date(value: object) -> datetime:
    if not isinstance(value, str):
        raise PydanticCustomError("date", "is not a date but {value}", {"value": _shown(value)})
    try:
        return parse_date(value)
    except ValueError as error:
        raise PydanticCustomError(
            "date", "is not a date: {value} ({error})", {"value": _shown(value), "error": str(error)}
        ) from None


def _is_writable(text: str) -> bool:
    if text.isascii():
        return "\0" not in text
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _writable(text: str) -> str:
    if _is_writable(text):
        return text
    raise PydanticCustomError("unwritable", "holds a NUL character" if "\0" in text else _SURROGATE)


SourceDate = Annotated[datetime, BeforeValidator(_date)]
AnyText = Annotated[str, AfterValidator(_writable)]
Text = Annotated[str, Field(min_length=1), AfterValidator(_writable)]


class _Turn(TypedDict):
    """A turn, field by field."""

    role: Literal["user", "assistant"]
    content: AnyText
    has_answer: NotRequired[bool]


class _Record(BaseModel):
    """A record, field by field."""

    model_config = ConfigDict(strict=True, frozen=True)

    question_id: Text
    question_type: Text
    question: Text
    answer: AnyText | int
    question_date: SourceDate
    haystack_dates: list[SourceDate]
    haystack_session_ids: list[AnyText]
    haystack_sessions: list[list[_Turn]]
    answer_session_ids: list[str]

    @model_validator(mode="after")
    def _parallel(self) -> Self:
        lengths = {
            "haystack_dates": len(self.haystack_dates),
            "haystack_session_ids": len(self.haystack_session_ids),
            "haystack_sessions": len(self.haystack_sessions),
        }
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise PydanticCustomError("lengths", "the parallel lists differ in length ({shown})", {"shown": shown})
        absent = set(self.answer_session_ids).difference(self.haystack_session_ids)
        if absent:
            raise PydanticCustomError(
                "answer_session_ids", "{value} is not in haystack_session_ids", {"value": _shown(min(absent))}
            )
        return self


def explain(value: object) -> RecordProblem | None:
    """What is wrong with an element of the source's array; None if it is a record as it should be.

    Looked for: a field that is missing or of the wrong type, a date that cannot be read, an unknown role, parallel
    lists of unequal length, an answer_session_id that is not in the haystack, a text with NUL or a lone surrogate.
    """
    if not isinstance(value, dict):
        return RecordProblem(None, f"is not an object but {_shown(value)}", _AS_PUBLISHED)
    try:
        _Record.model_validate(value)
    except ValidationError as error:
        return _problem(error.errors(include_url=False)[0])
    return None


def _problem(error: ErrorDetails) -> RecordProblem:
    location = error["loc"][:1] if error["loc"][:1] == ("answer",) else error["loc"]
    field, problem, found = _path(location), error["msg"], error["input"]
    match error["type"]:
        case "unwritable" | "string_unicode":
            problem = _SURROGATE if error["type"] == "string_unicode" else problem
            remedy = _REMOVE
        case "missing":
            problem, remedy = "is missing", "add it, or fetch the file again"
        case "lengths":
            field, remedy = "haystack_sessions", "give each session one date and one id"
        case "answer_session_ids":
            field, remedy = "answer_session_ids", "name sessions of this record's haystack"
        case "date":
            remedy = "write it as 2023/05/20 (Sat) 02:21"
        case "literal_error":
            problem, remedy = f"{_shown(found)} is no known role", "use user or assistant"
        case "string_too_short":
            problem, remedy = "is empty", "fill it in, or leave the record out"
        case _ if field == "answer":
            problem = f"is neither text nor a whole number but {_shown(found)}"
            remedy = "write it as text"
        case _:
            problem = f"should be {problem.removeprefix('Input should be ')}, is {_shown(found)}"
            remedy = _AS_PUBLISHED
    return RecordProblem(field, problem, remedy)


def _path(location: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".")


def _shown(value: object) -> str:
    text = f"{type(value).__name__} {value!r}" if not isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
