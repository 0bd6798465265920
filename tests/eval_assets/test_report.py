"""The report of a system whose answers are read and judged here, without a model."""

from __future__ import annotations

import json
from collections.abc import Callable

from click.testing import Result
from projects import Box

Command = Callable[..., Result]


def test_a_report_of_judged_answers(fresh: Box, command: Command) -> None:
    fresh.edit_systems({"systems": {"bm25": {"reader": "extractive", "judges": ["lexical"]}}})
    fresh.refresh(systems=("bm25",), benchmarks=("chats",))
    told = fresh.events()["bm25/report [chats]"].metadata
    tables = ("metrics", "answers", "where questions went wrong", "time, tokens and money")
    assert [name for name in tables if name not in told] == []
    assert "accuracy, judge: lexical (compares words, asks no model)" in told["metrics"]
    assert "accuracy" not in told
    assert 0 <= told["accuracy[lexical]"] <= 1
    board = fresh.events()["leaderboard"].metadata
    assert "chats/bm25 accuracy[lexical]" in board
    assert "asks no model" in board["standings"]

    text = command(fresh, "report", "bm25", "chats").stdout
    assert text.splitlines()[-1].startswith("HEADLINE  hit@5=")
    machine = json.loads(command(fresh, "report", "bm25", "chats", "--json").stdout)
    assert sum(machine["buckets"]["lexical"]["counts"].values()) == 3
    phases = machine["phases"]
    assert list(phases) == ["search", "answer", "judge lexical", "total"]
    assert (phases["search"]["latency_ms"]["n"], phases["total"]["latency_ms"]["n"]) == (3, 3)
    assert {name: phase["usage"] for name, phase in phases.items()} == dict.fromkeys(phases)
