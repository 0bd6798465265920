"""Metrics of judged relevance, against trec_eval and worked by hand."""

from __future__ import annotations

from math import log2

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from judges.relevance.metrics import JUDGED, MEMORYBENCH, NAMES, judged_metrics, memorybench_metrics
from judges.retrieval_metrics import CUTOFFS

lists = st.lists(st.integers(0, 1), max_size=60)
MEASURES = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "hit": "success"}


def oracle(relevance: list[int], n_missed: int) -> dict[str, float]:
    """What trec_eval says, the hits being documents and each missed session a relevant one that is not in the run."""
    judged = {f"d{rank}": one for rank, one in enumerate(relevance)} | {f"m{n}": 1 for n in range(n_missed)}
    cuts = ",".join(str(k) for k in CUTOFFS)
    wanted = {f"{name}.{cuts}" for name in MEASURES.values()} | {"recip_rank"}
    run = {f"d{rank}": -float(rank) for rank in range(len(relevance))}
    found: dict[str, float] = pytrec_eval.RelevanceEvaluator({"q": judged}, wanted).evaluate({"q": run})["q"]
    return found


@given(lists.filter(len), st.integers(0, 5))
def test_judged_metrics_are_trec_evals(relevance: list[int], n_missed: int) -> None:
    ours = judged_metrics(relevance, n_missed, cut=False)
    assert set(ours) == {f"{JUDGED}{name}@{k}" for name in NAMES for k in CUTOFFS}
    if not sum(relevance) + n_missed:
        assert set(ours.values()) == {None}
        return
    theirs = oracle(relevance, n_missed)
    for k in CUTOFFS:
        for name, measure in MEASURES.items():
            assert ours[f"{JUDGED}{name}@{k}"] == pytest.approx(theirs[f"{measure}_{k}"], abs=1e-12)
        precision, recall = theirs[f"P_{k}"], theirs[f"recall_{k}"]
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert ours[f"{JUDGED}f1@{k}"] == pytest.approx(f1, abs=1e-12)
        inside = sum(relevance[:k]) > 0
        assert ours[f"{JUDGED}mrr@{k}"] == pytest.approx(theirs["recip_rank"] if inside else 0, abs=1e-12)


@given(lists, st.integers(0, 5))
def test_a_cut_list_is_null_beyond_its_end_and_no_other(relevance: list[int], n_missed: int) -> None:
    whole, cut = (judged_metrics(relevance, n_missed, cut=flag) for flag in (False, True))
    for name, value in cut.items():
        k = int(name.rpartition("@")[2])
        assert value == (whole[name] if k <= len(relevance) else None)


def test_evidence_that_was_not_found_counts_against_recall() -> None:
    found = judged_metrics([0, 1, 1], 2, cut=False, cutoffs=[3])
    assert found[f"{JUDGED}recall@3"] == 0.5
    assert found[f"{JUDGED}precision@3"] == pytest.approx(2 / 3)
    assert judged_metrics([], 1, cut=False, cutoffs=[1])[f"{JUDGED}hit@1"] == 0


@pytest.mark.parametrize(
    ("relevance", "hit", "precision", "f1", "mrr", "ndcg"),
    [
        ([], 0, 0, 0, 0, 0),
        ([0, 0], 0, 0, 0, 0, 0),
        ([1], 1, 1, 1, 1, 1),
        ([0, 1], 1, 0.5, 2 / 3, 0.5, 1 / log2(3)),
        ([0, 1, 0, 1], 1, 0.5, 2 / 3, 0.5, (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))),
        ([0] * 10 + [1], 0, 0, 0, 0, 0),
        ([1] + [0] * 19, 1, 0.1, 2 / 11, 1, 1),
    ],
    ids=["none", "nothing relevant", "one", "second", "two of four", "beyond the tenth", "twenty"],
)
def test_memorybench_by_hand(
    relevance: list[int], hit: float, precision: float, f1: float, mrr: float, ndcg: float
) -> None:
    found = memorybench_metrics(relevance)
    expected = {"hit": hit, "precision": precision, "recall": hit, "f1": f1, "mrr": mrr, "ndcg": ndcg}
    assert found == {f"{MEMORYBENCH}{name}": pytest.approx(value) for name, value in expected.items()}


@given(lists)
def test_memorybench_over_all_hits(relevance: list[int]) -> None:
    found = memorybench_metrics(relevance, None)
    assert all(0 <= value <= 1 + 1e-12 for value in found.values())
    assert found[f"{MEMORYBENCH}precision"] == (sum(relevance) / len(relevance) if relevance else 0)
    in_order = memorybench_metrics(sorted(relevance, reverse=True), None)
    assert in_order[f"{MEMORYBENCH}ndcg"] == pytest.approx(float(any(relevance)))
