"""What is told to a provider must not name a question, whatever its id is made of."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.documents import leaks

IDS = ("conv-26_q1", "gpt4_2655b836", "q1", "../../x", "a b", "é", "-", "urn:q:1", "[1]", "q.", "x" * 5_000)
WORD = "[0-9A-Za-z_]"
_ids = st.sampled_from(IDS) | st.text(min_size=1, max_size=6)
# Neither can be a part of an id, nor go on from one.
_apart = st.sampled_from(["", "|", " | ", "|abc|", "\n|"])


@given(st.lists(_ids, min_size=1, max_size=5), st.data())
def test_an_id_that_stands_alone_is_seen(ids: list[str], data: st.DataObject) -> None:
    value = data.draw(_apart) + data.draw(st.sampled_from(ids)) + data.draw(_apart)
    assert leaks([value, value], ids) == [value]


@given(st.lists(_ids, min_size=1, max_size=4), st.text(max_size=12) | _ids, _ids)
def test_as_a_search_for_each_id_would_find_it(ids: list[str], before: str, after: str) -> None:
    value = before + after

    def stands(name: str) -> bool:
        first = r"(?<![0-9A-Za-z_])" if re.match(WORD, name[0]) else ""
        last = r"(?![0-9A-Za-z_])" if re.match(WORD, name[-1]) else ""
        return re.search(first + re.escape(name) + last, value) is not None

    expected = any(map(stands, ids)) or any(mark in value for mark in ("answer_", "_abs", "has_answer"))
    assert (leaks([value], ids) == [value]) is expected


@pytest.mark.parametrize("value", ["conv-26_q10", "xconv-26_q1", "conv-26", "26_q1", "conv_26_q1", "conv-26_q1_2", ""])
def test_a_part_of_an_id_or_more_than_it_is_another_word(value: str) -> None:
    assert leaks([value], ["conv-26_q1", ""]) == []


@pytest.mark.parametrize("value", ["x:answer_1", "q_abs", "has_answer"])
def test_marks_are_seen_anywhere(value: str) -> None:
    assert leaks([value, "fine"], []) == [value]
