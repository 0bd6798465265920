"""What the tests of Zep share: servers of both versions, and documents."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.zep import FakeZep
from fakes.zep_graph import ZepGraph
from fakes.zep_v3 import FakeZepV3

from providers.remote.service import Document, Message, Receipt, RemoteService, Scope

NAME = "c0ffee"
V3 = {"api": "v3"}
MAKING = ("POST /api/v4/users", "POST /api/v2/users")


@pytest.fixture(params=["v4", "v3"])
def either(request: pytest.FixtureRequest) -> Iterator[tuple[ZepGraph, dict[str, Any]]]:
    with FakeZep() if request.param == "v4" else FakeZepV3() as server:
        yield server, {"api": request.param}


@pytest.fixture
def fake() -> Iterator[FakeZep]:
    with FakeZep() as server:
        yield server


def said_in(fake: FakeZep, scope: Scope, texts: dict[str, str]) -> None:
    """Put threads of one message each into the store."""
    for name, text in texts.items():
        thread = fake.add_thread(fake.users[scope.handle["user"]], fake.new())
        message = {"role": "user", "content": text, "metadata": {"session_id": name}}
        work = fake.add_messages(thread, [message], "reference_time")
        for _ in range(fake.index_after):
            fake.look(work)


def document(name: str, text: str, day: int = 20) -> Document:
    messages = [Message("user", text), Message("assistant", "I see.")]
    return Document(name, messages, datetime(2023, 5, day, 2, 21, tzinfo=UTC))


def long_document(name: str, turns: int) -> Document:
    return Document(name, [Message("user", f"turn {index} of {name}") for index in range(turns)])


def settled(service: RemoteService, scope: Scope, receipts: list[Receipt]) -> list[Receipt]:
    for _ in range(20):
        receipts = list(service.settle(scope, receipts))
        if all(one.status != "pending" for one in receipts):
            return receipts
    raise AssertionError("still pending")
