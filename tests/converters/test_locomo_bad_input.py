"""Every bad LoCoMo file is refused in one line that names the file, the sample, the field and the remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from locomo_samples import question, sample, turn, write

from converters.convert import convert_corpus
from converters.errors import BadInput

AS_PUBLISHED = "give it as the published file does"
DATE = "write it as 1:56 pm on 8 May, 2023"
ADD = "is missing; add it, or fetch the file again"


def _refused(path: Path) -> str:
    """The line without the file's name; nothing but the file is left in its folder."""
    with pytest.raises(BadInput) as caught:
        convert_corpus(path, "locomo", path.parent / "corpus")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    line = caught.value.line
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


def _qa(**fields: Any) -> dict[str, Any]:
    return sample("bad", [{**question("Where?", 4, ["D1:1"], answer="Oslo"), **fields}])


def _talk(**fields: Any) -> dict[str, Any]:
    return sample("bad", None, **fields)


@pytest.mark.parametrize("field", ["sample_id", "conversation", "qa"])
def test_a_missing_field(tmp_path: Path, field: str) -> None:
    bad = {name: value for name, value in sample("bad").items() if name != field}
    named = "sample 2" if field == "sample_id" else "sample 2 (bad)"
    assert _refused(write(tmp_path / "l.json", sample(), bad)) == f"{named}: {field}: {ADD}"


@pytest.mark.parametrize("field", ["speaker_a", "speaker_b", "session_2_date_time"])
def test_a_missing_part_of_a_conversation(tmp_path: Path, field: str) -> None:
    bad = sample("bad")
    del bad["conversation"][field]
    assert _refused(write(tmp_path / "l.json", bad)) == f"sample 1 (bad): conversation.{field}: {ADD}"


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        (_qa(category=6), "qa[0].category: is no known category: int 6; use a whole number from 1 to 5"),
        (_qa(category=True), "qa[0].category: is no known category: bool True; use a whole number from 1 to 5"),
        (_qa(answer=1.5), "qa[0].answer: is neither text nor a whole number but float 1.5; write it as text"),
        (_qa(answer="\udc00"), "qa[0].answer: holds a lone surrogate (\\ud800 to \\udfff); remove the character"),
        (_qa(answer="a\0"), "qa[0].answer: holds a NUL character; remove the character"),
        (_qa(answer=None), f"qa[0].answer: {ADD}"),
        (_qa(question=""), "qa[0].question: is empty; fill it in, or leave the record out"),
        (_qa(evidence="D1:1"), f"qa[0].evidence: should be a valid list, is 'D1:1'; {AS_PUBLISHED}"),
        (_qa(evidence=[3]), f"qa[0].evidence[0]: should be a valid string, is int 3; {AS_PUBLISHED}"),
        (
            _talk(session_1_date_time="8 May 2023"),
            "conversation.session_1_date_time: is not a date: '8 May 2023' "
            f"(not of the form 1:56 pm on 8 May, 2023); {DATE}",
        ),
        (
            _talk(session_1_date_time="1:56 pm on 31 June, 2023"),
            "conversation.session_1_date_time: is not a date: '1:56 pm on 31 June, 2023' "
            f"(day is out of range for month); {DATE}",
        ),
        (
            _talk(session_1_date_time="13:56 pm on 8 May, 2023"),
            "conversation.session_1_date_time: is not a date: '13:56 pm on 8 May, 2023' "
            f"(hour must be in 1..12); {DATE}",
        ),
        (
            _talk(session_1_date_time=7),
            f"conversation.session_1_date_time: is not a date: int 7 (not a text); {DATE}",
        ),
        (
            _talk(session_1=[turn("Bob", "D1:1", "x")]),
            "conversation.session_1[0].speaker: 'Bob' is neither speaker_a nor speaker_b; use 'Carol' or 'Mel'",
        ),
        (
            _talk(session_1=[turn("Mel", "D2:1", "x")]),
            "conversation.session_2[0].dia_id: 'D2:1' is the id of an earlier turn too; give each its own",
        ),
        (
            _talk(session_1=[{"speaker": "Mel", "dia_id": "D1:1"}]),
            f"conversation.session_1[0].text: {ADD}",
        ),
        (
            _talk(session_1=[turn("Mel", "D1:1", "x", blip_caption=["a cat"])]),
            f"conversation.session_1[0].blip_caption: should be a valid string, is list ['a cat']; {AS_PUBLISHED}",
        ),
        (_talk(session_1="x"), f"conversation.session_1: should be a valid list, is 'x'; {AS_PUBLISHED}"),
        (
            _talk(session_1=[], session_2=[]),
            "conversation: holds no session; add session_1 and session_1_date_time",
        ),
        (_talk(speaker_b="Carol"), "conversation.speaker_b: is the name of speaker_a too; give each a name of its own"),
    ],
    ids=range(20),
)
def test_a_field_that_is_not_as_it_should_be(tmp_path: Path, bad: dict[str, Any], line: str) -> None:
    assert _refused(write(tmp_path / "l.json", sample(), bad)) == f"sample 2 (bad): {line}"


def test_two_samples_with_one_id(tmp_path: Path) -> None:
    line = _refused(write(tmp_path / "l.json", sample(), sample()))
    assert line == "sample 2 (conv-1): sample_id: is the sample_id of sample 1 too; give each sample its own"


def test_no_samples(tmp_path: Path) -> None:
    assert _refused(write(tmp_path / "l.json")) == "is an array without samples; fetch the file again"


def test_a_sample_that_is_no_object(tmp_path: Path) -> None:
    line = _refused(write(tmp_path / "l.json", sample(), "text"))
    assert line.startswith("sample 2: ")
    assert "'text'" in line


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "l.json"
    path.write_text(json.dumps([sample(), sample("conv-2")])[:-200])
    assert "cut off" in _refused(path)
