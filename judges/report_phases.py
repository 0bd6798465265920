"""What a report says of time, tokens and money, a phase a line. No metric is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import polars as pl

from judges.report_values import NOTHING, cell, markdown_table, one_line, text_table
from judges.statistics.usage import TOTAL, Latency, Price, Usage, add_up, latencies, usage

SEARCH: Final = "search"
ANSWER: Final = "answer"
JUDGE: Final = "judge"
RELEVANCE: Final = "relevance"
_TIMES: Final = tuple(one.name for one in fields(Latency))
_HEAD: Final = ("phase", "n", *(f"{name} ms" for name in _TIMES[1:]), "tokens in", "tokens out", "USD")
_WIDTH: Final = 40


@dataclass(frozen=True)
class Phase:
    """What was done for each question, and its table.

    Attributes:
        name: search, answer, judge and whose, or relevance.
        table: question_id and latency_ms; of a model also the other columns of ``Answers`` or ``Judgments``.
        asks_model: whether tokens were used.
        price: of the model, for calls whose cost was not recorded.
        in_total: whether its time is in the total's: a second judge's is not.
    """

    name: str
    table: pl.DataFrame
    asks_model: bool = False
    price: Price | None = None
    in_total: bool = True


@dataclass(frozen=True)
class Spent:
    """What a phase took; ``usage`` is null where no model was asked."""

    latency: Latency
    usage: Usage | None = None


def spent(phases: Sequence[Phase]) -> dict[str, Spent]:
    """Each phase, then ``total``.

    The total's time is the sum of the phases that have any figure (a reader without a model has none), with one judge
    alone; its tokens and money are those of all phases.
    """
    found = {
        phase.name: Spent(
            latencies({phase.name: phase.table})[phase.name],
            usage(phase.table, phase.price) if phase.asks_model else None,
        )
        for phase in phases
    }
    timed = {phase.name: phase.table for phase in phases if phase.in_total and found[phase.name].latency.n}
    used = [one.usage for one in found.values() if one.usage]
    total = Spent(latencies(timed).get(TOTAL, Latency(0)), add_up(used) if used else None)
    return {**found, TOTAL: total}


def phases_table(found: Mapping[str, Spent]) -> str:
    """Plain text: a line a phase; empty where no figure is known."""
    lines = [[one_line(name, _WIDTH), *_cells(one)] for name, one in found.items()]
    return "\n".join(text_table(_HEAD, lines)) if _any(found) else ""


def markdown_phases(found: Mapping[str, Spent]) -> str:
    """The same as a Markdown table."""
    return markdown_table(_HEAD, [[cell(name, _WIDTH), *_cells(one)] for name, one in found.items()])


def phases_json(found: Mapping[str, Spent]) -> dict[str, dict[str, Any]]:
    """For machines: ``latency_ms`` as in ``Latency``, and ``usage`` as in ``Usage``."""
    return {
        name: {"latency_ms": asdict(one.latency), "usage": asdict(one.usage) if one.usage else None}
        for name, one in found.items()
    }


def _any(found: Mapping[str, Spent]) -> bool:
    return any(one.latency.n or (one.usage and one.usage.n) for one in found.values())


def _cells(one: Spent) -> list[str]:
    times = (getattr(one.latency, name) for name in _TIMES[1:])
    return [str(one.latency.n), *(NOTHING if time is None else f"{time:.1f}" for time in times), *_used(one.usage)]


def _used(one: Usage | None) -> list[str]:
    if one is None or not one.n:
        return [NOTHING] * 3
    bound = ">= " if one.n_unknown else ""
    return [
        f"{bound}{one.input_tokens}",
        f"{bound}{one.output_tokens}",
        NOTHING if one.usd is None else f"{bound}{one.usd:.4f}",
    ]
