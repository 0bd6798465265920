"""Synap from the corpus to the report, also over a bad line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fakes.connect import FAST
from fakes.faults import Faults
from fakes.synap import FakeSynap
from projects import Box, part
from remote_projects import KEY_VARIABLE, remote_project

from eval_assets.ledger.ledger import Ledger
from eval_assets.remote.documents import Planned
from eval_assets.remote.fill import Filler
from eval_assets.remote.link import Link
from providers.registry import PROVIDERS
from providers.remote.access import Access
from providers.remote.pieces import Piece
from providers.remote.service import Document, Message


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, FakeSynap.key)


def table(box: Box, name: str, which: str | None = None) -> pl.DataFrame:
    with box.open() as session:
        key = part(name).key
        if which:
            return session.graph.shelf.table(session.instance, key, "chats", which)
        return session.graph.shelf.frame(session.instance, key, "chats")


def test_from_the_corpus_to_the_report(tmp_path: Path) -> None:
    with FakeSynap() as fake:
        fake.excerpts = True
        box = remote_project(tmp_path, fake, "synap")
        done = box.refresh()
        assert not [failure for wave in done.waves for failure in wave.failures]
        results = table(box, "far/search_results")
        assert results["status"].to_list() == ["ok"] * 3
        hits = results.row(0, named=True)["hits"]
        assert hits[0]["session_keys"] == [table(box, "corpus/haystacks")["session_key"][0]]
        assert all(hit["session_keys"] for hit in hits)
        receipts = table(box, "stores/there", "receipts")
        assert receipts["status"].unique().to_list() == ["done"]
        assert receipts["provider_ids"].list.len().unique().to_list() == [2]
        assert (fake.count("/fetch"), fake.undated, fake.stored_twice) == (3, 0, 0)
        assert not box.plan().work


def test_over_a_bad_line_nothing_is_stored_twice(tmp_path: Path) -> None:
    faults = Faults(share=0.3, seed=7, only=["/memories", "/fetch", "/data/delete"])
    with FakeSynap(faults=faults) as fake:
        box = remote_project(tmp_path, fake, "synap", service={"attempts": 12, "timeout_s": 0.5})
        done = box.refresh()
        assert not [failure for wave in done.waves for failure in wave.failures]
        assert table(box, "far/search_results")["status"].to_list() == ["ok"] * 3
        assert len(fake.stored) == table(box, "stores/there", "receipts").height
        assert fake.stored_twice == 0
        assert faults.happened.total() > 3


def test_a_batch_without_an_answer_begins_its_container_anew(tmp_path: Path) -> None:
    documents = [Document(f"s{index}", [Message("user", f"tea {index}")]) for index in range(3)]
    plan = [Planned(Piece(one, 0, 0), one.id, one.id) for one in documents]
    entry = PROVIDERS["synap"]
    ingest = entry.ingest_settings({})
    with FakeSynap(faults=Faults(1.0, kinds=["lost"], only=["/memories/batch"], first=1)) as fake:
        wire = entry.open_wire(ingest, Access(fake.url, fake.key, FAST))
        ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
        link = Link(entry, ingest, None, wire, ledger, "record", "there", "chats")
        filled = Filler(link, "c0ffee", plan, lambda _: None, lambda: False).fill()
        assert [filled.documents[one.id].state for one in plan] == ["done"] * 3
        assert len(fake.stored) == 3
        assert [one.body["dry_run"] for one in fake.seen if one.path == "/v1/data/delete"].count(False) == 1
        assert fake.stored_twice == 0
        ledger.close()
        wire.close()  # type: ignore[attr-defined]
