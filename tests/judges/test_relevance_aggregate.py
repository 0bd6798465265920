"""Judged hits in a report: what counts, what is left out, and what two tools say of the same hits."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from converters.tables import RELEVANCE, RETRIEVAL_SCORES
from judges.relevance.aggregate import aggregate_relevance, markdown_relevance, relevance_table

# Status of the judgment, hits judged, evidence sessions, those of them found, why excluded.
ROWS: list[tuple[str, list[int] | None, int, int, str | None]] = [
    ("ok", [1, 0, 0, 0, 0, 0], 1, 1, None),
    ("ok", [0, 0, 1, 1, 0, 0], 2, 1, None),
    ("empty", [], 1, 0, None),
    ("error", None, 1, 1, None),
    ("ok", [0, 0], 1, 0, "abstention"),
    ("not_run", None, 0, 0, "no evidence"),
]


def tables(rows: list[tuple[str, list[int] | None, int, int, str | None]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    relevance: list[dict[str, Any]] = []
    scores: list[dict[str, Any]] = []
    for ordinal, (status, hits, n_evidence, n_found, excluded) in enumerate(rows):
        kind = "one" if ordinal % 2 else "two"
        known = {"question_id": f"q{ordinal}", "ordinal": ordinal, "question_type": kind, "is_abstention": False}
        relevance.append({**known, "status": status, "retryable": False, "judge": "model", "relevance": hits})
        n_hits = len(hits or [])
        counted = {"n_unmapped": 0, "n_ranked": n_hits, "n_haystack": 9, "n_evidence_turns": 0}
        scores.append(
            {
                **known,
                **counted,
                "question": "?",
                "status": "ok",
                "excluded": excluded,
                "limit": 50,
                "n_hits": n_hits,
                "n_evidence": n_evidence,
                "evidence_ranks": list(range(1, n_found + 1)),
                "scores": [],
            }
        )
    return (
        RELEVANCE.validate(pl.DataFrame(relevance, schema=RELEVANCE.empty.schema)),
        RETRIEVAL_SCORES.validate(pl.DataFrame(scores, schema=RETRIEVAL_SCORES.empty.schema)),
    )


@pytest.fixture(scope="module")
def report() -> pl.DataFrame:
    return aggregate_relevance(*tables(ROWS))


def row(report: pl.DataFrame, level: str, metric: str, k: int, name: str = "all") -> dict[str, Any]:
    return report.row(by_predicate=_is(level, metric, k, name), named=True)


def _is(level: str, metric: str, k: int, name: str) -> pl.Expr:
    here = (pl.col("slice") == name) & (pl.col("level") == level)
    return here & (pl.col("metric") == metric) & (pl.col("k") == k)


def test_what_was_not_found_counts_and_what_failed_counts_in_strict(report: pl.DataFrame) -> None:
    found = row(report, "judged", "hit", 1)
    assert (found["n"], found["n_excluded"], found["n_failed"], found["n_undefined"]) == (3, 2, 1, 0)
    assert found["value"] == pytest.approx(1 / 3)
    assert found["strict"] == pytest.approx(1 / 4)
    assert found["judge"] == "model"
    # One of one; two of three, for one evidence session was not found; none of one.
    assert row(report, "judged", "recall", 5)["value"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert row(report, "judged", "mrr", 5)["value"] == pytest.approx((1 + 1 / 3) / 3)


def test_memorybench_counts_every_question(report: pl.DataFrame) -> None:
    found = row(report, "memorybench", "precision", 10)
    assert (found["n"], found["n_excluded"], found["n_failed"]) == (4, 0, 2)
    assert found["value"] == pytest.approx((1 / 6 + 2 / 6 + 0 + 0) / 4)
    assert row(report, "memorybench", "recall", 10)["value"] == pytest.approx(2 / 4)


def test_types_are_slices(report: pl.DataFrame) -> None:
    one, two = (row(report, "judged", "hit", 10, f"type:{kind}") for kind in ("one", "two"))
    assert (one["n"], one["n_failed"], one["n_excluded"]) == (1, 1, 1)
    assert (two["n"], two["n_failed"], two["n_excluded"]) == (2, 0, 1)


def test_a_cut_list_is_undefined_beyond_its_end() -> None:
    relevance, scores = tables(ROWS[:2])
    report = aggregate_relevance(relevance, scores.with_columns(limit=pl.lit(6, pl.UInt32)))
    assert row(report, "judged", "hit", 5)["value"] == 1
    beyond = row(report, "judged", "hit", 10)
    assert (beyond["value"], beyond["strict"], beyond["n_undefined"]) == (None, None, 2)


def test_nobody_judged_is_no_number() -> None:
    report = aggregate_relevance(*tables([("not_run", None, 1, 1, None)] * 3))
    found = row(report, "judged", "hit", 5)
    assert (found["value"], found["strict"], found["n"], found["n_failed"]) == (None, None, 0, 3)


def test_no_questions_are_no_rows() -> None:
    empty = aggregate_relevance(RELEVANCE.empty, RETRIEVAL_SCORES.empty)
    assert empty.is_empty()
    assert relevance_table(empty) == ""


def test_it_is_shown_with_its_level(report: pl.DataFrame) -> None:
    lines = relevance_table(report).splitlines()
    assert len(lines) == 1 + 2 * 6 + 6
    assert lines[1].split()[:2] == ["judged.hit@5", "0.667"]
    assert "| memorybench.ndcg@10 |" in markdown_relevance(report)
