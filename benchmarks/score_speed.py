"""Time of scoring all questions at once, against asking pytrec_eval question by question.

Usage: python benchmarks/score_speed.py [QUESTIONS]

Both start from the same frames of search results and ground truth, and end with success, recall, precision and nDCG at
each cut-off; ours also yields recall_all, F1 and MRR, turn level, ranks, counts and statuses. Prints the ratio.
"""

from __future__ import annotations

import random
import sys
from time import perf_counter

import polars as pl
import pytrec_eval

from converters.tables import CORPUS, SEARCH_RESULTS
from judges.aggregate import aggregate
from judges.retrieval import score
from judges.retrieval_metrics import CUTOFFS

HAYSTACK = 48
HITS = 50


def tables(n_questions: int) -> dict[str, pl.DataFrame]:
    """Searches of 50 hits, each question in a haystack of its own of 48 sessions with two of evidence."""
    rng = random.Random(3)
    names = [f"q{n}" for n in range(n_questions)]
    hits = [
        [
            {"rank": rank, "provider_id": "m", "session_keys": [f"k{rng.randrange(HAYSTACK)}"], "content": "text"}
            for rank in range(1, HITS + 1)
        ]
        for _ in names
    ]
    columns: dict[str, dict[str, object]] = {
        "results": {"question_id": names, "status": "ok", "retryable": False, "limit": HITS + 1, "hits": hits},
        "questions": {"question_id": names, "ordinal": range(n_questions), "haystack_id": names, "question": "text"},
        "ground_truth": {
            "overlay": "base",
            "question_id": names,
            "question_type": "multi-session",
            "is_abstention": False,
            "evidence_hashes": [[f"t{e}" for e in rng.sample(range(HAYSTACK), 2)] for _ in names],
            "evidence_turns": [[] for _ in names],
        },
        "haystacks": {
            "haystack_id": [name for name in names for _ in range(HAYSTACK)],
            "position": [*range(HAYSTACK)] * n_questions,
            "session_key": [f"k{n}" for n in range(HAYSTACK)] * n_questions,
            "content_hash": [f"t{n}" for n in range(HAYSTACK)] * n_questions,
        },
        "query_options": {"question_id": [], "k": []},
    }
    schemas = {name: (SEARCH_RESULTS if name == "results" else CORPUS[name]).empty.schema for name in columns}
    return {
        name: pl.DataFrame(given, schema_overrides={c: schemas[name][c] for c in given}).with_columns(
            pl.lit(None, dtype=dtype).alias(c) for c, dtype in schemas[name].items() if c not in given
        )
        for name, given in columns.items()
    }


def question_by_question(frames: dict[str, pl.DataFrame]) -> list[dict[str, float]]:
    """The usual loop: a dictionary of the haystack, one of the run, one call of the evaluator."""
    cutoffs = ",".join(map(str, CUTOFFS))
    measures = {f"{name}.{cutoffs}" for name in ("success", "recall", "P", "ndcg_cut")}
    texts: dict[str, dict[str, str]] = {}
    for haystack, key, text in frames["haystacks"].select("haystack_id", "session_key", "content_hash").iter_rows():
        texts.setdefault(haystack, {})[key] = text
    evidence = dict(frames["ground_truth"].select("question_id", "evidence_hashes").iter_rows())
    found = []
    for name, hits in frames["results"].select("question_id", "hits").iter_rows():
        run: dict[str, float] = {}
        for hit in hits:
            run.setdefault(texts[name][hit["session_keys"][0]], -float(len(run)))
        evaluator = pytrec_eval.RelevanceEvaluator({name: dict.fromkeys(evidence[name], 1)}, measures)
        found.append(evaluator.evaluate({name: run})[name])
    return found


def main() -> None:
    n_questions = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    frames = tables(n_questions)
    score(**tables(10))

    start = perf_counter()
    scores = score(**frames)
    ours = perf_counter() - start
    start = perf_counter()
    theirs_values = question_by_question(frames)
    theirs = perf_counter() - start
    start = perf_counter()
    report = aggregate(scores)
    summed = perf_counter() - start

    value = report.row(
        by_predicate=(pl.col("slice") == "all")
        & (pl.col("metric") == "ndcg")
        & (pl.col("k") == 10)
        & (pl.col("level") == "session"),
        named=True,
    )["value"]
    expected = sum(row["ndcg_cut_10"] for row in theirs_values) / n_questions
    assert abs(value - expected) < 1e-9, (value, expected)
    print(f"{n_questions} questions x {HITS} hits: ours {ours:.2f} s, pytrec_eval a question {theirs:.2f} s", end="; ")
    print(f"ratio {theirs / ours:.1f}; report with 2,000 resamples {summed:.2f} s")


if __name__ == "__main__":
    main()
