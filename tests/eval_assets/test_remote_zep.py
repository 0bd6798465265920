"""Zep from the corpus to the report, in both versions, also over a bad line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fakes.faults import Faults
from fakes.zep import FakeZep
from fakes.zep_graph import ZepGraph
from fakes.zep_v3 import FakeZepV3
from projects import Box, part
from remote_projects import KEY_VARIABLE, remote_project


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, ZepGraph.key)


def table(box: Box, name: str, which: str | None = None) -> pl.DataFrame:
    with box.open() as session:
        key = part(name).key
        if which:
            return session.graph.shelf.table(session.instance, key, "chats", which)
        return session.graph.shelf.frame(session.instance, key, "chats")


@pytest.mark.parametrize(
    ("api", "mode", "scope", "searches"),
    [("v4", "messages", "edges", 6), ("v3", "messages", "episodes", 3)],
)
def test_from_the_corpus_to_the_report(tmp_path: Path, api: str, mode: str, scope: str, searches: int) -> None:
    with FakeZep() if api == "v4" else FakeZepV3() as fake:
        box = remote_project(tmp_path, fake, "zep", ingest={"api": api, "mode": mode}, retrieval={"scope": scope})
        done = box.refresh()
        assert not [failure for wave in done.waves for failure in wave.failures]
        results = table(box, "far/search_results")
        assert results["status"].to_list() == ["ok"] * 3
        hits = results.row(0, named=True)["hits"]
        beagle = next(hit for hit in hits if "I adopted a beagle" in hit["content"])
        assert beagle["session_keys"] == [table(box, "corpus/haystacks")["session_key"][0]]
        assert all(hit["session_keys"] for hit in hits)
        receipts = table(box, "stores/there", "receipts")
        assert receipts["status"].unique().to_list() == ["done"]
        assert len(fake.users) == 3 and fake.stored_twice == 0
        asked = [one for one in fake.seen if "search" in one.path or ("/episodes/list" in one.path and one.body)]
        assert len(asked) == searches
        assert not box.plan().work


@pytest.mark.parametrize(
    ("api", "more"),
    [("v4", {"remembers": False}), ("v3", {})],
    ids=["v4 that forgets keys", "v3"],
)
def test_over_a_bad_line_nothing_is_stored_twice(tmp_path: Path, api: str, more: dict[str, Any]) -> None:
    faults = Faults(share=0.3, seed=3)
    with FakeZep(faults=faults, **more) if api == "v4" else FakeZepV3(faults=faults) as fake:
        # One call at a time, so that the same requests fail in every run.
        service = {"attempts": 12, "timeout_s": 0.5, "concurrency": 1}
        box = remote_project(tmp_path, fake, "zep", ingest={"api": api}, service=service)
        done = box.refresh()
        assert not [failure for wave in done.waves for failure in wave.failures]
        assert table(box, "far/search_results")["status"].to_list() == ["ok"] * 3
        receipts = table(box, "stores/there", "receipts")
        assert receipts["status"].unique().to_list() == ["done"]
        sent = [thread for thread in fake.threads.values() if thread.messages]
        assert len(sent) == receipts.height and fake.stored_twice == 0
        assert faults.happened.total() > 10
