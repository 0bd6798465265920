"""A project whose store is at a service on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fakes.server import Fake
from projects import Box, chats, make_project, write_yaml

KEY_VARIABLE = "FAKE_SERVICE_KEY"
FAST: dict[str, Any] = {
    "backoff_s": 0.01,
    "timeout_s": 2.0,
    "deadline_s": 20.0,
    "index_deadline_s": 10.0,
    "requests_per_minute": 10**6,
    "key_env": KEY_VARIABLE,
}


def remote_project(
    root: Path,
    fake: Fake,
    provider: str,
    *,
    ingest: dict[str, Any] | None = None,
    retrieval: dict[str, Any] | None = None,
    isolation: str = "isolated",
    service: dict[str, Any] | None = None,
    records: list[dict[str, Any]] | None = None,
) -> Box:
    """A project with one remote system, ``far``, on the benchmark ``chats``."""
    box = make_project(root)
    box.chats.write_text(json.dumps(records or chats()))
    settings = {
        "stores": {
            "there": {
                "provider": provider,
                "isolation": isolation,
                "ingest": ingest or {},
                "service": {**FAST, "base_url": fake.url, **(service or {})},
            }
        },
        "systems": {"far": {"store": "there", "limit": 10, "retrieval": retrieval or {}}},
        "targets": [{"systems": ["far"], "benchmarks": ["chats"]}],
    }
    write_yaml(box.systems_file, settings)
    for record in records or chats():
        fake.known_ids |= {record["question_id"], *record["haystack_session_ids"]}
    return box
