"""The judge without a model, and what it reads out of texts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.dates_in_text import days_in
from judges.judging.facts import alternatives
from judges.judging.lexical import NAME, lexical_verdict
from judges.judging.verdict import RIGHT_ABOVE
from judges.refusal import is_refusal
from judges.words import stem, words

ACCEPTABLE = "9 days ago. 10 days (including the last day) is also acceptable."
SPAN = "One week. Answers ranging from 7 days to 10 days are also acceptable."


@pytest.mark.parametrize(
    ("question_type", "answer", "hypothesis", "right"),
    [
        ("single-session-user", "Denver", "She lives in Denver, Colorado.", True),
        ("single-session-user", "Denver", "She lives in Austin.", False),
        ("single-session-user", "Denver", "I don't know.", False),
        ("single-session-user", "Denver", "", False),
        ("single-session-user", "Ca", "The car", False),
        ("single-session-user", "Dr. Arati Prabhakar", "It was Arati Prabhakar, dr.", True),
        ("single-session-user", "A mix of Irish and Italian", "Irish mixed with Italian", True),
        ("single-session-user", "Café Sperl", "cafe sperl", True),
        ("multi-session", "five", "You went 5 times.", True),
        ("multi-session", "5", "You went fifteen times.", False),
        ("multi-session", "$3,750", "3750.00 dollars", True),
        ("multi-session", "$3,750", "$37.50", False),
        ("multi-session", "14 days", "two weeks", True),
        ("multi-session", "18 days", "19 days", False),
        ("multi-session", "No", "Yes, you did.", False),
        ("multi-session", "No", "No, you never did.", True),
        ("multi-session", None, "Anything", False),
        ("temporal-reasoning", "18 days", "19 days", True),
        ("temporal-reasoning", "18 days", "20 days", False),
        ("temporal-reasoning", "3 weeks", "3 days", False),
        ("temporal-reasoning", ACCEPTABLE, "ten days", True),
        ("temporal-reasoning", ACCEPTABLE, "12 days", False),
        ("temporal-reasoning", SPAN, "9 days", True),
        ("temporal-reasoning", SPAN, "a month", False),
        ("temporal-reasoning", "May 3rd", "on 2023-05-03", True),
        ("temporal-reasoning", "7 May, 2023", "6 May 2023", True),
        ("temporal-reasoning", "7 May, 2023", "7 May 2022", False),
        ("temporal-reasoning", "6:45 AM", "at 6:45 am", True),
        ("knowledge-update", "31", "31 now, 26 before", True),
        ("knowledge-update", "31", "26", False),
        ("adversarial", None, "That was never mentioned.", True),
        ("adversarial", "Denver", "Denver", False),
    ],
)
def test_verdicts(question_type: str, answer: str | None, hypothesis: str, right: bool) -> None:
    verdict = lexical_verdict("What is it?", answer, hypothesis, question_type, False)
    assert verdict.label == right
    assert verdict.explanation.startswith(f"{NAME}: ")


@pytest.mark.parametrize(("hypothesis", "right"), [("17", True), ("19 or so", True), ("20", False)])
def test_a_bare_number_may_be_off_by_one_if_days_are_asked_for(hypothesis: str, right: bool) -> None:
    asked = ("How many days did it take?", "18", hypothesis, "temporal-reasoning", False)
    assert lexical_verdict(*asked).label == right
    assert lexical_verdict("How many cups are there?", *asked[1:]).label is False


def test_a_word_of_the_question_is_not_what_was_asked() -> None:
    question = "Which museum did you recommend?"
    assert lexical_verdict(question, "I recommended the Egyptian Museum.", "Egyptian Museum", "x", False).label


def test_advice_is_measured_by_the_rubric_without_its_phrases_and_dislikes() -> None:
    rubric = "The user would prefer trails near lakes with their dog. They might not prefer crowded museums in town."

    def right(hypothesis: str) -> bool:
        return lexical_verdict("Any tips?", rubric, hypothesis, "single-session-preference", False).label

    assert right("Take your dog along the trails at the lakes.")
    assert not right("The user would prefer suggestions.")
    assert not right("Crowded museums in town.")


@given(st.text(), st.text(), st.text(), st.sampled_from(["x", "temporal", "knowledge-update"]), st.booleans())
def test_a_score_is_in_range_and_says_what_the_label_says(q: str, gold: str, said: str, kind: str, abs_: bool) -> None:
    verdict = lexical_verdict(q, gold, said, kind, abs_)
    assert 0 <= verdict.score <= 1
    assert verdict.label == (verdict.score > RIGHT_ABOVE)
    assert verdict == lexical_verdict(q, gold, said, kind, abs_)


@given(st.text("ab1 .,-", min_size=1).filter(words), st.sampled_from(["It is: {}.", "{}", "I think {}, yes"]))
def test_an_answer_that_holds_the_reference_is_right(gold: str, said: str) -> None:
    assert lexical_verdict("Which?", gold, said.format(f" {gold} "), "multi-session", False).label


@pytest.mark.real_data
def test_real_references_are_right_and_refusals_only_where_they_should_be(real_oracle: Path) -> None:
    records = json.loads(gzip.decompress(real_oracle.read_bytes()))
    for record in records:
        asked = (record["question"], str(record["answer"]))
        kind, is_abstention = record["question_type"], record["question_id"].endswith("_abs")
        assert lexical_verdict(*asked, str(record["answer"]), kind, is_abstention).label, record["question_id"]
        assert lexical_verdict(*asked, "I don't know.", kind, is_abstention).label == is_abstention


def test_alternatives() -> None:
    assert alternatives("Denver") == ["Denver"]
    assert [words(one) for one in alternatives(ACCEPTABLE)] == [["9", "days", "ago"], ["10", "days"]]
    assert alternatives(SPAN) == ["One week", "7 days", "8 days", "9 days", "10 days"]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("May 3rd, 2023", [(2023, 5, 3)]),
        ("the 3rd of May", [(None, 5, 3)]),
        ("2023-05-03 and 2023/5/4", [(2023, 5, 3), (2023, 5, 4)]),
        ("Sept. 9", [(None, 9, 9)]),
        ("February 30", []),
        ("29 February", [(None, 2, 29)]),
        ("may I have 3", []),
        ("5/3/2023", []),
    ],
)
def test_days(text: str, days: list[tuple[int | None, int, int]]) -> None:
    assert days_in(text) == days


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("I don't know.", True),
        ("I don\u2019t know.", True),
        ("You did not mention buying an iPad.", True),
        ("The information provided is not enough.", True),
        ("There is no information about that.", True),
        ("I cannot determine that from the memories.", True),
        ("You never told me.", True),
        ("It is not mentioned anywhere.", True),
        ("Denver", False),
        ("You know Anna well.", False),
        ("The notebook is in the drawer.", False),
        ("", False),
    ],
)
def test_refusals(text: str, refuses: bool) -> None:
    assert is_refusal(text) == refuses


def test_words_and_stems() -> None:
    assert words("Twenty-one, $3,750.00 and 6 PM on the 3rd") == ["21", "3750", "and", "6", "pm", "on", "the", "3"]
    for forms in (("plant", "plants", "planted", "planting"), ("city", "cities"), ("bake", "baking", "baked")):
        assert len({stem(form) for form in forms}) == 1
    assert stem("bus") != stem("bu")
