"""What is odd about made sources, quirk by quirk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from records import EVENING, MORNING, NOON, convert, record, turn, write, write_gzip

from converters.errors import BadInput
from converters.inspect.record_quirks import RECORD_QUIRKS
from converters.inspect.registry import inspect_source
from converters.inspect.report import Inspection
from converters.inspect.session_quirks import SESSION_QUIRKS
from converters.inspect.source_quirks import SOURCE_QUIRKS
from converters.inspect.text import inspection_lines
from converters.inspect.text_quirks import TEXT_QUIRKS, text_quirks

# What a sound record has all the same.
ALWAYS = {"gold_visible_in_ids": 1}
NIGHT = "2023/05/20 (Sat) 23:59"


def found(inspection: Inspection) -> dict[str, int]:
    return {quirk.name: quirk.count for quirk in inspection.quirks if quirk.count}


def of_filler(*turns: dict[str, Any]) -> dict[str, Any]:
    """A sound record whose filler session has other turns."""
    sound = record()
    return record(haystack_sessions=[list(turns), sound["haystack_sessions"][1]])


def of_gold(*turns: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A sound record whose evidence session has other turns."""
    sound = record()
    return record(**{"haystack_sessions": [sound["haystack_sessions"][0], list(turns)], **fields})


USER, REPLY = turn("user", "What of owls?"), turn("assistant", "They fly.")
MARKED, PLAIN = turn("user", "I moved.", True), turn("assistant", "Nice.", False)

RECORDS: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "int_answer": (record(answer=3), {}),
    "numeric_answer": (record(answer="3.5"), {}),
    "dollar_answer": (record(answer="$3,750"), {}),
    "alternatives_in_answer": (record(answer="7 days. 8 days is also acceptable."), {}),
    "long_answer": (record(answer="a" * 301), {}),
    "repeated_id": (
        record(haystack_session_ids=["answer_1", "answer_1"]),
        {"gold_without_marks": 1, "labels_unlike_published": 1},
    ),
    "question_before_a_session": (
        record(question_date=MORNING, haystack_dates=[NOON, MORNING]),
        {"session_after_question": 1, "unordered_haystack": 1},
    ),
    "gold_after_question": (
        record(haystack_dates=[MORNING, NIGHT]),
        {"question_before_a_session": 1, "session_after_question": 1, "all_gold_after_question": 1},
    ),
    "same_minute": (record(haystack_dates=[NOON, NOON]), {}),
    "wrong_weekday": (record(question_date=EVENING.replace("Sat", "Sun")), {}),
    "abstention_with_gold": (record("q1_abs"), {"abstention_with_marks": 1}),
    "abstention_gold_without_marks": (
        of_gold(turn("user", "No.", False), PLAIN, question_id="q1_abs"),
        {"abstention_with_gold": 1, "marks_differ_from_gold": 1},
    ),
    "gold_without_marks": (of_gold(turn("user", "No.", False), PLAIN), {"marks_differ_from_gold": 1}),
    "assistant_marks_only": (of_gold(turn("user", "?", False), turn("assistant", "!", True)), {}),
    "labels_unlike_published": (of_gold(MARKED, turn("assistant", "Nice.")), {}),
    "empty_session": (of_filler(), {}),
    "blank_session": (of_filler(turn("user", " "), turn("assistant", "")), {"blank_turn": 2, "outer_whitespace": 1}),
    "assistant_first": (of_filler(REPLY, USER), {}),
    "assistant_only": (of_filler(REPLY), {"assistant_first": 1, "odd_turns": 1}),
    "user_only": (of_filler(USER), {"odd_turns": 1}),
    "same_role_twice": (of_filler(USER, USER, REPLY, REPLY), {}),
    "odd_turns": (of_filler(USER, REPLY, turn("user", "Ah.")), {}),
}

TEXTS = {
    "blank_turn": ["", " \n"],
    "long_turn": ["a" * 32_769],
    "outer_whitespace": [" a", "a\n"],
    "speaker_line": ["User: hello", "So:\nassistant: hello", "a\n  User:"],
    "html": ['<div class="x">', "a<br/>", "<p>"],
    "vertical_tab": ["a\x0bb"],
    "line_separator": ["a\u2028b", "a\u2029b"],
    "replacement_character": ["a\ufffdb"],
    "invisible": ["a\u200bb", "a\ufeffb", "a\u202eb"],
    "astral": ["a\U0001f600b"],
    "no_break_space": ["a\xa0b"],
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_with_one_quirk(tmp_path: Path, name: str) -> None:
    made, beside = RECORDS[name]
    inspection = inspect_source(write(tmp_path / "f", made))
    counts = found(inspection)
    for known in ALWAYS:
        counts.pop(known, None)
    assert counts.pop(name) >= 1
    assert counts == beside
    (quirk,) = [quirk for quirk in inspection.quirks if quirk.name == name]
    assert quirk.example is not None
    assert quirk.example.startswith(made["question_id"])


def test_a_sound_record_has_no_quirk_but_telling_ids(tmp_path: Path) -> None:
    assert found(inspect_source(write(tmp_path / "f", record()))) == ALWAYS


def test_ids_tell_nothing_where_filler_has_them_too(tmp_path: Path) -> None:
    made = record(haystack_session_ids=["answer_2", "answer_1"])
    assert found(inspect_source(write(tmp_path / "f", made))) == {}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_with_one_quirk(name: str) -> None:
    for text in TEXTS[name]:
        expected = {name, "outer_whitespace"} if text != text.strip() else {name}
        assert set(text_quirks(text)) == expected


@pytest.mark.parametrize("text", ["a user: said", "1 < 2 <pre>", "a\tb\nc", "caf\u00e9"])
def test_a_plain_text_has_none(text: str) -> None:
    assert list(text_quirks(text)) == []


def test_every_quirk_is_tried() -> None:
    tried = {*RECORDS, *TEXTS, *(name for _, beside in RECORDS.values() for name in beside), *ALWAYS}
    tried |= {"shared_id_other_date", "same_text_other_id", "grouped_by_type"}
    definitions = [*RECORD_QUIRKS, *SOURCE_QUIRKS, *SESSION_QUIRKS, *TEXT_QUIRKS]
    names = [quirk.name for quirk in definitions]
    assert tried == set(names)
    assert len(names) == len(tried)


def test_what_records_share(tmp_path: Path) -> None:
    same_text = record("q2", haystack_session_ids=["other", "answer_2"], answer_session_ids=["answer_2"])
    other_dates = record("q3", haystack_dates=[NOON, EVENING])
    inspection = inspect_source(write(tmp_path / "f", record("q1"), same_text, other_dates))
    counts = found(inspection)
    assert counts["shared_id_other_date"] == 2
    assert counts["same_text_other_id"] == 2
    assert "grouped_by_type" not in counts
    examples = {quirk.name: quirk.example for quirk in inspection.quirks}
    assert examples["shared_id_other_date"] == "sharegpt_1"
    assert examples["same_text_other_id"] == "sharegpt_1 and other"


def test_an_id_at_one_date_everywhere_is_no_quirk(tmp_path: Path) -> None:
    assert "shared_id_other_date" not in found(inspect_source(write(tmp_path / "f", record("q1"), record("q2"))))


def test_blocks_of_types(tmp_path: Path) -> None:
    blocks = [record(f"q{n}", question_type="a" if n < 4 else "b") for n in range(8)]
    grouped = inspect_source(write(tmp_path / "f", *blocks))
    assert found(grouped)["grouped_by_type"] == 2
    assert grouped.facts["order"]["types"] == "a 4, b 4"
    mixed = inspect_source(write(tmp_path / "g", *[record(f"q{n}", question_type="ab"[n % 2]) for n in range(8)]))
    assert "grouped_by_type" not in found(mixed)


def test_gzip_and_plain_are_alike(tmp_path: Path) -> None:
    plain, packed = (
        inspect_source(kind(tmp_path / f"{n}", record(), record("q2"))) for n, kind in enumerate((write, write_gzip))
    )
    assert (plain.facts, plain.quirks) == (packed.facts, packed.quirks)


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ([record(), record()], "record 2 (q1): question_id: is the question_id of record 1 too"),
        ([record(), record("q2", question="a\0")], "record 2 (q2): question: holds a NUL character"),
        ([record(), record("q2", answer="\ud800")], "record 2 (q2): answer: holds a lone surrogate"),
        ([record(), 3], "record 2: is not an object but int 3"),
        ([], "is an array without records"),
    ],
    ids=["twice", "nul", "surrogate", "number", "none"],
)
def test_a_bad_record_is_one_line(tmp_path: Path, made: list[Any], line: str) -> None:
    with pytest.raises(BadInput) as caught:
        inspect_source(write(tmp_path / "f", *made))
    assert line in caught.value.line


def test_a_record_without_sessions(tmp_path: Path) -> None:
    bare = record(haystack_dates=[], haystack_session_ids=[], haystack_sessions=[], answer_session_ids=[])
    inspection = inspect_source(write(tmp_path / "f", bare))
    assert found(inspection) == {}
    assert inspection.facts["turns"]["longest_at"] is None
    assert "quirks: none" in inspection_lines(inspection)


def test_tables_say_what_the_source_said(tmp_path: Path) -> None:
    convert(tmp_path, record(), record("q2_abs"), of_gold(MARKED, question_id="q3", answer_session_ids=[]))
    inspection = inspect_source(tmp_path / "corpus")
    assert inspection.format == "corpus"
    assert inspection.facts["questions"] == {
        "total": 3,
        "abstention": 1,
        "multi-session": 2,
        "multi-session (abstention)": 1,
    }
    assert inspection.facts["haystacks"] == {
        "total": 3,
        "sessions_min": 2,
        "sessions_mean": 2.0,
        "sessions_max": 2,
    }
    assert inspection.facts["source"]["name"] == "source.json"
    assert [(quirk.name, quirk.example) for quirk in inspection.quirks if quirk.count] == [("no_evidence", "q3")]


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no questions\.parquet; give a folder that --to corpus wrote"):
        inspect_source(tmp_path)


def test_source_text_cannot_break_a_line(tmp_path: Path) -> None:
    made = record("q\n\x1b[31m1", question_type="a\nb", answer=3)
    lines = inspection_lines(inspect_source(write(tmp_path / "f", made)))
    assert all(line.isprintable() for line in lines)
    assert any("e.g. q\\n\\x1b[31m1" in line for line in lines)
