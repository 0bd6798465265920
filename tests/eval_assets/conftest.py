"""One refreshed project a session for tests that only read; a copy of it for those that change something."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from projects import VARIABLES, Box, make_project


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fresh(tmp_path: Path) -> Box:
    """A project that nothing ran in."""
    return make_project(tmp_path / "project")


@pytest.fixture(scope="session")
def refreshed(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """A project whose targets are up to date. For reading alone."""
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        box = make_project(tmp_path_factory.mktemp("shared") / "project")
        box.refresh()
    return box


@pytest.fixture
def copied(refreshed: Box, tmp_path: Path) -> Box:
    """The same, to change."""
    shutil.copytree(refreshed.root, tmp_path / "copy", symlinks=True)
    return Box(tmp_path / "copy")
