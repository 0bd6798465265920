"""What leaves for a provider: text, dates and containers, and nothing that tells the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import polars as pl
from projects import Box, chats, write_yaml
from scripted import SETTINGS, Script

OPAQUE = re.compile(r"[0-9a-f]{32,64}")
TEXTS = {"content", "text"}
ATTRIBUTES = {"type", "key", "subject", "importance", "knowledge_category", "category", "confidence", "metadata"}


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of what was received, with its column's name."""
    if isinstance(value, pl.DataFrame):
        for row in value.iter_rows(named=True):
            yield from leaves(row)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, key)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from leaves(one, name)
    else:
        yield name, value


def received(box: Box, script: Script, isolation: str, benchmark: str) -> list[tuple[str, Any]]:
    store = {"provider": "scripted", "isolation": isolation, "revision": 2}
    targets = [{"systems": ["first"], "benchmarks": [benchmark]}]
    write_yaml(box.systems_file, {**SETTINGS, "stores": {"notes": store}, "targets": targets})
    done = box.refresh(to="search", benchmarks=[benchmark])
    assert not done.failures
    assert (script.builds, script.searches) == (1, 1)
    return [leaf for value in script.received for leaf in leaves(value)]


def test_longmemeval_tells_text_dates_and_containers(scripted_copy: Box, script: Script) -> None:
    records = chats()
    said = {turn["content"] for record in records for session in record["haystack_sessions"] for turn in session}
    said |= {record["question"] for record in records}
    gold = {name for record in records for name in (record["question_id"], *record["haystack_session_ids"])}
    found = received(scripted_copy, script, "isolated", "chats")
    assert {value for name, value in found if name in TEXTS} == said
    assert {value for name, value in found if name in ATTRIBUTES} == {None}
    for name, value in found:
        if isinstance(value, str) and name not in TEXTS:
            assert OPAQUE.fullmatch(value) or value in ("user", "assistant"), (name, value)
        assert value not in gold
        assert isinstance(value, str | int | float | datetime | None), (name, value)
    assert not any("answer" in value for name, value in found if isinstance(value, str))


def test_a_fixture_tells_its_owners_ids_behind_the_container(scripted_copy: Box, script: Script) -> None:
    found = received(scripted_copy, script, "global", "tiny")
    ids = [value for name, value in found if name == "document_id"]
    assert all(re.fullmatch(r"[0-9a-f]{32}:[abcd]", value) for value in ids)
    for name, value in found:
        if isinstance(value, str) and name not in TEXTS | ATTRIBUTES | {"document_id"}:
            assert OPAQUE.fullmatch(value) or value == "memory", (name, value)
