"""Calls and containers to put into a ledger."""

from __future__ import annotations

import json
from typing import Any

from eval_assets.ledger.ledger import Call, CallStatus, ContainerRow

ENGINES = ("sqlite", "postgres")


def a_call(key: str | None, status: CallStatus = "usable", reply: Any = None, **more: Any) -> Call:
    answer = json.dumps(reply) if status == "usable" and key else None
    return Call("far 1", "search", "GET /search", status, key, reply=answer, latency_ms=12.5, **more)


def a_container(name: str = "c1", build: int = 1, **more: Any) -> ContainerRow:
    values = {"store": "there", "benchmark": "chats", "state": "open", "handle": {"id": "x/1"}, "counted": None}
    return ContainerRow("far 1", name, build=build, **{**values, **more})


def stored(kind: str, **values: Any) -> dict[str, Any]:
    """A row as the database has it."""
    return {"service": "far 1", **_BLANK[kind], **values}


_BLANK: dict[str, dict[str, Any]] = {
    "container": {"store": "there", "benchmark": "chats", "handle": "{}", "counted": None},
    "document": {"build": 1, "ticket": None, "error": None, "retryable": 0, "settled_at": None},
    "call": {
        "purpose": "search",
        "endpoint": "GET /search",
        "latency_ms": None,
        "input_tokens": None,
        "output_tokens": None,
        "cost_usd": None,
        "request": None,
    },
}
