"""A store and its searches at a service, from the corpus to the report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fakes.zengram import FakeZengram
from projects import Box, part
from remote_projects import KEY_VARIABLE, remote_project


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, FakeZengram.key)


def table(box: Box, name: str, which: str | None = None) -> pl.DataFrame:
    with box.open() as session:
        key = part(name).key
        if which:
            return session.graph.shelf.table(session.instance, key, "chats", which)
        return session.graph.shelf.frame(session.instance, key, "chats")


def test_from_the_corpus_to_the_report(tmp_path: Path) -> None:
    with FakeZengram() as fake:
        box = remote_project(tmp_path, fake, "zengram")
        done = box.refresh()
        assert not [failure for wave in done.waves for failure in wave.failures]
        results = table(box, "far/search_results")
        assert results["status"].to_list() == ["ok"] * 3
        haystacks = table(box, "corpus/haystacks")
        first = results.row(0, named=True)["hits"][0]
        assert first["session_keys"] == [haystacks["session_key"][0]]
        assert first["turns"] == [0, 1]
        assert table(box, "stores/there", "receipts")["status"].unique().to_list() == ["done"]
        searches = fake.count("/memory/search")
        assert searches == 3
        assert not box.plan().work
