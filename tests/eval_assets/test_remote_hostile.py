"""Replies made to hurt, from every service: rows with their error, never an exception, and nothing without bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from fakes.everyone import Service, at_once, everyone
from fakes.hostile import ALL, Hostility, Tagged, make_hostile
from fakes.server import Fake
from links import MANNERS, bench, built, linked, searched

from converters.errors import Told
from eval_assets.remote.system import RemoteSystem
from providers.remote.values import LONGEST_CONTENT, LONGEST_ID

MADE = bench(8, 2)
FEW_TRIES = replace(MANNERS, attempts=2, concurrency=2)
LONGEST_LINE = 1_000
SEEDS = int(os.environ.get("HOSTILE_SEEDS", "1"))


@contextmanager
def hostile(one: Service, folder: Path, how: Hostility) -> Iterator[RemoteSystem]:
    """A system whose service is as it should be until its answers are changed."""
    with (
        at_once(6),
        one.served(folder) as server,
        linked(
            server,  # type: ignore[arg-type]
            one.provider,
            folder,
            ingest=one.ingest,
            manners=FEW_TRIES,
        ) as system,
    ):
        assert system.link.wire is not None
        here = None if isinstance(server, Fake) else how
        if isinstance(server, Fake):
            make_hostile(server, how)
        yield RemoteSystem(replace(system.link, wire=Tagged(system.link.wire, here), concurrency=2))


def bounded(replies: pl.DataFrame) -> None:
    assert set(replies["status"]) <= {"ok", "empty", "degraded", "error"}
    for row in replies.iter_rows(named=True):
        assert (row["error"] is None) == (row["status"] in ("ok", "empty"))
        assert len(row["error"] or "") <= LONGEST_LINE
        assert "\n" not in (row["error"] or "")
        assert len(row["hits"]) <= 5
        for hit in row["hits"]:
            assert len(hit["content"]) <= LONGEST_CONTENT
            assert len(hit["provider_id"]) <= LONGEST_ID
            assert hit["score"] is None or abs(hit["score"]) < float("inf")


@everyone
def test_hostile_answers_to_searches(one: Service, tmp_path: Path) -> None:
    how = Hostility((), seed=0)
    with hostile(one, tmp_path, how) as system:
        store = built(system, MADE)
        how.purposes = ("search",)
        statuses = set()
        for turn in range(3):
            queries = MADE.queries.with_columns(text=MADE.queries["text"] + f" in turn {turn}")
            replies = system.search(store=store.tables, queries=queries, limit=5)
            bounded(replies)
            statuses |= set(replies["status"])
        assert set(how.made) == set(ALL)
        assert statuses >= {"ok", "error"}


@everyone
@pytest.mark.parametrize("seed", range(1, 1 + SEEDS))
def test_hostile_answers_about_what_was_stored(one: Service, seed: int, tmp_path: Path) -> None:
    how = Hostility(("status", "ingest"), seed=seed, share=0.4)
    with hostile(one, tmp_path, how) as system:
        store = built(system, MADE)
        receipts = store.tables["receipts"]
        assert receipts.height == MADE.documents.height
        for row in receipts.iter_rows(named=True):
            assert len(row["error"] or "") <= LONGEST_LINE
            assert all(len(own) <= LONGEST_ID for own in row["provider_ids"])
        how.share = 0.0
        bounded(searched(system, MADE, store))


@everyone
@pytest.mark.parametrize("seed", range(100, 100 + SEEDS))
def test_hostile_answers_to_anything(one: Service, seed: int, tmp_path: Path) -> None:
    """What ends the step is one line for a person, and the next run goes on."""
    how = Hostility(("prepare", "count", "clear", "status", "search"), seed=seed, share=0.3)
    with hostile(one, tmp_path, how) as system:
        for turn in range(3):
            try:
                bounded(searched(system, MADE, built(system, MADE)))
            except Told as error:
                assert len(str(error)) <= LONGEST_LINE
                assert "\n" not in str(error)
            how.seed = turn
