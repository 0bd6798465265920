"""One row of a data set as a question with its haystack, by a mapping of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final

from converters.checked import shown
from converters.datasets_mapping import DatasetMapping
from converters.dates import parse_date
from converters.record_problem import RecordProblem

_MEND: Final = "mend the data set, or map another column"
_TRUTH: Final = {"true": True, "1": True, "false": False, "0": False, "": False}


@dataclass(frozen=True)
class Turn:
    """A turn; has_answer is None where the source says nothing."""

    role: str
    content: str
    has_answer: bool | None = None


@dataclass(frozen=True)
class Row:
    """A question, its haystack as three parallel lists, and what scoring may know. Dates are UTC."""

    question_id: str
    question_type: str
    question: str
    question_date: datetime | None
    answer: str | int | None
    is_abstention: bool
    sessions: Sequence[Sequence[Turn]]
    session_ids: Sequence[str]
    session_dates: Sequence[datetime | None]
    answer_session_ids: Sequence[str]


def parse_row(row: Mapping[str, Any], number: int, mapping: DatasetMapping) -> Row:
    """A row by its mapping.

    Raises:
        RecordProblem: the column, what is wrong with its value, and what to do.
    """
    sessions = _sessions(row, mapping)
    ids, dates = _list(row, mapping.session_ids), _list(row, mapping.session_dates)
    for column, held in ((mapping.session_ids, ids), (mapping.session_dates, dates)):
        if held is not None and len(held) != len(sessions):
            problem = f"has {len(held)} elements, and {mapping.sessions} has {len(sessions)}"
            raise RecordProblem(column, problem, "give one for each session")
    session_ids = (
        [f"session_{position}" for position in range(1, len(sessions) + 1)]
        if ids is None
        else [_name(value, f"{mapping.session_ids}[{index}]") for index, value in enumerate(ids)]
    )
    question_id = value_at(row, mapping.question_id)
    question_id = f"q{number}" if question_id is None else _name(question_id, mapping.question_id)
    question_type = value_at(row, mapping.question_type)
    return Row(
        question_id=question_id,
        question_type="question" if question_type is None else _name(question_type, mapping.question_type),
        question=_name(value_at(row, mapping.question), mapping.question),
        question_date=_date(value_at(row, mapping.question_date), mapping.question_date),
        answer=_answer(value_at(row, mapping.answer), mapping.answer),
        is_abstention=_abstention(row, question_id, mapping),
        sessions=sessions,
        session_ids=session_ids,
        session_dates=[None] * len(sessions)
        if dates is None
        else [_date(value, f"{mapping.session_dates}[{index}]") for index, value in enumerate(dates)],
        answer_session_ids=_answer_sessions(row, sessions, session_ids, mapping),
    )


def has_column(row: Mapping[str, Any], column: str) -> bool:
    """Whether a row has a column, or a nested field by a dotted name."""
    return column in row or _inner(row, column) is not None


def value_at(row: Mapping[str, Any], column: str | None) -> Any:
    """The value of a column or nested field; None where there is none."""
    if column is None:
        return None
    if column in row:
        return row[column]
    found = _inner(row, column)
    return None if found is None else found[0][found[1]]


def _inner(row: Mapping[str, Any], column: str) -> tuple[Mapping[str, Any], str] | None:
    *folders, leaf = column.split(".")
    place: Any = row
    for folder in folders:
        place = place.get(folder) if isinstance(place, Mapping) else None
    return (place, leaf) if isinstance(place, Mapping) and leaf in place else None


def _list(row: Mapping[str, Any], column: str | None) -> list[Any] | None:
    value = value_at(row, column)
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else None
        except (ValueError, RecursionError):
            raise RecordProblem(column, f"should be a list, is {shown(value)}", _MEND) from None
    if value is None or isinstance(value, list):
        return value
    raise RecordProblem(column, f"should be a list, is {shown(value)}", _MEND)


def _sessions(row: Mapping[str, Any], mapping: DatasetMapping) -> list[list[Turn]]:
    sessions = _list(row, mapping.sessions)
    if sessions is None:
        raise RecordProblem(mapping.sessions, "is empty", "give a list of sessions, or leave the row out")
    return [_session(value, f"{mapping.sessions}[{index}]", mapping) for index, value in enumerate(sessions)]


def _session(value: object, field: str, mapping: DatasetMapping) -> list[Turn]:
    if isinstance(value, str):
        return [Turn("user", _text(value, field))]
    if isinstance(value, Mapping) and all(isinstance(column, list) for column in value.values()):
        # How the library's old Sequence of objects holds a list of them.
        value = [dict(zip(value, one, strict=True)) for one in zip(*value.values(), strict=True)]
    if not isinstance(value, list):
        raise RecordProblem(field, f"should be a list of turns or a text, is {shown(value)}", _MEND)
    return [_turn(turn, f"{field}[{index}]", mapping) for index, turn in enumerate(value)]


def _turn(value: object, field: str, mapping: DatasetMapping) -> Turn:
    if isinstance(value, str):
        return Turn("user", _text(value, field))
    if not isinstance(value, Mapping):
        raise RecordProblem(field, f"should be an object or a text, is {shown(value)}", _MEND)
    for name in (mapping.role, mapping.content):
        if name not in value:
            fields = ", ".join(map(str, value)) or "nothing"
            raise RecordProblem(f"{field}.{name}", f"is missing; the turn holds {fields}", "map the field's name")
    said = value[mapping.role]
    role = mapping.roles.get(said, said) if isinstance(said, str) else said
    if not isinstance(role, str) or role not in {"user", "assistant"}:
        problem = f"{shown(said)} is no known role"
        raise RecordProblem(f"{field}.{mapping.role}", problem, "use user or assistant, or say what it means in roles")
    marked = value.get(mapping.evidence)
    if marked is not None and not isinstance(marked, bool):
        raise RecordProblem(f"{field}.{mapping.evidence}", f"should be true or false, is {shown(marked)}", _MEND)
    return Turn(role, _text(value[mapping.content], f"{field}.{mapping.content}"), marked)


def _answer_sessions(
    row: Mapping[str, Any], sessions: Sequence[Sequence[Turn]], ids: Sequence[str], mapping: DatasetMapping
) -> list[str]:
    column = mapping.answer_session_ids
    named = _list(row, column)
    if named is None:
        return list(
            dict.fromkeys(
                name for name, turns in zip(ids, sessions, strict=True) if any(turn.has_answer for turn in turns)
            )
        )
    answers = [_name(value, f"{column}[{index}]") for index, value in enumerate(named)]
    for answer in answers:
        if answer not in ids:
            raise RecordProblem(column, f"{shown(answer)} is no session of this row", "name sessions of this row")
    return answers


def _abstention(row: Mapping[str, Any], question_id: str, mapping: DatasetMapping) -> bool:
    if mapping.abstention is None:
        return "_abs" in question_id
    value = value_at(row, mapping.abstention)
    said = _TRUTH.get(str(value).strip().lower()) if isinstance(value, str | bool | int) else None
    if value is not None and said is None:
        raise RecordProblem(mapping.abstention, f"should be true or false, is {shown(value)}", _MEND)
    return bool(said)


def _answer(value: object, field: str | None) -> str | int | None:
    if isinstance(value, str):
        return _text(value, field)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise RecordProblem(field, f"should be text or a whole number, is {shown(value)}", _MEND)


def _name(value: object, field: str | None) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None or value == "":
        raise RecordProblem(field, "is empty", "fill it in, or leave the row out")
    return _text(value, field)


def _text(value: object, field: str | None) -> str:
    if not isinstance(value, str):
        raise RecordProblem(field, f"should be text, is {shown(value)}", _MEND)
    try:
        if b"\0" in value.encode():
            raise RecordProblem(field, "holds a NUL character", "remove the character")
    except UnicodeEncodeError:
        raise RecordProblem(field, "holds a lone surrogate (\\ud800 to \\udfff)", "remove the character") from None
    return value


def _date(value: object, field: str | None) -> datetime | None:
    if value is None or value == "":
        return None
    moment: datetime | None = None
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, date):
        moment = datetime.combine(value, time())
    elif isinstance(value, str):
        for read in (parse_date, datetime.fromisoformat):
            try:
                moment = read(value.strip())
                break
            except ValueError:
                continue
    if moment is not None:
        # Of the first and the last day that there are, a part is in a year before or after those that there are.
        with suppress(OverflowError):
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    raise RecordProblem(field, f"is not a date: {shown(value)}", "write it as 2023-05-20T02:21:00Z")
