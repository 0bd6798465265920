"""One refreshed project for tests that only read; a copy of it for those that change something."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import scripted
from click.testing import Result
from projects import REPOSITORY, VARIABLES, Box, make_project, write_yaml
from shared import made_once
from typer.testing import CliRunner

from eval_assets import code_version
from eval_assets.cli import app
from eval_assets.storage import kept_engines
from providers.registry import PROVIDERS

_PACKAGES = ("converters", "providers", "judges", "eval_assets")


def _copy_sources(origin: Path, folder: Path) -> Path:
    for package in _PACKAGES:
        shutil.copytree(origin / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="session", autouse=True)
def _sources_as_they_were(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Code versions of a copy: someone who edits a source while the tests run makes nothing stale in them."""
    with pytest.MonkeyPatch.context() as patch:
        folder = made_once(tmp_path_factory, "sources", lambda place: _copy_sources(REPOSITORY, place))
        patch.setattr(code_version, "_ROOT", folder)
        yield folder


@pytest.fixture(scope="session", autouse=True)
def _engines_kept() -> Iterator[None]:
    """As the command line does: half of a test's time."""
    with kept_engines():
        yield


@pytest.fixture
def sources(_sources_as_they_were: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources to change."""
    folder = _copy_sources(_sources_as_they_were, tmp_path / "sources")
    monkeypatch.setattr(code_version, "_ROOT", folder)
    return folder


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fresh(tmp_path: Path) -> Box:
    """A project that nothing ran in."""
    return make_project(tmp_path / "project")


@pytest.fixture(scope="session")
def refreshed(tmp_path_factory: pytest.TempPathFactory, _sources_as_they_were: Path) -> Box:
    """A project whose targets are up to date. For reading alone."""
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        made = made_once(tmp_path_factory, "refreshed", lambda place: make_project(place).refresh())
    return _copy(made, tmp_path_factory.mktemp("refreshed") / "project")


@pytest.fixture
def copied(refreshed: Box, tmp_path: Path) -> Box:
    """The same, to change."""
    return _copy(refreshed.root, tmp_path / "copy")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command line in this process, on a project: ``command(box, "plan", "--json")``."""

    def run(box: Box, *arguments: str) -> Result:
        monkeypatch.setenv("EVAL_ASSETS_ROOT", str(box.root))
        monkeypatch.setenv("DAGSTER_HOME", str(box.home))
        return CliRunner().invoke(app, list(arguments))

    return run


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> scripted.Script:
    """A provider called ``scripted``, which records what it is given and fails as it is told."""
    return _script(monkeypatch)


@pytest.fixture(scope="session")
def _scripted(tmp_path_factory: pytest.TempPathFactory, _sources_as_they_were: Path) -> Path:
    def make(place: Path) -> None:
        box = make_project(place)
        write_yaml(box.systems_file, scripted.SETTINGS)
        box.refresh(to="search")

    with pytest.MonkeyPatch.context() as patch:
        _script(patch)
        return made_once(tmp_path_factory, "scripted", make)


@pytest.fixture
def scripted_copy(_scripted: Path, script: scripted.Script, tmp_path: Path) -> Box:
    """A project of one system of that provider, up to date to its search."""
    return _copy(_scripted, tmp_path / "copy")


def _copy(project: Path, root: Path) -> Box:
    shutil.copytree(project, root, symlinks=True)
    return Box(root)


def _script(patch: pytest.MonkeyPatch) -> scripted.Script:
    told = scripted.Script()
    patch.setattr(scripted, "SCRIPT", told)
    patch.setitem(PROVIDERS, "scripted", scripted.ENTRY)  # type: ignore[arg-type]
    return told
