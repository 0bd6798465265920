"""Every bad LongMemEval file is refused in one line that names the file, the record, the field and the remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records import MORNING, record, turn, write

from converters.convert import convert_corpus
from converters.errors import BadInput
from converters.longmemeval import read_longmemeval


def _refused(path: Path) -> str:
    """The line without the file's name; nothing but the file is left in its folder."""
    with pytest.raises(BadInput) as caught:
        convert_corpus(path, "longmemeval", path.parent / "corpus")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    line = caught.value.line
    assert line.startswith(f"{path}: ")
    assert "\n" not in line
    assert line.encode()
    return line.removeprefix(f"{path}: ")


def _without(field: str) -> dict[str, Any]:
    return {key: value for key, value in record("bad").items() if key != field}


AS_PUBLISHED = "give it as the published files do"
DATE = "write it as 2023/05/20 (Sat) 02:21"
AS_TEXT = "write it as text"
REMOVE = "remove the character"
FILL = "fill it in, or leave the record out"
PARALLEL = "give each session one date and one id"
LISTS = "the parallel lists differ in length"
IDS = "haystack_session_ids"
SURROGATE = r"holds a lone surrogate (\ud800 to \udfff)"


@pytest.mark.parametrize("field", sorted(record()))
def test_a_missing_field(tmp_path: Path, field: str) -> None:
    path = write(tmp_path / "s.json", record("good"), _without(field))
    named = "record 2" if field == "question_id" else "record 2 (bad)"
    assert _refused(path) == f"{named}: {field}: is missing; add it, or fetch the file again"


@pytest.mark.parametrize(
    ("fields", "where", "problem", "remedy"),
    [
        ({"answer": 1.5}, "answer", "is neither text nor a whole number but float 1.5", AS_TEXT),
        ({"answer": None}, "answer", "is neither text nor a whole number but NoneType None", AS_TEXT),
        ({"answer": True}, "answer", "is neither text nor a whole number but bool True", AS_TEXT),
        ({"answer": "\udc00"}, "answer", SURROGATE, REMOVE),
        ({"question": ""}, "question", "is empty", FILL),
        ({"question": 7}, "question", "should be a valid string, is int 7", AS_PUBLISHED),
        ({"question": "\udc00"}, "question", SURROGATE, REMOVE),
        ({"question": "x\0"}, "question", "holds a NUL character", REMOVE),
        ({"question_date": 5}, "question_date", "is not a date but int 5", DATE),
        (
            {"question_date": "May 20"},
            "question_date",
            "is not a date: 'May 20' (not of the form YYYY/MM/DD (Ddd) HH:MM)",
            DATE,
        ),
        (
            {"haystack_dates": [MORNING, "2023/02/30 (Thu) 10:00"]},
            "haystack_dates[1]",
            "is not a date: '2023/02/30 (Thu) 10:00' (day is out of range for month)",
            DATE,
        ),
        (
            {"haystack_dates": [MORNING]},
            "haystack_sessions",
            f"{LISTS} (haystack_dates 1, haystack_session_ids 2, haystack_sessions 2)",
            PARALLEL,
        ),
        (
            {"haystack_session_ids": ["answer_1"]},
            "haystack_sessions",
            f"{LISTS} (haystack_dates 2, haystack_session_ids 1, haystack_sessions 2)",
            PARALLEL,
        ),
        ({"haystack_sessions": None}, "haystack_sessions", "should be a valid list, is NoneType None", AS_PUBLISHED),
        ({"haystack_session_ids": ["\0", "answer_1"]}, f"{IDS}[0]", "holds a NUL character", REMOVE),
        ({"answer_session_ids": [1]}, "answer_session_ids[0]", "should be a valid string, is int 1", AS_PUBLISHED),
        (
            {"answer_session_ids": ["answer_9"]},
            "answer_session_ids",
            "'answer_9' is not in haystack_session_ids",
            "name sessions of this record's haystack",
        ),
    ],
)
def test_a_field_that_is_not_as_it_should_be(
    tmp_path: Path, fields: dict[str, Any], where: str, problem: str, remedy: str
) -> None:
    path = write(tmp_path / "s.json", record("good"), record("bad", **fields))
    assert _refused(path) == f"record 2 (bad): {where}: {problem}; {remedy}"


@pytest.mark.parametrize(
    ("wrong", "where", "problem", "remedy"),
    [
        (turn("system", "x"), ".role", "'system' is no known role", "use user or assistant"),
        ({"role": "user"}, ".content", "is missing", "add it, or fetch the file again"),
        ({"role": "user", "content": None}, ".content", "should be a valid string, is NoneType None", AS_PUBLISHED),
        (turn("user", "x") | {"has_answer": 1}, ".has_answer", "should be a valid boolean, is int 1", AS_PUBLISHED),
        ("x", "", "should be a valid dictionary, is 'x'", AS_PUBLISHED),
        (turn("user", "x\0y"), ".content", "holds a NUL character", REMOVE),
        (turn("user", "x\ud800y"), ".content", SURROGATE, REMOVE),
    ],
)
def test_a_turn_that_is_not_as_it_should_be(
    tmp_path: Path, wrong: object, where: str, problem: str, remedy: str
) -> None:
    sessions = [[turn("user", "x")], [turn("user", "x"), wrong]]
    path = write(tmp_path / "s.json", record("good"), record("bad", haystack_sessions=sessions))
    assert _refused(path) == f"record 2 (bad): haystack_sessions[1][1]{where}: {problem}; {remedy}"


def test_an_id_used_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", record("a"), record("b"), record("a"))
    line = "record 3 (a): question_id: is the question_id of record 1 too; give each question its own"
    assert _refused(path) == line


def test_an_id_that_cannot_be_printed(tmp_path: Path) -> None:
    line = _refused(write(tmp_path / "s.json", record("a\ud800\nb")))
    assert line.startswith(r"record 1 ('a\ud800\nb'): question_id: holds a lone surrogate")


def test_an_element_that_is_no_object(tmp_path: Path) -> None:
    assert _refused(write(tmp_path / "s.json", 5)) == f"record 1: is not an object but int 5; {AS_PUBLISHED}"


@pytest.mark.parametrize("position", [0, 1])
def test_a_value_nested_too_deeply(tmp_path: Path, position: int) -> None:
    deep = "[" * 10_000 + "]" * 10_000
    records = [record("a"), record("b"), record("c")]
    records[position]["notes"] = 0
    path = write(tmp_path / "s.json", *records)
    path.write_text(path.read_text().replace('"notes": 0', f'"notes": {deep}'))
    assert _refused(path).startswith(f"record {position + 1}: is not JSON (")


def test_an_array_without_records(tmp_path: Path) -> None:
    assert _refused(write(tmp_path / "s.json")) == "is an array without records; fetch the file again"


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "s.json").touch()
    assert _refused(tmp_path / "s.json") == "is empty; fetch it again"


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps([record("a"), record("b")], indent=4)[:-200])
    assert _refused(path) == "record 2: ends in the middle; fetch it again: the file is cut off"


def test_an_object_instead_of_an_array(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"item": record()}))
    line = "is not a JSON array of records: it begins with '{'; give a LongMemEval file, plain or gzipped"
    assert _refused(path) == line


def test_records_before_a_bad_one_are_read(tmp_path: Path) -> None:
    reading = read_longmemeval(write(tmp_path / "s.json", record("a"), record("b", answer=None)))
    assert next(reading).question_id == "a"
    with pytest.raises(BadInput, match=r"record 2 \(b\)"):
        next(reading)


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="unknown format 'csv'; choose one of longmemeval, locomo, datasets, fixture"):
        convert_corpus(tmp_path / "s.json", "csv", tmp_path / "corpus")
