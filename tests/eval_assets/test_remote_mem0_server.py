"""A store and its searches at a server of Mem0 that a team runs itself, from the corpus to the report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fakes.faults import ALL, Faults
from fakes.mem0_server import FakeMem0Server
from projects import Box, part
from remote_projects import KEY_VARIABLE, remote_project

# "late" is "lost" with a wait.
KINDS = [kind for kind in ALL if kind != "late"]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, FakeMem0Server.key)


def table(box: Box, name: str, which: str | None = None) -> pl.DataFrame:
    with box.open() as session:
        key = part(name).key
        if which:
            return session.graph.shelf.table(session.instance, key, "chats", which)
        return session.graph.shelf.frame(session.instance, key, "chats")


def test_from_the_corpus_to_the_report(tmp_path: Path) -> None:
    with FakeMem0Server() as fake:
        box = remote_project(tmp_path, fake, "mem0_server")
        done = box.refresh()
        assert not [failure for wave in done.waves for failure in wave.failures]
        results = table(box, "far/search_results")
        assert results["status"].to_list() == ["ok"] * 3
        haystacks = table(box, "corpus/haystacks")
        first = results.row(0, named=True)["hits"][0]
        assert first["session_keys"] == [haystacks["session_key"][0]]
        assert first["turns"] is None
        assert table(box, "stores/there", "receipts")["status"].unique().to_list() == ["done"]
        assert (fake.count("/search"), fake.count("POST /memories")) == (3, 7)
        assert not box.plan().work


def test_faults_leave_it_complete_or_the_rows_marked(tmp_path: Path) -> None:
    faults = Faults(0.3, KINDS, seed=1, only=["POST", "DELETE"])
    with FakeMem0Server(faults=faults) as fake:
        box = remote_project(tmp_path, fake, "mem0_server", service={"attempts": 12})
        box.refresh()
        receipts, results = table(box, "stores/there", "receipts"), table(box, "far/search_results")
        lacking = set(receipts.filter(pl.col("status").is_in(["failed", "pending"]))["container"])
        assert receipts.filter(pl.col("status") == "skipped").is_empty()
        assert results.height == 3
        assert (results["status"] == "error").sum() == len(lacking)
        assert fake.stored_twice == 0
        assert faults.happened.total() > 0
