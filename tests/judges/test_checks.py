from __future__ import annotations

import polars as pl
from boards import Ask, board

from judges import checks

BOARD = board(
    [
        Ask(["s1", "nowhere"], ["s1"], ["s1", "s2"], turns=[("s1", 0)]),
        Ask(["s1"], ["s1", "lost"], [f"s{n}" for n in range(30)], turns=[("gone", 2)]),
        Ask([], [], ["s1"], abstention=True),
    ]
)


def test_questions_missing_and_unknown() -> None:
    assert checks.questions_missing(BOARD.questions, BOARD.results) == []
    assert checks.questions_missing(BOARD.questions, BOARD.results.filter(pl.col("question_id") == "q1")) == [
        "q0",
        "q2",
    ]
    assert checks.questions_unknown(BOARD.questions.head(1), BOARD.results) == ["q1", "q2"]


def test_evidence_that_the_haystack_lacks() -> None:
    found = checks.evidence_unknown(BOARD.ground_truth, BOARD.haystacks, BOARD.questions)
    assert found.rows() == [("base", "q1", "gone"), ("base", "q1", "lost")]
    assert checks.evidence_unknown(BOARD.ground_truth.head(1), BOARD.haystacks, BOARD.questions).is_empty()


def test_cut_offs_that_take_in_a_whole_haystack() -> None:
    assert checks.k_reaches_haystack(BOARD.score()) == {3: 1, 5: 1, 10: 1, 20: 1, 50: 2}
    assert checks.k_reaches_haystack(BOARD.score(), [1]) == {}


def test_unmapped_hits() -> None:
    assert checks.hits_unmapped(BOARD.score()) == (1, 3)
