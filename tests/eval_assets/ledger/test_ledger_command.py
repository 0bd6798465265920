"""``eval-assets ledger``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from ledger_rows import a_call, a_container
from projects import Box

from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.settings import open_ledger
from eval_assets.project import Project

Command = Callable[..., Result]


@pytest.fixture
def box(fresh: Box) -> Box:
    """A project with something in its ledger."""
    ledger = open_ledger(Project.at(fresh.root))
    ledger.open_container(a_container())
    ledger.sending("far 1", "c1", 1, ["d1"])
    ledger.keep(a_call("k" * 64, "failed", error="no"))
    ledger.keep(a_call("k" * 64, reply={"hits": []}, cost_usd=0.5))
    ledger.close()
    return fresh


def test_stats(box: Box, command: Command) -> None:
    lines = command(box, "ledger", "stats").stdout.splitlines()
    assert lines[0].startswith(f"sqlite:///{box.root}/data/ledger.sqlite: ")
    assert lines[1:] == [
        "  far 1  search  2 calls: 1 usable, 1 failed; p50 12 ms, p95 12 ms; 0.5000 USD",
        "  far 1  there [chats]  containers: 1 open; documents: 1 sent",
    ]
    found = json.loads(command(box, "ledger", "stats", "--json").stdout)
    assert found["calls"][0]["calls"] == {"usable": 1, "degraded": 0, "unreadable": 0, "failed": 1}


def test_out_and_in_again(box: Box, tmp_path: Path, command: Command) -> None:
    file = tmp_path / "out" / "ledger.parquet"
    done = command(box, "ledger", "export", "--out", str(file))
    assert done.stdout.startswith(f"wrote {file}: 1 containers, 1 documents, 2 calls, ")
    done = command(box, "ledger", "import", str(file))
    assert done.stdout.splitlines() == [
        "containers: 0 added, 1 known already",
        "documents: 0 added, 1 known already",
        "calls: 0 added, 2 known already",
    ]
    (box.root / "data" / "ledger.sqlite").unlink()
    assert "calls: 2 added, 0 known already" in command(box, "ledger", "import", str(file)).stdout


def test_prune(box: Box, command: Command) -> None:
    assert command(box, "ledger", "prune", "--dry-run").stdout == "failed: 1\n1 would be removed\n"
    assert command(box, "ledger", "prune", "--older-than", "1").stdout.startswith("0 removed")
    assert command(box, "ledger", "prune").stdout.startswith("failed: 1\n1 removed, ")
    ledger = Ledger(f"sqlite:///{box.root / 'data' / 'ledger.sqlite'}")
    assert ledger.look("k" * 64) is not None
    ledger.close()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["import", "absent.parquet"], "absent.parquet: there is no such file; "),
        (["export", "--out", "data"], "data: is a folder; "),
        (["export", "--out", "workspace.yaml"], "workspace.yaml: exists already; "),
        (["import", "workspace.yaml"], "workspace.yaml: it is no Parquet file that can be read "),
        (["prune", "--answers"], "--answers: it would remove every reply; "),
    ],
)
def test_one_line(box: Box, command: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str) -> None:
    monkeypatch.chdir(box.root)
    result = command(box, "ledger", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1


def test_a_server_that_is_not_there(box: Box, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_ASSETS_LEDGER", "postgresql://me:pa55@127.0.0.1:1/ledger")
    result = command(box, "ledger", "stats")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith("postgresql+psycopg://me:***@127.0.0.1:1/ledger: the ledger cannot be opened: ")


@pytest.mark.parametrize(
    ("arguments", "light"),
    [
        (["ledger", "--help"], {"dagster", "sqlalchemy", "polars", "pyarrow"}),
        (["ledger", "stats", "--help"], {"dagster", "sqlalchemy", "polars", "pyarrow"}),
        (["ledger", "stats"], {"dagster"}),
    ],
)
def test_what_it_loads(box: Box, arguments: list[str], light: set[str]) -> None:
    code = (
        "import sys\nfrom eval_assets.cli import app\n"
        "try: app()\nexcept SystemExit as end: assert not end.code, end.code\n"
        "print('LOADED', *sys.modules)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=box.environment, capture_output=True, text=True, check=True)
    assert not light & set(done.stdout.rpartition("LOADED")[2].split())
