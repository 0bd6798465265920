"""Where questions went wrong."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from boards import Ask, scored
from judged import judgments

from converters.tables import ANSWERS, JUDGMENTS
from judges.statistics.buckets import BUCKETS, bucket_counts, buckets

BOTH = Ask(["s9", "s1", "s2"], ["s1", "s2"])
HALF = Ask(["s1"], ["s1", "s2"])
NO_EVIDENCE = Ask(["s1"], [], abstention=True)
NO_SEARCH = Ask([], ["s1"], status="error")
NO_HITS = Ask([], ["s1"])

RIGHT, NOT_RETRIEVED, ANSWERED_WRONG, UNREADABLE, FAILED = BUCKETS
CASES: list[tuple[Ask, bool | str, str, str]] = [
    (BOTH, True, "ok", RIGHT),
    (HALF, True, "ok", RIGHT),
    (NO_EVIDENCE, True, "ok", RIGHT),
    (BOTH, False, "ok", ANSWERED_WRONG),
    (NO_EVIDENCE, False, "ok", ANSWERED_WRONG),
    (HALF, False, "ok", NOT_RETRIEVED),
    (NO_HITS, False, "ok", NOT_RETRIEVED),
    (HALF, "empty", "empty", NOT_RETRIEVED),
    (BOTH, "empty", "empty", ANSWERED_WRONG),
    (BOTH, "error", "ok", UNREADABLE),
    (HALF, "degraded", "ok", UNREADABLE),
    (BOTH, "not_run", "ok", FAILED),
    (BOTH, "error", "error", FAILED),
    (BOTH, "error", "not_run", FAILED),
    (NO_SEARCH, False, "ok", FAILED),
]


def answers(*statuses: str) -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {"question_id": f"q{place}", "status": status, "retryable": False, "answer": "a" if status == "ok" else None}
        for place, status in enumerate(statuses)
    ]
    return ANSWERS.validate(pl.DataFrame(rows, schema=ANSWERS.empty.schema))


def test_each_kind_of_question() -> None:
    asks, labels, statuses, expected = zip(*CASES, strict=True)
    found = buckets(scored(*asks), judgments(labels), answers(*statuses))
    assert found["bucket"].to_list() == list(expected)
    counts = bucket_counts(found)
    assert list(counts) == list(BUCKETS)
    assert sum(counts.values()) == len(CASES)


def test_without_answers_a_failed_judgment_is_the_judges() -> None:
    found = buckets(scored(BOTH, BOTH), judgments(["error", True]))
    assert found["bucket"].to_list() == [UNREADABLE, RIGHT]


@pytest.mark.parametrize("table", ["judgments", "answers"])
def test_a_question_without_a_row_failed(table: str) -> None:
    known = {"judgments": judgments([True]), "answers": answers("ok")}
    empty = {"judgments": JUDGMENTS.empty, "answers": ANSWERS.empty}[table]
    assert buckets(scored(BOTH), **{**known, table: empty})["bucket"].to_list() == [FAILED]


def test_no_questions() -> None:
    assert bucket_counts(buckets(scored(), JUDGMENTS.empty)) == dict.fromkeys(BUCKETS, 0)
