"""Every adapter, stopped dead before or after any of its calls, and resumed: nothing twice, nothing lost.

What ``test_remote_kill`` does to a process is done here to a wire, for all services: an exception that nobody may catch
ends the run, and a new one goes on with the same ledger.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

import polars as pl
import pytest
from fakes.everyone import EVERYONE, Server, Service, at_once
from links import Bench, bench, built, linked, searched

from eval_assets.remote.system import RemoteSystem
from providers.protocol import REPLIES, StoreBuild
from providers.remote.idmap import RECEIPTS
from providers.remote.wire import Read, Request, T, Wire

POINTS = int(os.environ.get("KILL_POINTS", "3"))
CONTAINERS, SESSIONS = 3, 3
ANIMALS = ("beagle", "heron", "walrus", "lizard", "hamster", "falcon", "oyster", "donkey", "moth")
DEEDS = ("sleeps in the garage", "eats saffron buns", "collects stamps")


def distinct() -> Bench:
    """No two hits are as good as each other, so that their order does not hang on the service's own ids."""
    made = bench(CONTAINERS, SESSIONS)
    texts = [f"my {one} {DEEDS[number % 3]}" for number, one in enumerate(ANIMALS)]
    said = [(text, "noted") for text in texts]
    asked = [f"which {ANIMALS[number * SESSIONS]} {DEEDS[0]}" for number in range(CONTAINERS)]
    return Bench(
        made.documents,
        made.turns.with_columns(content=pl.Series([text for pair in said for text in pair])),
        made.queries.with_columns(text=pl.Series(asked)),
    )


MADE = distinct()


class Killed(BaseException):
    """The end of everything."""


@dataclass
class Killing:
    """Counts calls; ``at`` is the one that is the last, carried out or not."""

    inner: Wire
    at: int | None = None
    after: bool = False
    made: int = 0

    def __post_init__(self) -> None:
        self._lock = Lock()

    def send(self, request: Request, read: Read[T]) -> T:
        with self._lock:
            number = self.made
            self.made += 1
        if self.at is not None and number >= self.at:
            if number == self.at and self.after:
                self.inner.send(request, read)
            raise Killed(str(number))
        return self.inner.send(request, read)


@contextmanager
def run(one: Service, server: Server, folder: Path, **how: int | bool) -> Iterator[tuple[RemoteSystem, Killing]]:
    folder.mkdir(exist_ok=True)
    with linked(server, one.provider, folder, ingest=one.ingest) as system:  # type: ignore[arg-type]
        assert system.link.wire is not None
        wire = Killing(system.link.wire, **how)  # type: ignore[arg-type]
        yield RemoteSystem(replace(system.link, wire=wire, concurrency=2)), wire


def meaning(store: StoreBuild, replies: pl.DataFrame) -> Mapping[str, str]:
    """Data versions; names that the service gives change with each filling, as they would for anybody."""
    hit = pl.element().struct
    without = replies.with_columns(hits=pl.col("hits").list.eval(hit.with_fields(provider_id=pl.lit(""))))
    return {"receipts": RECEIPTS.digest(store.tables["receipts"]), "replies": REPLIES.digest(without)}


def everything(one: Service, server: Server, folder: Path) -> tuple[Mapping[str, str], int]:
    with run(one, server, folder) as (system, wire):
        store = built(system, MADE)
        replies = searched(system, MADE, store, limit=1)
        assert replies["status"].to_list() == ["ok"] * 3
        return meaning(store, replies), wire.made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Mapping[str, str], int]]:
    """What uninterrupted runs gave, and how many calls they took; filled as it is needed."""
    return {}


@pytest.mark.parametrize("point", range(POINTS))
@pytest.mark.parametrize("one", EVERYONE, ids=lambda one: one.name)
def test_a_run_that_was_stopped_dead_is_resumed(
    whole: dict[str, tuple[Mapping[str, str], int]], one: Service, point: int, tmp_path: Path
) -> None:
    with at_once(60):
        if one.name not in whole:
            with one.served(tmp_path / "whole") as server:
                whole[one.name] = everything(one, server, tmp_path / "uninterrupted")
        wanted, calls = whole[one.name]
        chance = random.Random(f"{one.name} {point}")
        with one.served(tmp_path / "killed") as server:
            at, after = chance.randrange(calls), chance.random() < 0.7
            with run(one, server, tmp_path / "run", at=at, after=after) as (system, _), pytest.raises(Killed):
                searched(system, MADE, built(system, MADE), limit=1)
            found, _ = everything(one, server, tmp_path / "run")
            assert found == wanted
            assert server.stored_twice == 0
            # All of it once more asks for nothing but whether everything is still there.
            assert everything(one, server, tmp_path / "run")[0] == wanted
            assert server.stored_twice == 0
