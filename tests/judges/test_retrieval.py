from __future__ import annotations

import polars as pl
import pytest
from boards import Ask, board, scored, values

from converters.errors import BadInput
from converters.tables import RETRIEVAL_SCORES
from judges.retrieval import labels
from judges.retrieval_metrics import CUTOFFS, METRICS


def test_repeated_sessions_take_one_rank() -> None:
    scores = scored(Ask(["s1", "s1", "s2", "s1", "s9"], ["s9"]))
    assert scores.select("n_hits", "n_ranked", "n_unmapped").row(0) == (5, 3, 0)
    assert scores["evidence_ranks"].to_list() == [[3]]
    assert values(scores)[0]["mrr@5"] == pytest.approx(1 / 3)


def test_one_text_on_two_days_is_one_session() -> None:
    haystack = ["s1", "s1@2", "s2"]
    scores = scored(Ask(["s1@2", "s1", "s2"], ["s2"], haystack))
    assert scores.select("n_ranked", "n_haystack").row(0) == (2, 2)
    assert scores["evidence_ranks"].to_list() == [[2]]


def test_unmapped_hits_are_counted_and_take_no_rank() -> None:
    scores = scored(Ask(["nowhere", ("nowhere", "s3"), "else", "s4"], ["s4"]))
    assert scores.select("n_hits", "n_unmapped", "n_ranked").row(0) == (4, 2, 2)
    assert scores["evidence_ranks"].to_list() == [[2]]


def test_a_hit_may_stand_for_several_sessions_in_its_order() -> None:
    assert scored(Ask([("s5", "s2", "s7")], ["s7", "s2"]))["evidence_ranks"].to_list() == [[2, 3]]


def test_another_questions_sessions_do_not_count() -> None:
    scores = scored(Ask(["b1"], ["a1"], ["a1"]), Ask(["b1"], ["b1"], ["b1"]))
    assert scores["n_unmapped"].to_list() == [1, 0]
    assert [row["hit@1"] for row in values(scores)] == [0, 1]


def test_questions_may_share_a_haystack() -> None:
    given = board([Ask(["s1"], ["s1"]), Ask(["s2"], ["s2"])])
    shared = given.questions.with_columns(haystack_id=pl.lit("h0"))
    scores = given.score(questions=shared, haystacks=given.haystacks.filter(pl.col("haystack_id") == "h0"))
    assert [row["mrr@1"] for row in values(scores)] == [1, 1]


@pytest.mark.parametrize(
    ("ask", "k", "defined"),
    [
        pytest.param(Ask(["s1", "s2"], ["s9"], limit=2), 1, True, id="cut, k reached"),
        pytest.param(Ask(["s1", "s2"], ["s9"], limit=2), 3, False, id="cut, k not reached"),
        pytest.param(Ask(["s1", "s1", "s2"], ["s9"], limit=3), 3, False, id="cut, repeats do not count"),
        pytest.param(Ask(["s1", "nowhere"], ["s9"], limit=2), 3, False, id="cut, unmapped hits do not count"),
        pytest.param(Ask(["s9", "s1"], ["s9"], limit=2), 3, False, id="cut, even where the evidence was found"),
        pytest.param(Ask(["s1", "s2"], ["s9"], limit=3), 50, True, id="ended by itself"),
        pytest.param(Ask(["s1", "s2", "s1"], ["s2"], ["s1", "s2"], limit=3), 50, True, id="cut with all in it"),
        pytest.param(Ask([], ["s9"]), 5, True, id="nothing found"),
        pytest.param(Ask(["s1"], []), 1, False, id="no evidence"),
        pytest.param(Ask(["s1"], ["s1"], abstention=True), 1, False, id="abstention with near-miss sessions"),
        pytest.param(Ask(["s1"], ["s1"], status="degraded"), 1, False, id="degraded"),
        pytest.param(Ask([], ["s1"], status="error"), 1, False, id="error"),
        pytest.param(Ask([], ["s1"], status="not_run"), 1, False, id="not run"),
    ],
)
def test_where_a_value_is_null(ask: Ask, k: int, defined: bool) -> None:
    found = values(scored(ask))[0]
    at_k = [value for name, value in found.items() if name.endswith(f"@{k}")]
    assert len(at_k) == len(METRICS)
    assert {value is not None for value in at_k} == {defined}


def test_status_and_reason_are_kept() -> None:
    scores = scored(
        Ask([], ["s1"]), Ask([], ["s1"], status="error"), Ask(["s1"], ["s1"], abstention=True), Ask(["s1"], [])
    )
    assert scores["status"].to_list() == ["empty", "error", "ok", "ok"]
    assert scores["excluded"].to_list() == [None, None, "abstention", "no evidence"]
    assert scores["n_evidence"].to_list() == [1, 1, 0, 0]


def test_own_k_is_added_once() -> None:
    first, second, third = values(scored(*(Ask(["s1", "s2"], ["s2"], own_k=k) for k in (2, 5, None))))
    assert first["precision@2"] == 0.5
    assert len(first) == len(METRICS) * (len(CUTOFFS) + 1)
    assert len(second) == len(third) == len(METRICS) * len(CUTOFFS)
    assert list(second) == list(third)


def test_every_question_has_a_row_in_ordinal_order() -> None:
    given = board([Ask(["s1"], ["s1"]), Ask(["s1"], ["s1"]), Ask(["s1"], ["s1"])])
    scores = given.score(results=given.results.filter(pl.col("question_id") != "q1")[::-1])
    assert scores["question_id"].to_list() == ["q0", "q1", "q2"]
    assert scores["status"].to_list() == ["ok", "not_run", "ok"]
    assert values(scores)[1]["hit@5"] is None


def test_no_questions_no_rows() -> None:
    assert RETRIEVAL_SCORES.validate(scored()).is_empty()


def test_missing_label_is_bad_input() -> None:
    given = board([Ask(["s1"], ["s1"]), Ask(["s1"], ["s1"])])
    with pytest.raises(BadInput, match=r"no ground truth for 1 of 2 questions, q1 among them"):
        given.score(ground_truth=given.ground_truth.head(1))


def test_an_overlay_corrects_and_base_stands_for_the_rest() -> None:
    given = board([Ask(["s1"], ["s2"]), Ask(["s1"], ["s1"])])
    fixed = given.ground_truth.head(1).with_columns(overlay=pl.lit("fixed"), evidence_hashes=pl.lit(["s1"]))
    both = pl.concat([given.ground_truth, fixed])
    assert [row["hit@1"] for row in values(given.score(ground_truth=both))] == [0, 1]
    assert [row["hit@1"] for row in values(given.score(ground_truth=both, overlay="fixed"))] == [1, 1]
    with pytest.raises(BadInput, match=r"no overlay 'fixd'; use one of: base, fixed"):
        labels(both, "fixd")


class TestTurns:
    def test_turns_rank_in_turn_order_each_once(self) -> None:
        ask = Ask([("s1", [4, 2]), ("s1", [4, 5]), ("s2", [0])], ["s1", "s2"], turns=[("s1", 5), ("s2", 0)])
        found = values(scored(ask), "turn")[0]
        assert found["mrr@5"] == pytest.approx(1 / 3)
        assert (found["recall@3"], found["recall@5"]) == (0.5, 1)

    @pytest.mark.parametrize(
        ("hits", "marked", "defined"),
        [
            pytest.param([("s1", [0])], True, True, id="mapped"),
            pytest.param([("s1", [0])], False, False, id="no marked turn"),
            pytest.param([("s1", [0]), "s2"], True, False, id="a hit without turns"),
            pytest.param([("s1", [0]), "nowhere"], True, True, id="an unmapped hit needs none"),
            pytest.param([("s1", [0]), ("s2", [])], True, True, id="a hit on no turn"),
            pytest.param([], True, True, id="nothing found"),
        ],
    )
    def test_where_a_value_is_null(self, hits: list[tuple[str, list[int]]], marked: bool, defined: bool) -> None:
        found = values(scored(Ask(hits, ["s1"], turns=[("s1", 1)] if marked else [])), "turn")[0]
        assert len(found) == len(METRICS) * len(CUTOFFS)
        assert {value is not None for value in found.values()} == {defined}

    def test_turns_of_a_hit_on_several_sessions_say_nothing(self) -> None:
        given = board([Ask([("s1", [0])], ["s1"], turns=[("s1", 0)])])
        hits = given.results["hits"].to_list()[0]
        hits[0]["session_keys"] = ["key-s1", "key-s2"]
        results = given.results.with_columns(pl.Series("hits", [hits], dtype=given.results.schema["hits"]))
        assert set(values(given.score(results=results), "turn")[0].values()) == {None}

    def test_the_turn_list_is_cut_by_its_own_length(self) -> None:
        found = values(scored(Ask([("s1", [0, 1]), ("s1", [1])], ["s1"], limit=2, turns=[("s1", 1)])), "turn")[0]
        assert (found["hit@1"], found["hit@3"]) == (0, None)
