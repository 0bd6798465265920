"""``eval-assets compose`` and ``eval-assets inspect`` as a person meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eval_assets.cli import app

BUNDLED = Path(__file__).resolve().parents[2] / "data" / "fixtures"
DATE = "2023/05/20 (Sat) 02:21"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def _record(question_id: str, n_filler: int) -> dict[str, Any]:
    n = n_filler + 1
    talks = [[{"role": "user", "content": f"This is talk {number}."}] for number in range(n_filler)]
    gold = [{"role": "user", "content": f"It is {question_id}.", "has_answer": True}]
    return {
        "question_id": question_id,
        "question_type": "a-type",
        "question": f"What of {question_id}?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 02:21",
        "haystack_dates": [DATE] * n,
        "haystack_session_ids": [*(f"f{number}" for number in range(n_filler)), f"answer_{question_id}"],
        "haystack_sessions": [*talks, gold],
        "answer_session_ids": [f"answer_{question_id}"],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sources")
    (made / "questions.json").write_text(json.dumps([_record(f"q{number}", 0) for number in range(3)]))
    (made / "filler.json").write_text(json.dumps([_record("other", 5)]))
    return made


def test_compose_then_inspect(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.json"
    words = (folder / "questions.json", "--filler", folder / "filler.json", "--sessions", 4, "--limit", 2, "--out", out)
    composed = run("compose", *words)
    assert (composed.exit_code, composed.stderr) == (0, "")
    assert composed.stdout.splitlines() == [
        "filler: 5 of 5 distinct sessions; left out: 0 evidence of another question, 0 that tell evidence, 0 blank",
        "questions: 2 of 3 questions, stratified by type and abstention with seed 0: a-type 2",
        f"wrote {out}: 2 questions, 8 sessions (2 evidence), 8 turns, about 15 tokens a question, 0.0 MB",
        f"wrote {tmp_path / 'o.manifest.json'}: what it was made of",
    ]
    found = run("inspect", out)
    assert found.exit_code == 0
    assert found.stdout.splitlines()[0].startswith("o.json: longmemeval, longmemeval_other: not a known sha256;")
    assert "  int_answer           2 answers    a JSON number" in found.stdout
    machine = json.loads(run("inspect", out, "--json").stdout)
    assert machine["facts"]["sessions"]["total"] == 8
    assert (
        machine["fingerprint"]["sha256"] == json.loads((tmp_path / "o.manifest.json").read_text())["output"]["sha256"]
    )
    assert {"name": "int_answer", "count": 2}.items() <= machine["quirks"][0].items()


def test_longer_evidence_is_said(folder: Path, tmp_path: Path) -> None:
    words = (folder / "questions.json", "--filler", folder / "filler.json", "--tokens", 1, "--out", tmp_path / "o.json")
    assert run("compose", *words).stderr == "3 questions have evidence longer than asked for, all kept: q0, q1, q2\n"


@pytest.mark.parametrize("name", ["knowledge-update", "preference", "smoke", "temporal"])
def test_a_bundled_fixture(name: str) -> None:
    found = json.loads(run("inspect", BUNDLED / f"{name}.json", "--json").stdout)
    source = json.loads((BUNDLED / f"{name}.json").read_text("utf-8"))
    assert found["format"] == "fixture"
    assert found["facts"]["memories"]["total"] == len(source["memories"])
    assert found["facts"]["queries"]["total"] == len(source["queries"])
    assert found["facts"]["fields"]["key"] == sum("key" in memory for memory in source["memories"])
    assert found["facts"]["characters"]["total"] == sum(len(memory["content"]) for memory in source["memories"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["inspect", "none.json"], "none.json: cannot be read"),
        (["inspect", BUNDLED], "holds no questions.parquet; give a folder that --to corpus wrote"),
        (["compose", "none.json", "--filler", "x", "--sessions", 3, "--out", "o.json"], "none.json: cannot be read"),
        (
            ["compose", BUNDLED / "smoke.json", "--filler", "x", "--sessions", 3, "--out", "o.json"],
            "is not a JSON array",
        ),
    ],
    ids=["no file", "no tables", "no questions", "a fixture"],
)
def test_one_line_and_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[object], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert line in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_dagster_is_not_imported(folder: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from eval_assets.cli import app\n"
        "try: app()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] in ('dagster', 'providers', 'judges')]"
    )
    source = str(folder / "questions.json")
    compose = ["compose", source, "--filler", str(folder / "filler.json"), "--sessions", "3"]
    for words in (["inspect", source], [*compose, "--out", str(tmp_path / "o.json")]):
        subprocess.run([sys.executable, "-c", script, *words], check=True, capture_output=True, timeout=60)
