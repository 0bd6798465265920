"""The seventh service of ``docs/add-a-provider.md``: it passes the kit, and another distribution brings it in."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import Result
from fakes.connect import FAST
from fakes.notebook import FakeNotebook
from projects import REPOSITORY
from remote_projects import KEY_VARIABLE, remote_project

from providers.testing.checks import checks
from providers.testing.stage import Subject

EXAMPLE = REPOSITORY / "docs" / "examples" / "notebook_provider.py"
PAGE = REPOSITORY / "docs" / "add-a-provider.md"
METADATA = "Metadata-Version: 2.1\nName: notebook-provider\nVersion: 1.0\n"
POINTS = "[eval_assets.providers]\nnotebook = notebook_provider:ENTRY\n"


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebook_provider", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "notebook_provider", module)
    spec.loader.exec_module(module)
    return module


def test_the_example_is_short_and_shown() -> None:
    assert EXAMPLE.read_text("utf-8").count("\n") < 150
    page = PAGE.read_text("utf-8")
    assert "examples/notebook_provider.py" in page
    for block in (POINTS.strip(), "from providers.testing.checks import"):
        assert block in page


def test_the_example_passes_the_kit(notebook: ModuleType) -> None:
    with FakeNotebook() as fake:
        subject = Subject(notebook.ENTRY, fake.url, fake.key, fake.texts, manners=FAST)
        for check in checks(subject):
            check(subject)


REFRESH_AND_REPORT = """
from eval_assets.cli import app
app(["refresh"], standalone_mode=False)
app(["report", "far", "chats"])
"""


def test_another_distribution_brings_a_provider(tmp_path: Path, command: Callable[..., Result]) -> None:
    elsewhere = tmp_path / "site"
    about = elsewhere / "notebook_provider-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text(POINTS)
    (elsewhere / "notebook_provider.py").write_bytes(EXAMPLE.read_bytes())
    with FakeNotebook() as fake:
        box = remote_project(tmp_path / "project", fake, "notebook", retrieval={"fuzzy": True})
        unknown = command(box, "plan")
        assert unknown.exit_code == 2
        assert "notebook" in unknown.stderr
        # What is installed is looked up when a process starts.
        environment = {**box.environment, KEY_VARIABLE: FakeNotebook.key, "PYTHONPATH": str(elsewhere)}
        run = [sys.executable, "-c", REFRESH_AND_REPORT]
        done = subprocess.run(run, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert (fake.count("PUT"), fake.count("/search")) == (sum(map(len, fake.books.values())), 3)
        assert {one.body["fuzzy"] for one in fake.seen if one.path.endswith("/search")} == {True}
        assert "hit@5=1.000" in done.stdout
