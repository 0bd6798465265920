"""Reading a judge's reply: the right verdict, or none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replies import REPLIES, Expected

from judges.judging.parse import parse_verdict
from judges.judging.verdict import RIGHT_ABOVE, Unreadable

scores = st.floats(0, 1).map(lambda score: round(score, 3))


def test_the_table_is_large_and_names_each_reply_once() -> None:
    assert len({name for name, _, _ in REPLIES}) == len(REPLIES) >= 60


@pytest.mark.parametrize(("name", "reply", "expected"), REPLIES, ids=[name for name, _, _ in REPLIES])
def test_replies(name: str, reply: str, expected: Expected) -> None:
    if expected is None:
        with pytest.raises(Unreadable):
            parse_verdict(reply, "default")
    else:
        verdict = parse_verdict(reply, "default")
        assert (verdict.score, verdict.label) == (pytest.approx(expected[0]), expected[1])


@given(scores, st.text(), st.sampled_from([None, 2]))
def test_a_reply_as_asked_for_is_read_whatever_it_explains(score: float, explanation: str, indent: int | None) -> None:
    label = "correct" if score > RIGHT_ABOVE else "incorrect"
    reply = json.dumps({"explanation": explanation, "score": score, "label": label}, indent=indent)
    verdict = parse_verdict(reply, "default")
    assert (verdict.score, verdict.label) == (score, score > RIGHT_ABOVE)
    assert verdict.explanation == explanation.strip()


@given(scores, st.text(), st.integers(0, 400))
def test_a_reply_cut_anywhere_says_the_same_or_nothing(score: float, explanation: str, length: int) -> None:
    fields = {"label": "correct" if score > RIGHT_ABOVE else "incorrect", "score": score, "explanation": explanation}
    try:
        verdict = parse_verdict(json.dumps(fields)[:length], "default")
    except Unreadable:
        return
    assert verdict.label == (score > RIGHT_ABOVE)


@given(st.text() | st.from_regex(r"[{}\[\]\":, correctinlabsv0-9.%/-]{0,60}", fullmatch=True))
def test_any_text_is_a_verdict_in_range_or_unreadable(reply: str) -> None:
    try:
        verdict = parse_verdict(reply, "default")
    except Unreadable as error:
        assert error.reason
    else:
        assert 0 <= verdict.score <= 1
        assert verdict.label == (verdict.score > RIGHT_ABOVE)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("yes", True),
        ("Yes.", True),
        ("YES, it does", True),
        ("no", False),
        ("No, but yesterday it was", True),
        ("Correct", False),
        ('{"label": "correct"}', False),
    ],
)
def test_the_official_label_is_yes_anywhere(reply: str, label: bool) -> None:
    verdict = parse_verdict(reply, "official")
    assert (verdict.label, verdict.score) == (label, float(label))


def test_an_empty_reply_is_unreadable_in_the_official_set_too() -> None:
    with pytest.raises(Unreadable, match="empty"):
        parse_verdict("\n", "official")
