"""mem0's library, for real, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from links import MANNERS, bench, built, searched

from eval_assets.ledger.ledger import Ledger
from eval_assets.project import Project
from eval_assets.remote.access import access_to
from eval_assets.remote.link import Link
from eval_assets.remote.system import RemoteSystem
from eval_assets.settings_systems import Store
from providers import mem0_oss
from providers.local import embedding
from providers.mem0_oss import wire as wires
from providers.mem0_oss.wire import LibraryWire
from providers.registry import PROVIDERS
from providers.remote.access import Access

ENTRY = PROVIDERS["mem0_oss"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(mem0_oss.FOLDER_VARIABLE, str(tmp_path / "mem0"))
    return tmp_path / "mem0"


def test_a_write_that_fails_half_way_leaves_nothing_twice(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def failing(texts: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls in (2, 7):
            raise RuntimeError("killed")
        return embedding.embed(texts)

    monkeypatch.setattr(wires, "embed", failing)
    made = bench(2, 5)
    settings = ENTRY.ingest_settings({})
    wire: Any = ENTRY.open_wire(settings, Access(ENTRY.access.base_url, "", MANNERS))
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    link = Link(ENTRY, settings, ENTRY.retrieval_settings({}), wire, ledger, "record", "there", "made", concurrency=1)
    system = RemoteSystem(link)
    try:
        store = built(system, made)
        assert store.tables["receipts"]["status"].unique().to_list() == ["done"]
        counted = [link.ledger.container(link.name, name) for name in made.queries["container"]]
        assert [row.counted for row in counted if row] == [10, 10]
        # Twenty messages, one that was stored and removed again, and two failures.
        assert calls == 23
        assert searched(system, made, store)["status"].to_list() == ["ok"] * 2
        assert system.facts["hits without a session"] == 0
    finally:
        ledger.close()
        wire.close()


def test_its_folder_is_in_the_project_wherever_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(mem0_oss.FOLDER_VARIABLE)
    monkeypatch.chdir(tmp_path)
    project = Project.at(tmp_path / "project")
    with access_to(project, "there", Store(provider="mem0_oss")) as wire:
        assert isinstance(wire, LibraryWire)
        assert wire.folder == project.root / "data" / "mem0"
