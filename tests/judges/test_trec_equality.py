"""Our metrics against trec_eval, on rankings with ties, duplicates, unmapped hits and nothing at all."""

from __future__ import annotations

import random

import pytest
import pytrec_eval
from boards import Ask, scored, values

from judges.retrieval_metrics import CUTOFFS

N_RANKINGS = 500
HAYSTACK = tuple(f"s{n}" for n in range(70))


def _asks() -> list[Ask]:
    rng = random.Random(11)
    asks = []
    for _ in range(N_RANKINGS):
        hits = rng.choices([*HAYSTACK, "nowhere"], k=rng.choice([0, 0, 1, 3, 10, 50, 120]))
        evidence = rng.sample([*HAYSTACK, "lost"], rng.randint(1, 8))
        ranking = len(set(hits) - {"nowhere"})
        asks.append(Ask(hits, evidence, HAYSTACK, own_k=ranking or None))
    return asks


def test_equal_to_trec_eval_on_500_rankings() -> None:
    asks = _asks()
    runs = [list(dict.fromkeys(hit for hit in ask.hits if hit != "nowhere")) for ask in asks]
    qrels = {str(n): dict.fromkeys(ask.evidence, 1) for n, ask in enumerate(asks)}
    cutoffs = ",".join(map(str, CUTOFFS))
    measures = {f"{name}.{cutoffs}" for name in ("success", "recall", "P", "ndcg_cut")} | {"set_F", "recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures)
    # trec_eval breaks ties by document id, so that a rank is told as its negative, which has none.
    whole = evaluator.evaluate({str(n): {hit: -float(r) for r, hit in enumerate(run)} for n, run in enumerate(runs)})
    cut = {
        k: evaluator.evaluate({str(n): {hit: -float(r) for r, hit in enumerate(run[:k])} for n, run in enumerate(runs)})
        for k in CUTOFFS
    }
    names = {"hit": "success", "recall": "recall", "precision": "P", "ndcg": "ndcg_cut"}
    compared = 0
    for n, ours in enumerate(values(scored(*asks))):
        # trec_eval leaves a question without any hit out; every metric of it is zero.
        theirs = whole.get(str(n), {})
        for k in CUTOFFS:
            for name, trec in names.items():
                assert ours[f"{name}@{k}"] == pytest.approx(theirs.get(f"{trec}_{k}", 0), abs=1e-12)
            assert ours[f"mrr@{k}"] == pytest.approx(cut[k].get(str(n), {}).get("recip_rank", 0), abs=1e-12)
            assert ours[f"recall_all@{k}"] == float(theirs.get(f"recall_{k}", 0) == 1)
            compared += 6
        if runs[n]:
            assert ours[f"f1@{len(runs[n])}"] == pytest.approx(theirs["set_F"], abs=1e-12)
    assert compared == N_RANKINGS * len(CUTOFFS) * 6
    assert sum(not run for run in runs) > 100
