"""What is wrong with a data set, or with its mapping, is one line that names the row, the column and the remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest
from pydantic import ValidationError
from records import record, turn, write

from converters.convert import convert_corpus
from converters.datasets_mapping import DatasetMapping
from converters.errors import BadInput

MEND = "mend the data set, or map another column"
KNOWN = "give Parquet, JSON, JSON lines or CSV, or a folder written by save_to_disk"


def _refused(path: Path, mapping: DatasetMapping | None = None) -> str:
    """The line without the source's name; nothing but the source is left in its folder."""
    with pytest.raises(BadInput) as caught:
        convert_corpus(path, "datasets", path.parent / "corpus", mapping=mapping)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    line = caught.value.line
    assert "\n" not in line
    assert line.startswith(f"{path}")
    return line.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"question": None}, "question: is empty; fill it in, or leave the row out"),
        ({"question": 1.5}, f"question: should be text, is float 1.5; {MEND}"),
        ({"question": ["x"]}, f"question: should be text, is list ['x']; {MEND}"),
        (
            {"haystack_sessions": [[], [{"role": {}, "content": "x"}]]},
            "haystack_sessions[1][0].role: dict {} is no known role; "
            "use user or assistant, or say what it means in roles",
        ),
        ({"question": "a\0"}, "question: holds a NUL character; remove the character"),
        ({"question": "\ud800"}, "question: holds a lone surrogate (\\ud800 to \\udfff); remove the character"),
        ({"answer": ["a"]}, f"answer: should be text or a whole number, is list ['a']; {MEND}"),
        ({"answer": True}, f"answer: should be text or a whole number, is bool True; {MEND}"),
        (
            {"question_date": "yesterday"},
            "question_date: is not a date: 'yesterday'; write it as 2023-05-20T02:21:00Z",
        ),
        (
            {"question_date": "9999-12-31T23:59:59-14:00"},
            "question_date: is not a date: '9999-12-31T23:59:59-14:00'; write it as 2023-05-20T02:21:00Z",
        ),
        (
            {"haystack_dates": ["0001-01-01T00:00:00+14:00", ""]},
            "haystack_dates[0]: is not a date: '0001-01-01T00:00:00+14:00'; write it as 2023-05-20T02:21:00Z",
        ),
        (
            {"haystack_dates": ["2023-05-20"]},
            "haystack_dates: has 1 elements, and haystack_sessions has 2; give one for each session",
        ),
        (
            {"haystack_dates": ["2023-05-20", 5]},
            "haystack_dates[1]: is not a date: int 5; write it as 2023-05-20T02:21:00Z",
        ),
        ({"haystack_sessions": "x"}, f"haystack_sessions: should be a list, is 'x'; {MEND}"),
        ({"haystack_sessions": None}, "haystack_sessions: is empty; give a list of sessions, or leave the row out"),
        (
            {"haystack_sessions": [[], 3]},
            f"haystack_sessions[1]: should be a list of turns or a text, is int 3; {MEND}",
        ),
        (
            {"haystack_sessions": [[], [3]]},
            f"haystack_sessions[1][0]: should be an object or a text, is int 3; {MEND}",
        ),
        (
            {"haystack_sessions": [[], [turn("bot", "x")]]},
            "haystack_sessions[1][0].role: 'bot' is no known role; "
            "use user or assistant, or say what it means in roles",
        ),
        (
            {"haystack_sessions": [[], [{"role": "user", "text": "x"}]]},
            "haystack_sessions[1][0].content: is missing; the turn holds role, text; map the field's name",
        ),
        (
            {"haystack_sessions": [[], [turn("user", "x", 1)]]},  # type: ignore[arg-type]
            f"haystack_sessions[1][0].has_answer: should be true or false, is int 1; {MEND}",
        ),
        (
            {"haystack_sessions": [[], [turn("user", None)]]},  # type: ignore[arg-type]
            f"haystack_sessions[1][0].content: should be text, is NoneType None; {MEND}",
        ),
        (
            {"answer_session_ids": ["zz"]},
            "answer_session_ids: 'zz' is no session of this row; name sessions of this row",
        ),
        ({"question_id": "good"}, "question_id: 'good' is that of row 1 too; give each question its own"),
    ],
    ids=range(23),
)
def test_a_value_that_is_not_what_its_column_holds(tmp_path: Path, fields: dict[str, Any], line: str) -> None:
    path = write(tmp_path / "s.json", record("good"), {**record("bad"), **fields})
    assert _refused(path) == f"row 2: {line}"


def test_an_unknown_column_lists_those_there_are(tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", {"q": "x", "haystack_sessions": [], "meta": {"id": 1}})
    columns = "q, haystack_sessions, meta"
    line = f"mapping.question: has no column 'question'; map question to one of its columns: {columns}"
    assert _refused(path) == line
    mapping = DatasetMapping(question="q", question_id="meta.name")
    line = f"mapping.question_id: has no column 'meta.name'; map question_id to one of its columns: {columns}"
    assert _refused(path, mapping) == line


def test_an_unknown_split_lists_those_there_are(tmp_path: Path) -> None:
    rows = datasets.Dataset.from_list([record()])
    path = tmp_path / "saved"
    datasets.DatasetDict({"train": rows, "test": rows}).save_to_disk(str(path))
    assert _refused(path) == "split: has several splits; name one of test, train as split in the mapping"
    line = "split: has no split 'dev'; name one of test, train as split in the mapping"
    assert _refused(path, DatasetMapping(split="dev")) == line


def test_a_split_of_what_has_none(tmp_path: Path) -> None:
    line = _refused(write(tmp_path / "s.json", record()), DatasetMapping(split="dev"))
    assert line == "split: has no splits; leave split out of the mapping"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"PAR1 and no more", "cannot be read ("),
        (b"\x00\x01\x02", f"is of no known kind; {KNOWN}"),
        (b"[]", "holds no rows; give a data set with questions"),
        (b"question,haystack_sessions\n", "holds no rows; give a data set with questions"),
        (b"", "is empty; fetch it again"),
        (b'[{"question": "x"', "record 1: "),
        (b'{"question": "x"\n', "line 1: is not JSON ("),
        (b'{"question": "\xff"}\n', "line 1: is not UTF-8; save it as UTF-8"),
        (b'{"question": "x", "haystack_sessions": []}\n\n3\n', "record 2: is not an object but int 3"),
        (b"[3]", "record 1: is not an object but int 3; give each question an object"),
        (b'question,haystack_sessions\n"x,[]\n', "cannot be read ("),
    ],
    ids=range(11),
)
def test_a_damaged_file(tmp_path: Path, content: bytes, line: str) -> None:
    path = tmp_path / "s"
    path.write_bytes(content)
    assert _refused(path).startswith(line)


def test_a_folder_of_two_kinds(tmp_path: Path) -> None:
    path = tmp_path / "mixed"
    path.mkdir()
    write(path / "a.json", record())
    (path / "b.jsonl").write_text(json.dumps(record()))
    assert _refused(path) == f"should hold files of one kind, holds JSON and JSON lines; {KNOWN}"


def test_a_folder_without_files(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert _refused(tmp_path / "empty") == "is a folder without files; put the data set there"


@pytest.mark.parametrize(
    "wrong", [{"questions": "q"}, {"question": ""}, {"question": None}, {"roles": {"x": "system"}}]
)
def test_a_mapping_of_another_form(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DatasetMapping(**wrong)
