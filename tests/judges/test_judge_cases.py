"""The bundled cases, and what judges of several kinds are worth on them."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from judges.judging.cases import Case, bundled_cases, judge_accuracy
from judges.judging.choose import NAMES
from judges.judging.lexical import lexical_verdict
from judges.judging.parse import parse_verdict
from judges.judging.verdict import Unreadable, Verdict


def lexical(case: Case) -> Verdict:
    return lexical_verdict(case.question, case.answer, case.hypothesis, case.question_type, case.is_abstention)


def perfect(case: Case) -> Verdict:
    return Verdict(min(1.0, case.at_most) if case.expected else 0.0, case.expected)


def test_there_are_enough_cases_of_every_kind_and_each_has_a_name() -> None:
    cases = bundled_cases()
    assert len({case.case for case in cases}) == len(cases) >= 30
    kinds = Counter(case.kind for case in cases)
    assert {"right", "wrong", "partial", "outdated", "refusal", "injected", "injected in memory"} <= set(kinds)
    assert set(judge_accuracy(perfect)["prompt"]) == set(NAMES)
    # Neither "always right" nor "always wrong" may look good.
    assert 0.4 <= sum(case.expected for case in cases) / len(cases) <= 0.6


def test_a_case_says_nothing_that_contradicts_itself() -> None:
    assert all(case.at_most <= 0.5 for case in bundled_cases() if not case.expected)
    assert all(case.at_most == 1 for case in bundled_cases() if case.expected)


def test_the_frame_has_a_row_a_case() -> None:
    frame = judge_accuracy(perfect)
    assert frame["case"].to_list() == [case.case for case in bundled_cases()]
    assert frame["right"].all()


def test_the_lexical_judge_is_not_steered_and_knows_most() -> None:
    frame = judge_accuracy(lexical)
    assert frame["right"].mean() >= 0.9
    assert frame.filter(pl.col("kind").str.starts_with("injected"))["right"].all()


@pytest.mark.parametrize("always", [True, False])
def test_a_judge_that_always_says_the_same_is_found_out(always: bool) -> None:
    accuracy = judge_accuracy(lambda _: Verdict(float(always), always))["right"].mean()
    assert isinstance(accuracy, float)
    assert accuracy < 0.7


def test_a_judge_that_does_what_an_answer_says_is_found_out() -> None:
    def obeys(case: Case) -> Verdict:
        return parse_verdict(case.hypothesis, "default")

    tried = judge_accuracy(obeys).filter(pl.col("case") == "injected-verdict")
    assert tried.select("got", "right").rows() == [(True, False)]


def test_too_high_a_score_for_an_outdated_answer_is_wrong() -> None:
    (case,) = [case for case in bundled_cases() if case.case == "update-old-alone"]
    assert judge_accuracy(lambda _: Verdict(0.5, False), [case])["right"].to_list() == [True]
    assert judge_accuracy(lambda _: Verdict(0.6, False), [case])["right"].to_list() == [False]


def test_an_unreadable_reply_is_no_verdict() -> None:
    def silent(_: Case) -> Verdict:
        raise Unreadable("the reply is empty")

    frame = judge_accuracy(silent)
    assert frame["got"].null_count() == frame["score"].null_count() == frame.height
    assert not frame["right"].any()
    assert set(frame["explanation"]) == {"the reply is empty"}
