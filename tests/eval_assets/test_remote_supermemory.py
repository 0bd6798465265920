"""A store and its searches at Supermemory, from the corpus to the report, and with faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.faults import Faults, Kind
from fakes.supermemory import FakeSupermemory
from projects import Box, part
from remote_projects import KEY_VARIABLE, remote_project


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, FakeSupermemory.key)


def table(box: Box, name: str, which: str | None = None) -> list[dict[str, object]]:
    with box.open() as session:
        key = part(name).key
        shelf = session.graph.shelf
        found = (
            shelf.table(session.instance, key, "chats", which) if which else shelf.frame(session.instance, key, "chats")
        )
        return list(found.rows(named=True))


def test_from_the_corpus_to_the_report(tmp_path: Path) -> None:
    with FakeSupermemory() as fake:
        box = remote_project(tmp_path, fake, "supermemory")
        done = box.refresh()
        assert not [failure for wave in done.waves for failure in wave.failures]
        results = table(box, "far/search_results")
        assert [row["status"] for row in results] == ["ok"] * 3
        first = results[0]["hits"][0]  # type: ignore[index]
        assert first["session_keys"] == [table(box, "corpus/haystacks")[0]["session_key"]]
        assert {row["status"] for row in table(box, "stores/there", "receipts")} == {"done"}
        assert fake.count("/search") == 3
        assert fake.stored_twice == fake.unchanged == 0
        assert not box.plan().work


class Losing(Faults):
    """Whatever else goes wrong, the first answers about what was sent are lost."""

    lost = 0

    def draw(self, what: str) -> Kind | None:
        if "/batch" in what and self.lost < 3:
            self.lost += 1
            return "lost"
        return super().draw(what)


@pytest.mark.parametrize("api", ["v5", "v4"])
def test_with_faults_nothing_is_stored_twice(tmp_path: Path, api: str) -> None:
    with FakeSupermemory(faults=Losing(share=0.3, seed=1)) as fake:
        settings = {"attempts": 10, "timeout_s": 0.5}
        box = remote_project(tmp_path, fake, "supermemory", ingest={"api": api}, service=settings)
        done = box.refresh()
        assert not [failure for wave in done.waves for failure in wave.failures]
        assert fake.faults.happened.total() > 10
        receipts = table(box, "stores/there", "receipts")
        assert {row["status"] for row in receipts} == {"done"}
        assert fake.stored_twice == 0
        assert len(fake.docs) == len(receipts)
        assert [row["status"] for row in table(box, "far/search_results")] == ["ok"] * 3
