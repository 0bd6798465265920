"""What is written appears whole or not at all, replaces nothing unasked, and no id becomes a file's name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest
from corpora import ODD_IDS, Ask, corpus, left, results

from converters.errors import BadInput
from converters.formats import beir, datasets, longmemeval, trec
from converters.formats.hypotheses import Hypothesis, write_hypotheses
from converters.formats.retrieval_log import write_retrieval_log

ROOT = Path(__file__).resolve().parents[3]
Write = Callable[..., list[str]]


def _run(tables: Mapping[str, pl.DataFrame], out: Path, *, force: bool = False) -> list[str]:
    return trec.write_run(tables, results(), out, force=force)


def _log(tables: Mapping[str, pl.DataFrame], out: Path, *, force: bool = False) -> list[str]:
    return write_retrieval_log(tables, results(), out, force=force)


def _answers(tables: Mapping[str, pl.DataFrame], out: Path, *, force: bool = False) -> list[str]:
    rows = (Hypothesis(question_id, "Oslo") for question_id in tables["ground_truth"]["question_id"])
    return write_hypotheses(rows, out, force=force)


FOLDERS: dict[str, Write] = {"beir": beir.write, "datasets": datasets.write}
FILES: dict[str, Write] = {
    "trec-qrels": trec.write,
    "trec-run": _run,
    "longmemeval": longmemeval.write,
    "retrieval-log": _log,
    "hypotheses": _answers,
}
ALL = FOLDERS | FILES


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, pl.DataFrame]:
    return corpus(tmp_path_factory.mktemp("tables") / "corpus", *map(Ask, ODD_IDS))


@pytest.mark.parametrize("name", ALL)
def test_only_what_was_asked_for_appears(name: str, tables: Mapping[str, pl.DataFrame], tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder" / "out"
    told = ALL[name](tables, out)
    assert told[0].startswith(f"wrote {out}: ")
    assert not any("\n" in line for line in told)
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert out.is_dir() == (name in FOLDERS)


@pytest.mark.parametrize("name", ALL)
def test_what_is_there_is_replaced_when_asked_alone(
    name: str, tables: Mapping[str, pl.DataFrame], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ALL[name](tables, out)
    (out / "README.md" if name == "datasets" else out / "corpus.jsonl" if name == "beir" else out).write_text("mine")
    before = left(tmp_path)
    with pytest.raises(BadInput, match="exists already; choose another name, or replace it with --force"):
        ALL[name](tables, out)
    assert left(tmp_path) == before
    ALL[name](tables, out, force=True)
    assert left(tmp_path) == before
    assert not any(path.read_bytes() == b"mine" for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_of_other_things_stays(name: str, tables: Mapping[str, pl.DataFrame], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    (tmp_path / "file").write_text("mine")
    for taken, problem in (
        ("out", "holds other files (thesis.txt)"),
        ("link", "is not a"),
        ("file", "is not a folder"),
    ):
        with pytest.raises(BadInput) as error:
            ALL[name](tables, tmp_path / taken, force=True)
        assert error.value.line.startswith(f"{tmp_path / taken}: {problem}")
    assert left(tmp_path) == ["file", "link", "out", "out/thesis.txt"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_no_folder(name: str, tables: Mapping[str, pl.DataFrame], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a folder; give the name of a file"):
        ALL[name](tables, tmp_path, force=True)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("place", ["file/out", "x" * 250])
def test_a_place_that_cannot_be_written(
    name: str, place: str, tables: Mapping[str, pl.DataFrame], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInput, match="choose"):
        ALL[name](tables, tmp_path / place)
    assert left(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["beir", "trec-qrels", "longmemeval", "retrieval-log"])
def test_a_failure_in_the_middle_leaves_nothing(name: str, tables: Mapping[str, pl.DataFrame], tmp_path: Path) -> None:
    lost = {**tables, "ground_truth": tables["ground_truth"].head(3)}
    with pytest.raises(BadInput, match=f"no ground truth for {len(ODD_IDS) - 3} of {len(ODD_IDS)} questions"):
        ALL[name](lost, tmp_path / "out")
    assert left(tmp_path) == []


@pytest.mark.parametrize("name", ["beir", "datasets", "trec", "longmemeval"])
def test_a_full_disk_is_one_line(name: str, tables: Mapping[str, pl.DataFrame], tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from converters.corpus import read_corpus\n"
        f"from converters.errors import BadInput; from converters.formats import {name} as target\n"
        "try: target.write(read_corpus(Path(sys.argv[1])), Path(sys.argv[2]))\n"
        "except BadInput as error: print(error.line)"
    )
    source = tmp_path / "corpus"
    corpus(source, *(Ask(f"question {number}" * 20, [(n, n) for n in range(9)], range(9)) for number in range(90)))
    room = ["sh", "-c", 'ulimit -f 16; exec "$@"', "sh", sys.executable, "-c", code, str(source), str(tmp_path / "out")]
    done = subprocess.run(room, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (
        f"{tmp_path / 'out'}: cannot be written (File too large); "
        "raise the limit on file sizes (ulimit -f), or choose another place, and run it again\n",
        "",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
