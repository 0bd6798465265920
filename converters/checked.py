"""A value of a source checked against a model; what is wrong with it said as a field, a problem and a remedy."""

from __future__ import annotations

from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from converters.record_problem import RecordProblem

_T = TypeVar("_T")
_SHOWN_CHARACTERS: Final = 60
_SURROGATE: Final = "holds a lone surrogate (\\ud800 to \\udfff)"
AS_PUBLISHED: Final = "give it as the published file does"


def checked(kind: TypeAdapter[_T], value: object, *where: str | int) -> _T:
    """The value as ``kind`` reads it.

    Args:
        kind: the adapter of a strict model.
        value: as a JSON parser leaves it.
        where: the place of the value in its record.

    Raises:
        RecordProblem: the first thing that is wrong with it. A model names a remedy of its own by raising
            ``PydanticCustomError`` with ``remedy`` in its context.
    """
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        raise _problem(error.errors(include_url=False)[0], where) from None


def _problem(error: ErrorDetails, where: tuple[str | int, ...]) -> RecordProblem:
    problem, found, context = error["msg"], error["input"], error.get("ctx", {})
    # The name of a union's member is no place in the record.
    field = place(*where, *(part for part in error["loc"] if not str(part).startswith("function-")))
    if "remedy" in context:
        return RecordProblem(field, problem, str(context["remedy"]))
    match error["type"]:
        case "missing":
            return RecordProblem(field, "is missing", "add it, or fetch the file again")
        case "string_unicode" | "unwritable":
            problem = _SURROGATE if error["type"] == "string_unicode" else problem
            return RecordProblem(field, problem, "remove the character")
        case "string_too_short":
            return RecordProblem(field, "is empty", "fill it in, or leave the record out")
    return RecordProblem(
        field, f"should be {problem.removeprefix('Input should be ')}, is {shown(found)}", AS_PUBLISHED
    )


def place(*location: int | str) -> str:
    """A place in a record as it is written: ``conversation.session_1[3].text``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).removeprefix(".")


def shown(value: object) -> str:
    """A value for a reader: its type unless it is text, and its beginning."""
    text = repr(value) if isinstance(value, str) else f"{type(value).__name__} {value!r}"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
