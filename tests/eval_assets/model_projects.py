"""A project with two systems over one store, whose reader and judges are models on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from asking import QUICK, model_of
from fakes.openai import FakeOpenAI
from projects import Box, chats, make_project, write_yaml

KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY")


def records(number: int) -> list[dict[str, Any]]:
    """LongMemEval's records of the tiny project, with questions of their own each."""
    made = []
    for index in range(number):
        record = json.loads(json.dumps(chats()[0]).replace("q1", f"asked{index}x"))
        record["question"] = f"Which dog do I have, number {index}?"
        record["haystack_sessions"][0][0]["content"] = f"I adopted a beagle called Bo{index}, a dog."
        made.append(record)
    return made


def model_project(root: Path, fake: FakeOpenAI, *, number: int = 4, systems: dict[str, Any] | None = None) -> Box:
    """Systems ``one`` and ``two`` (they differ in nothing) on the benchmark ``chats``: a reader, two judges."""
    box = make_project(root)
    box.chats.write_text(json.dumps(records(number)))
    judged = {"store": "turns", "reader": "small", "judges": ["strict", "other"], "retrieval": {"mode": "lexical"}}
    settings = {
        "stores": {"turns": {"provider": "local", "ingest": {"granularity": "turn"}}},
        "readers": {"small": {"model": "gpt_4o"}},
        "judges": {"strict": {"model": "gpt_5_mini"}, "other": {"model": "claude_sonnet", "prompts": "official"}},
        "systems": systems or {"one": judged, "two": judged},
        "targets": [{"systems": list(systems or {"one": 1, "two": 2}), "benchmarks": ["chats"]}],
    }
    write_yaml(box.systems_file, settings)
    names = ("gpt_4o", "gpt_5_mini", "claude_sonnet")
    models = {name: {**model_of(fake, name).model_dump(mode="json"), **QUICK} for name in names}
    write_yaml(root / "data" / "models.yaml", {"models": models})
    for record in records(number):
        fake.known_ids |= {record["question_id"], *record["haystack_session_ids"]}
    return box
