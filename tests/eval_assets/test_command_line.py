from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from projects import REPOSITORY, TINY, Box, part

COMMANDS = ("plan", "refresh", "report", "benchmarks", "fetch", "convert", "doctor", "ui")
HEAVY = "('dagster', 'polars', 'pyarrow', 'numpy', 'wordllama', 'pydantic')"


def loaded(tmp_path: Path, *arguments: str) -> tuple[str, set[str]]:
    """What a command prints in a process of its own, and which heavy packages it imported."""
    code = (
        "import sys\nfrom eval_assets.cli import app\n"
        "try: app()\nexcept SystemExit as end: assert not end.code, end.code\n"
        f"print('LOADED', *[name for name in {HEAVY} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    told, _, names = done.stdout.rpartition("LOADED")
    return told, set(names.split())


def test_help_lists_the_commands_and_imports_nothing_heavy(tmp_path: Path) -> None:
    told, heavy = loaded(tmp_path, "--help")
    assert all(re.search(rf"^  {name} ", told, re.MULTILINE) for name in COMMANDS)
    assert heavy == set()


def test_convert_does_not_import_dagster(tmp_path: Path) -> None:
    source = tmp_path / "tiny.json"
    source.write_text(json.dumps(TINY))
    _, heavy = loaded(tmp_path, "convert", str(source), "--to", "corpus", "--out", str(tmp_path / "corpus"))
    assert "dagster" not in heavy
    assert (tmp_path / "corpus" / "questions.parquet").is_file()


def test_plan(refreshed: Box, command: Callable[..., Result]) -> None:
    result = command(refreshed, "plan")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "nothing is stale"
    assert "fresh: 17" in result.stdout
    assert "unavailable: absent: its file is missing; put it at data/sources/absent.json" in result.stdout


def test_plan_for_machines(refreshed: Box, command: Callable[..., Result]) -> None:
    result = command(refreshed, "plan", "--json", "--system", "tuned", "--benchmark", "tiny", "--to", "search")
    found = json.loads(result.stdout)
    assert found["work"] == [
        {
            "asset": f"tuned__rrf_k_{k}/search_results",
            "partition": "tiny",
            "kind": "missing",
            "why": ["never made"],
        }
        for k in (10, 20)
    ]
    assert (found["may_follow"], found["fresh"], found["unavailable"]) == ([], 9, {})


def test_report(refreshed: Box, command: Callable[..., Result]) -> None:
    lines = command(refreshed, "report", "bm25", "tiny").stdout.splitlines()
    assert len([line for line in lines[:3] if "hit" in line and "rr" in line]) == 3
    aggregate = r"AGGREGATE \(n=3\)  hit@5=\S+ R@5=\S+ MRR@5=\S+ +hit@10=\S+ R@10=\S+ MRR@10=\S+"
    assert len([line for line in lines if re.fullmatch(aggregate, line)]) == 1


def test_report_for_machines(refreshed: Box, command: Callable[..., Result]) -> None:
    found = json.loads(command(refreshed, "report", "bm25", "tiny", "--json").stdout)
    assert (found["system"], found["benchmark"]) == ("bm25", "tiny")
    assert [question["question"] for question in found["questions"]] == [query["q"] for query in TINY["queries"]]
    assert {row["metric"] for row in found["report"]} >= {"hit", "recall", "mrr"}


def test_a_refresh_tells_its_waves(copied: Box, command: Callable[..., Result]) -> None:
    copied.edit_systems({"systems": {"hybrid": {"revision": 2}}})
    lines = command(copied, "refresh").stdout.splitlines()
    assert lines[0] == "  hybrid/search_results [tiny]  stale: setting revision: 1 -> 2"
    assert re.fullmatch(r"wave: 1 ran in \d+\.\d s, 1 came out unchanged", lines[1])
    assert lines[-1] == "1 ran, up to date"
    assert command(copied, "refresh").stdout.splitlines()[-1] == "nothing is stale, nothing ran"


@pytest.mark.parametrize(
    ("arguments", "status", "line"),
    [
        (["plan", "-s", "bm52"], 2, "--system: unknown system 'bm52'; known are: bm25, hybrid, "),
        (["plan", "-b", "tin"], 2, "--benchmark: unknown benchmark 'tin'; known are: tiny, chats, absent"),
        (["refresh", "--to", "end"], 2, "--to: unknown stage 'end'; known are: source, corpus, store, "),
        (["refresh", "-b", "absent"], 2, "benchmark absent: its file is missing; put it at data/sources/absent.json "),
        (["report", "bm52", "tiny"], 2, "--system: unknown system 'bm52'; "),
        (["report", "tuned", "tiny"], 2, "SYSTEM: tuned is a sweep; name one of its systems: tuned__rrf_k_10, "),
        (["report", "bm25", "tin"], 2, "--benchmark: unknown benchmark 'tin'; "),
        (["report", "bm25", "chats"], 1, "bm25/retrieval_scores [chats] is not there yet"),
    ],
)
def test_one_line(refreshed: Box, command: Callable[..., Result], arguments: list[str], status: int, line: str) -> None:
    result = command(refreshed, *arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1


def test_outside_of_any_project(tmp_path: Path, fresh: Box, command: Callable[..., Result]) -> None:
    (fresh.root / "workspace.yaml").unlink()
    result = command(fresh, "plan")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"{fresh.root}: no project here ")


def test_the_leaderboard_names_the_targets_without_a_report(refreshed: Box) -> None:
    event = refreshed.events()["leaderboard"]
    assert event.metadata["without a report"] == "bm25 on absent"
    with refreshed.open() as session:
        board = session.graph.shelf.frame(session.instance, part("leaderboard").key, None)
    assert set(board.select("benchmark", "system").iter_rows()) == {("tiny", "bm25"), ("tiny", "hybrid")}


def test_the_home_is_made_inside_the_project(fresh: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_assets.project import Project

    monkeypatch.setenv("DAGSTER_HOME", "")
    home = Project.at(fresh.root).dagster_home()
    assert home == fresh.root / "data" / "dagster_home"
    assert (home / "dagster.yaml").read_bytes() == (REPOSITORY / "dagster.yaml").read_bytes()
