"""What a phase (search, answer, judge) took: milliseconds, tokens and money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Final

import numpy as np
import polars as pl

TOTAL: Final = "total"
_PERCENTILES: Final = (0, 50, 95, 99, 100)
_MILLION: Final = 1_000_000


@dataclass(frozen=True)
class Latency:
    """Milliseconds over the ``n`` questions that have a figure; null where none has.

    Percentiles interpolate linearly between the two nearest values (Hyndman & Fan 1996, type 7; numpy's default).
    """

    n: int
    min: float | None = None
    mean: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


def latency(milliseconds: pl.Series) -> Latency:
    """Summarise a column; nulls are left out, and ``n`` says how many are left."""
    known = milliseconds.cast(pl.Float64).fill_nan(None).drop_nulls().to_numpy()
    if not len(known):
        return Latency(0)
    least, median, p95, p99, most = (float(value) for value in np.percentile(known, _PERCENTILES))
    return Latency(len(known), least, float(known.mean()), median, p95, p99, most)


def latencies(phases: Mapping[str, pl.DataFrame]) -> dict[str, Latency]:
    """Summarise ``latency_ms`` of each phase's table (one row a question), and of their sum as ``total``.

    The total covers the questions that have a figure in every phase: others would pull it down by what they never did.
    """
    found = {phase: latency(table["latency_ms"]) for phase, table in phases.items()}
    if not phases:
        return found
    rows = pl.concat([table.select("question_id", "latency_ms") for table in phases.values()])
    known = rows.with_columns(pl.col("latency_ms").fill_nan(None)).drop_nulls("latency_ms")
    sums = known.group_by("question_id").agg(pl.col("latency_ms").sum(), n=pl.len())
    return {**found, TOTAL: latency(sums.filter(pl.col("n") == len(phases)).sort("question_id")["latency_ms"])}


@dataclass(frozen=True)
class Price:
    """US dollars a million tokens."""

    input: float
    output: float


@dataclass(frozen=True)
class Usage:
    """Tokens and money of a phase.

    Attributes:
        n: questions whose tokens are known.
        n_unknown: questions that were asked, and whose tokens are not: with any, the sums are lower bounds.
        input_tokens: sum over ``n``; null where it is 0.
        output_tokens: likewise.
        usd: what they cost: as it was recorded with each, else by the price; null where neither is known.
    """

    n: int
    n_unknown: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float | None = None


def usage(table: pl.DataFrame, price: Price | None = None) -> Usage:
    """Add up ``Answers`` or ``Judgments``; a question that was not run used nothing."""
    asked = table.filter(pl.col("status") != "not_run")
    known = asked.drop_nulls(["input_tokens", "output_tokens"])
    unknown = asked.height - known.height
    if known.is_empty():
        return Usage(0, unknown)
    # The columns are 32 bits wide; a sum over many questions may not be.
    used = known.with_columns(pl.col("input_tokens", "output_tokens").cast(pl.Int64))
    priced = pl.lit(None, dtype=pl.Float64)
    if price is not None:
        priced = (pl.col("input_tokens") * price.input + pl.col("output_tokens") * price.output) / _MILLION
    costs = used.select(pl.coalesce("cost_usd", priced)).to_series().drop_nulls()
    return Usage(
        known.height,
        unknown,
        int(used["input_tokens"].sum()),
        int(used["output_tokens"].sum()),
        fsum(costs) if len(costs) else None,
    )


def add_up(parts: Iterable[Usage]) -> Usage:
    """Several phases together."""
    found = list(parts)

    def total(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fsum(known) if known else None

    tokens_in, tokens_out = (total(getattr(one, name) for one in found) for name in ("input_tokens", "output_tokens"))
    return Usage(
        sum(one.n for one in found),
        sum(one.n_unknown for one in found),
        None if tokens_in is None else int(tokens_in),
        None if tokens_out is None else int(tokens_out),
        total(one.usd for one in found),
    )
