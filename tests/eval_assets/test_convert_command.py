"""``eval-assets convert`` as a person meets it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from converters.convert import FORMATS, convert_corpus
from converters.parquet import footer
from converters.tables import CORPUS
from converters.targets import TARGETS
from eval_assets.cli import app
from eval_assets.cli.convert import SourceFormat, Target

BUNDLED = Path(__file__).resolve().parents[2] / "data" / "fixtures"
NAMES = ("questions", "haystacks", "sessions", "turns", "ground_truth")


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["convert", *map(str, words)])


def _record(question_id: str, kind: str) -> dict[str, Any]:
    return {
        "question_id": question_id,
        "question_type": kind,
        "question": f"What of {question_id}?",
        "answer": 3,
        "question_date": "2023/05/20 (Sat) 02:21",
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["answer_1"],
        "haystack_sessions": [[{"role": "user", "content": f"It is {question_id}."}, {"role": "user", "content": " "}]],
        "answer_session_ids": ["answer_1"],
    }


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "questions"
    records = [_record(f"q{number}", kind) for number in range(4) for kind in ("a-type",)] + [_record("z", "b-type")]
    path.write_bytes(gzip.compress(json.dumps(records).encode()))
    return path


def _digests(folder: Path) -> dict[str, object]:
    return {name: footer(folder / f"{name}.parquet")["digest"] for name in NAMES}


def test_there_and_back(source: Path, tmp_path: Path) -> None:
    there = run(source, "--to", "fixture", "--out", tmp_path / "f.json", "--granularity", "turn")
    assert there.exit_code == 0
    assert there.stdout.splitlines() == [
        f"wrote {tmp_path / 'f.json'}: 5 memories in 5 containers, 5 queries",
        "  left out 5 blank turns",
        f"wrote {tmp_path / 'f.sidecar.json'}: what only scoring may know",
        f"wrote {tmp_path / 'f.batches'}: 1 batch to POST",
    ]
    back = run(tmp_path / "f.json", "--to", "corpus", "--out", tmp_path / "restored")
    assert back.exit_code == 0
    assert "f.json has a sidecar: taking the conversations that it was written from" in back.stderr
    convert_corpus(source, "longmemeval", tmp_path / "direct")
    assert _digests(tmp_path / "restored") == _digests(tmp_path / "direct")


def test_a_file_a_container(source: Path, tmp_path: Path) -> None:
    done = run(source, "--to", "fixture", "--out", tmp_path / "f.json.gz", "--containers", "--no-batches")
    assert done.stdout.splitlines()[-1] == f"wrote {tmp_path / 'f.containers'}: 5 containers, a fixture each"
    names = sorted(path.name for path in tmp_path.rglob("*"))
    assert names == [*(f"000{n}.json" for n in range(1, 6)), "f.containers", "f.json.gz", "f.sidecar.json"]


def test_tables_are_a_source_too(source: Path, tmp_path: Path) -> None:
    assert run(source, "--to", "corpus", "--out", tmp_path / "tables").exit_code == 0
    assert sorted(path.stem for path in (tmp_path / "tables").iterdir()) == sorted(CORPUS)
    words = (tmp_path / "tables", "--to", "fixture", "--out", tmp_path / "f.json", "--isolation", "global")
    assert "5 memories in 1 container, 5 queries" in run(*words).stdout


def test_a_choice_is_said(source: Path, tmp_path: Path) -> None:
    chosen = run(source, "--to", "fixture", "--out", tmp_path / "f.json", "--limit", 2, "--seed", 3, "--no-batches")
    assert "2 of 5 questions, stratified by type and abstention with seed 3: a-type 1, b-type 1" in chosen.stderr
    assert not (tmp_path / "f.batches").exists()
    by_type = run(source, "--to", "corpus", "--out", tmp_path / "b", "--types", "b-type")
    assert "questions 1," in by_type.stdout


def test_the_command_knows_every_format() -> None:
    assert {target.value for target in Target} == {"fixture", "corpus", *TARGETS}
    assert {kind.value for kind in SourceFormat} == set(FORMATS)


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_format_is_written_whole_and_stays(source: Path, tmp_path: Path, target: str) -> None:
    out = tmp_path / "out"
    first = run(source, "--to", target, "--out", out, "--limit", 3)
    assert (first.exit_code, first.stdout[:6]) == (0, "wrote ")
    assert list(tmp_path.iterdir()) == [out]
    again = run(source, "--to", target, "--out", out)
    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr == f"{out}: exists already; choose another name, or replace it with --force\n"
    assert run(source, "--to", target, "--out", out, "--force").exit_code == 0


def test_a_data_set_with_other_columns(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"ask": "Who?", "talks": ["I am Ann."]}))
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text("question: ask\nsessions: talks\n")
    done = run(tmp_path / "rows.jsonl", "--mapping", mapping, "--to", "corpus", "--out", tmp_path / "tables")
    assert done.exit_code == 0
    assert "questions 1, haystacks 1" in done.stdout
    for words, line in (
        (["--mapping", mapping, "--from", "fixture"], "--mapping: is for data sets"),
        (["--mapping", tmp_path / "none.yaml"], "none.yaml: no such file"),
    ):
        refused = run(tmp_path / "rows.jsonl", *words, "--to", "corpus", "--out", tmp_path / "more")
        assert (refused.exit_code, line in refused.stderr) == (2, True)
    mapping.write_text("query: ask\n")
    refused = run(tmp_path / "rows.jsonl", "--mapping", mapping, "--to", "corpus", "--out", tmp_path / "more")
    assert refused.stderr == f"{mapping}: query: unknown setting; correct its name or remove it\n"


def test_what_is_there_stays(source: Path, tmp_path: Path) -> None:
    for to, out in (("fixture", tmp_path / "f.json"), ("corpus", tmp_path / "tables")):
        assert run(source, "--to", to, "--out", out).exit_code == 0
        again = run(source, "--to", to, "--out", out)
        assert (again.exit_code, again.stdout) == (2, "")
        assert "exists already; choose another name, or replace it with --force" in again.stderr
        assert run(source, "--to", to, "--out", out, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["none.json", "--to", "fixture"], "none.json: cannot be read"),
        ([BUNDLED, "--to", "fixture"], "holds no questions.parquet; give a folder that --to corpus wrote"),
        ([BUNDLED / "smoke.json", "--to", "fixture", "--granularity", "turn"], "--granularity: has no meaning"),
        ([BUNDLED / "smoke.json", "--to", "fixture", "--containers"], "--containers: has no meaning"),
        ([BUNDLED / "smoke.json", "--to", "corpus", "--containers"], "--containers: has no meaning"),
        ([BUNDLED / "smoke.json", "--to", "corpus", "--isolation", "global"], "--isolation: has no meaning"),
        ([BUNDLED / "smoke.json", "--to", "corpus", "--types", "x"], "--types: no question is of the type 'x'"),
    ],
)
def test_one_line_and_nothing_written(tmp_path: Path, words: list[object], line: str) -> None:
    result = run(*words, "--out", tmp_path / "out.json")
    assert result.exit_code == 2
    assert line in result.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_dagster_is_not_imported(tmp_path: Path) -> None:
    script = (
        "import sys; from eval_assets.cli import app\n"
        "try: app()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] in ('dagster', 'providers', 'judges')]"
    )
    words = ["convert", str(BUNDLED / "smoke.json"), "--to", "fixture", "--out", str(tmp_path / "f.json")]
    subprocess.run([sys.executable, "-c", script, *words], check=True, capture_output=True, timeout=60)
