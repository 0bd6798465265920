"""A project whose store is at a service on loopback, and one with a store at each of several."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fakes.server import Fake
from projects import Box, chats, make_project, part, write_yaml

from eval_assets.cli.session import Session
from eval_assets.refresh import Refresh

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


def table(box: Box, name: str, which: str | None = None) -> pl.DataFrame:
    """What is stored of a part on the benchmark ``chats``."""
    with box.open() as session:
        return _table(session, name, which)


@dataclass(frozen=True)
class Far:
    """A store at a service and its one system, both of the same name; without a fake it runs in this process."""

    provider: str
    fake: Fake | None = None
    ingest: Mapping[str, Any] = field(default_factory=dict)
    retrieval: Mapping[str, Any] = field(default_factory=dict)
    service: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Several:
    """A project that was refreshed, as it is opened, and what happened."""

    box: Box
    done: Refresh
    far: Mapping[str, Far]
    session: Session

    def table(self, name: str, which: str | None = None) -> pl.DataFrame:
        return _table(self.session, name, which)

    def failures(self, name: str) -> list[str]:
        """Of a system or its store."""
        own = (f"{name}/", f"stores/{name} ")
        return [one.line for one in self.done.failures if str(one.part).startswith(own)]


@contextmanager
def several(root: Path, far: Mapping[str, Far], *, to: str | None = None) -> Iterator[Several]:
    """All of them in one project, refreshed once: most of a refresh's time is the same for one and for ten."""
    box = make_project(root)
    stores, systems = {}, {}
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setenv(KEY_VARIABLE, Fake.key)
        for name, one in far.items():
            stores[name] = {"provider": one.provider, "ingest": dict(one.ingest)}
            if one.fake is not None:
                stack.enter_context(one.fake)
                stores[name] |= {
                    "isolation": "isolated",
                    "service": {**FAST, "base_url": one.fake.url, **one.service},
                }
                for record in chats():
                    one.fake.known_ids |= {record["question_id"], *record["haystack_session_ids"]}
            systems[name] = {"store": name, "limit": 10, "retrieval": dict(one.retrieval)}
        targets = [{"systems": list(far), "benchmarks": ["chats"]}]
        write_yaml(box.systems_file, {"stores": stores, "systems": systems, "targets": targets})
        done = box.refresh(to=to)
        yield Several(box, done, far, stack.enter_context(box.open()))


def _table(session: Session, name: str, which: str | None) -> pl.DataFrame:
    key = part(name).key
    if which:
        return session.graph.shelf.table(session.instance, key, "chats", which)
    return session.graph.shelf.frame(session.instance, key, "chats")
