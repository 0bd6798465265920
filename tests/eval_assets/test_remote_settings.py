"""The shipped settings of remote systems are valid, and fair."""

from __future__ import annotations

import pytest
from projects import REPOSITORY

from eval_assets.project import Project
from eval_assets.settings import load_settings
from eval_assets.settings_systems import System
from providers.registry import PROVIDERS


def test_all_remote_providers_are_there_on_equal_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_ASSETS_SYSTEMS", str(REPOSITORY / "data" / "systems.remote.yaml"))
    settings = load_settings(Project.at(REPOSITORY))
    remote = {name for name, entry in PROVIDERS.items() if entry.remote}
    assert {store.provider for store in settings.stores.values()} >= remote
    systems = [system for system in settings.systems.values() if isinstance(system, System)]
    assert len({(system.limit, system.reader, system.judges) for system in systems}) == 1
    assert {store.isolation for store in settings.stores.values()} == {"isolated"}
    assert not settings.targets
