"""Milliseconds, tokens and money."""

from __future__ import annotations

from statistics import mean, median, quantiles

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import judgments

from judges.statistics.usage import Latency, Price, Usage, latencies, latency, usage

TIMES = st.floats(0, 1e7)


@given(st.lists(st.none() | TIMES, min_size=2, max_size=60).filter(lambda found: sum(t is not None for t in found) > 1))
def test_latency_is_what_the_standard_library_computes(values: list[float | None]) -> None:
    known = [value for value in values if value is not None]
    cuts = quantiles(known, n=100, method="inclusive")
    found = latency(pl.Series(values, dtype=pl.Float64))
    assert found == Latency(
        n=len(known),
        min=min(known),
        mean=pytest.approx(mean(known)),
        median=pytest.approx(median(known)),
        p95=pytest.approx(cuts[94]),
        p99=pytest.approx(cuts[98]),
        max=max(known),
    )


def test_without_a_figure_there_is_none() -> None:
    for values in ([], [None], [float("nan")]):
        assert latency(pl.Series(values, dtype=pl.Float64)) == Latency(0)
    assert latency(pl.Series([5.0])) == Latency(1, 5, 5, 5, 5, 5, 5)
    assert latencies({}) == {}


def test_the_total_is_of_questions_that_went_through_every_phase() -> None:
    def phase(*times: float | None) -> pl.DataFrame:
        return pl.DataFrame({"question_id": [f"q{n}" for n in range(len(times))], "latency_ms": times})

    found = latencies({"search": phase(1.0, 2.0, 3.0, float("nan")), "answer": phase(10.0, None, 30.0, 40.0)})
    assert [(name, row.n, row.min, row.max) for name, row in found.items()] == [
        ("search", 3, 1, 3),
        ("answer", 3, 10, 40),
        ("total", 2, 11, 33),
    ]


def test_tokens_and_money() -> None:
    table = judgments([True, False, "error", "not_run"]).with_columns(
        input_tokens=pl.Series([4_000_000_000, 1_000_000_000, None, None], dtype=pl.UInt32),
        output_tokens=pl.Series([10, 20, None, None], dtype=pl.UInt32),
    )
    found = usage(table, Price(2.5, 10))
    assert found == Usage(2, 1, 5_000_000_000, 30, pytest.approx(12_500.0003, abs=1e-9))
    assert usage(table).usd is None
    assert usage(table.tail(2), Price(2.5, 10)) == Usage(0, 1)
    assert usage(table.tail(1)) == Usage(0, 0)
