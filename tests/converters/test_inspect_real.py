"""The published oracle file and 59 real S records: every figure that is known of them from other counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from converters.inspect.registry import inspect_source
from converters.inspect.report import Inspection

pytestmark = pytest.mark.real_data

ORACLE = {
    "int_answer": 32,
    "numeric_answer": 55,
    "dollar_answer": 31,
    "alternatives_in_answer": 36,
    "long_answer": 25,
    "gold_visible_in_ids": 500,
    "question_before_a_session": 43,
    "session_after_question": 65,
    "gold_after_question": 43,
    "all_gold_after_question": 16,
    "unordered_haystack": 34,
    "abstention_with_gold": 30,
    "abstention_with_marks": 9,
    "gold_without_marks": 45,
    "abstention_gold_without_marks": 49,
    "marks_differ_from_gold": 62,
    "assistant_marks_only": 51,
    "shared_id_other_date": 8,
    "same_text_other_id": 79,
    "grouped_by_type": 8,
    "assistant_first": 5,
    "same_role_twice": 1,
    "odd_turns": 8,
    "outer_whitespace": 8,
    "speaker_line": 2,
    "invisible": 3,
    "astral": 29,
}
S59 = {
    "int_answer": 8,
    "numeric_answer": 5,
    "dollar_answer": 3,
    "alternatives_in_answer": 5,
    "long_answer": 9,
    "repeated_id": 1,
    "gold_visible_in_ids": 59,
    "question_before_a_session": 7,
    "session_after_question": 146,
    "gold_after_question": 6,
    "all_gold_after_question": 1,
    "unordered_haystack": 22,
    "same_minute": 14,
    "abstention_with_gold": 6,
    "abstention_with_marks": 1,
    "gold_without_marks": 7,
    "abstention_gold_without_marks": 11,
    "marks_differ_from_gold": 12,
    "assistant_marks_only": 1,
    "shared_id_other_date": 64,
    "same_text_other_id": 22,
    "assistant_first": 237,
    "assistant_only": 8,
    "same_role_twice": 2,
    "odd_turns": 237,
    "blank_turn": 1,
    "long_turn": 1,
    "outer_whitespace": 12,
    "speaker_line": 4,
    "html": 27,
    "vertical_tab": 1,
    "line_separator": 1,
    "replacement_character": 1,
    "invisible": 17,
    "astral": 56,
    "no_break_space": 13,
}
ORACLE_PLACES = {
    "same_role_twice": "gpt4_385a5000 answer_7a4a93f1_1",
    "speaker_line": "gpt4_e05b82a6 answer_6350aa4f_2 turn 10",
}
S59_PLACES = {
    "repeated_id": "gpt4_c27434e8_abs",
    "all_gold_after_question": "8c18457d",
    "blank_turn": "dd2973ad sharegpt_ADHo6Ob_0 turn 8",
    "long_turn": "852ce960 sharegpt_FYhsZ0Q_0 turn 0",
    "replacement_character": "852ce960 sharegpt_FYhsZ0Q_0 turn 0",
    "line_separator": "57f827a0 sharegpt_QKQ5UT6_0 turn 2",
    "vertical_tab": "0bb5a684 sharegpt_AzkYB5s_0 turn 2",
}


@pytest.fixture(scope="module")
def oracle(real_oracle: Path) -> Inspection:
    return inspect_source(real_oracle)


@pytest.fixture(scope="module")
def s59(real_s59: Path) -> Inspection:
    return inspect_source(real_s59)


def _counts(found: Inspection) -> dict[str, int]:
    return {quirk.name: quirk.count for quirk in found.quirks if quirk.count}


def _places(found: Inspection, names: dict[str, str]) -> dict[str, str | None]:
    return {quirk.name: quirk.example for quirk in found.quirks if quirk.name in names}


def test_quirks_of_the_oracle(oracle: Inspection) -> None:
    assert _counts(oracle) == ORACLE
    assert _places(oracle, ORACLE_PLACES) == ORACLE_PLACES


def test_quirks_of_the_s_records(s59: Inspection) -> None:
    assert _counts(s59) == S59
    assert _places(s59, S59_PLACES) == S59_PLACES


def test_facts_of_the_oracle(oracle: Inspection) -> None:
    assert oracle.variant is not None
    assert (oracle.variant.name, oracle.variant.how) == ("longmemeval_oracle", "digest")
    assert oracle.facts["questions"] == {
        "total": 500,
        "abstention": 30,
        "knowledge-update": 72,
        "knowledge-update (abstention)": 6,
        "multi-session": 121,
        "multi-session (abstention)": 12,
        "single-session-assistant": 56,
        "single-session-preference": 30,
        "single-session-user": 64,
        "single-session-user (abstention)": 6,
        "temporal-reasoning": 127,
        "temporal-reasoning (abstention)": 6,
    }
    sessions, turns, evidence = (oracle.facts[name] for name in ("sessions", "turns", "evidence"))
    assert [sessions[name] for name in ("total", "distinct_ids", "distinct_texts")] == [948, 940, 861]
    assert [sessions[f"per_question_{name}"] for name in ("min", "mean", "max")] == [1, 1.9, 6]
    assert [turns[name] for name in ("total", "per_question_min", "per_question_max")] == [10_960, 2, 72]
    names = ("filler_sessions", "turns_labelled", "turns_marked_user", "turns_marked_assistant")
    assert [evidence[name] for name in names] == [0, 10_960, 842, 54]
    assert oracle.facts["order"]["types"] == (
        "temporal-reasoning 60, multi-session 62, knowledge-update 78, single-session-preference 30, "
        "single-session-assistant 56, single-session-user 70, temporal-reasoning 73, multi-session 71"
    )


def test_facts_of_the_s_records(s59: Inspection) -> None:
    assert s59.variant is not None
    assert (s59.variant.name, s59.variant.how) == ("longmemeval_s", "derived")
    sessions, turns, characters = (s59.facts[name] for name in ("sessions", "turns", "characters"))
    assert [sessions[name] for name in ("total", "distinct_texts")] == [2_796, 2_707]
    assert [sessions[f"per_question_{name}"] for name in ("min", "max")] == [39, 54]
    assert (turns["total"], turns["longest_characters"]) == (29_067, 76_560)
    assert turns["longest_at"] == "852ce960 sharegpt_FYhsZ0Q_0 turn 0"
    assert [round(characters[f"per_question_{name}"] / 1_000) for name in ("min", "mean", "max")] == [469, 489, 506]
    assert s59.facts["evidence"]["turns_labelled"] == 1_571
