"""What an event says of answers or judgments: statuses, tokens, money and time."""

from __future__ import annotations

from typing import Any

import polars as pl

from eval_assets.stored import RETRYABLE


def facts_of(frame: pl.DataFrame) -> dict[str, Any]:
    """Of ``Answers`` or ``Judgments``."""
    facts: dict[str, Any] = {
        "questions": frame.height,
        **{f"status {status}": count for status, count in frame.group_by("status").len().sort("status").iter_rows()},
        RETRYABLE: int(frame["retryable"].sum()),
    }
    latency = frame["latency_ms"].drop_nulls()
    if latency.len():
        facts |= {
            "latency p50 (ms)": round(float(latency.quantile(0.5) or 0), 1),
            "latency p95 (ms)": round(float(latency.quantile(0.95) or 0), 1),
        }
    for name, column in (("input tokens", "input_tokens"), ("output tokens", "output_tokens")):
        if frame[column].count():
            facts[name] = int(frame[column].cast(pl.Int64).sum())
    if frame["cost_usd"].count():
        facts["cost (USD)"] = round(float(frame["cost_usd"].sum()), 6)
    return facts
