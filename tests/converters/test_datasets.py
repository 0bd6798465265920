"""Data sets of every kind of file, by a mapping of columns."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import datasets
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import record, turn, write

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.datasets_mapping import DatasetMapping
from converters.identity import content_hash

RECORDS = [record("001", answer="None"), record("q2_abs", answer="", question='Snow \u2028 or rain, \x0b "x"?\nYes')]
SESSION = [("user", "I moved to Oslo."), ("assistant", "Nice.")]


def _digests(
    source: Path, folder: Path, mapping: DatasetMapping | None = None, format: str = "datasets"
) -> Mapping[str, str]:
    conversion = convert_corpus(source, format, folder, mapping=mapping)
    return {name: table.digest for name, table in conversion.corpus.tables.items()}


def _tables(source: Path, folder: Path, mapping: DatasetMapping | None = None) -> Mapping[str, pl.DataFrame]:
    convert_corpus(source, "datasets", folder, mapping=mapping)
    return read_corpus(folder)


def _json(path: Path) -> Path:
    return write(path, *RECORDS)


def _json_lines(path: Path) -> Path:
    path.write_text("\n\n".join(json.dumps(one, ensure_ascii=False) for one in RECORDS) + "\n", encoding="utf-8")
    return path


def _csv(path: Path) -> Path:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(RECORDS[0])
        rows.writerows(
            [value if isinstance(value, str) else json.dumps(value) for value in one.values()] for one in RECORDS
        )
    return path


def _parquet(path: Path) -> Path:
    datasets.Dataset.from_list(RECORDS).to_parquet(str(path))
    return path


def _packed(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
    def made(path: Path) -> Path:
        make(path)
        path.write_bytes(gzip.compress(path.read_bytes()))
        return path

    return made


def _saved(path: Path) -> Path:
    datasets.Dataset.from_list(RECORDS).save_to_disk(str(path))
    return path


def _saved_splits(path: Path) -> Path:
    datasets.DatasetDict({"test": datasets.Dataset.from_list(RECORDS)}).save_to_disk(str(path))
    return path


def _parts(path: Path) -> Path:
    path.mkdir()
    for number, one in enumerate(RECORDS):
        write(path / f"part-{number}.json", one)
    (path / "README.md").write_text("# A data set")
    (path / ".gitattributes").write_text("*.json -text")
    return path


KINDS: dict[str, Callable[[Path], Path]] = {
    "json": _json,
    "json lines": _json_lines,
    "csv": _csv,
    "parquet": _parquet,
    "packed json": _packed(_json),
    "packed json lines": _packed(_json_lines),
    "packed csv": _packed(_csv),
    "saved": _saved,
    "saved splits": _saved_splits,
    "parts": _parts,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_what_longmemevals_own_reader_gives(tmp_path: Path, kind: str) -> None:
    expected = _digests(write(tmp_path / "records.json", *RECORDS), tmp_path / "expected", format="longmemeval")
    source = KINDS[kind](tmp_path / "source")
    found = _digests(source, tmp_path / "found")
    assert found == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["expected", "found", "records.json", "source"]


@pytest.mark.parametrize("name", ["real_oracle", "real_s59"])
@pytest.mark.real_data
def test_the_real_files_are_read_alike(tmp_path: Path, name: str, request: pytest.FixtureRequest) -> None:
    source: Path = request.getfixturevalue(name)
    assert _digests(source, tmp_path / "one") == _digests(source, tmp_path / "two", format="longmemeval")


def test_columns_of_other_names_and_nested_ones(tmp_path: Path) -> None:
    row = {
        "meta": {"id": 7, "kind": "lookup", "when": "2024-02-29T10:30:00+02:00"},
        "q": "Where?",
        "gold": 12,
        "dialogs": [
            [{"from": "human", "value": "I moved to Oslo.", "gold": True}, {"from": "gpt", "value": "Nice."}],
            ["one", "two"],
            "three",
        ],
        "days": ["2024-02-28", None, "2023/05/20 (Sat) 02:21"],
        "unanswerable": True,
    }
    mapping = DatasetMapping(
        question_id="meta.id",
        question="q",
        answer="gold",
        question_type="meta.kind",
        question_date="meta.when",
        sessions="dialogs",
        session_dates="days",
        abstention="unanswerable",
        role="from",
        content="value",
        evidence="gold",
        roles={"human": "user", "gpt": "assistant"},
    )
    tables = _tables(write(tmp_path / "s.json", row), tmp_path / "corpus", mapping)
    question, truth = tables["questions"].row(0, named=True), tables["ground_truth"].row(0, named=True)
    moment = datetime(2024, 2, 29, 8, 30, tzinfo=UTC)
    assert (question["question_id"], question["question"]) == ("7", "Where?")
    assert (question["question_date"], question["as_of"]) == (moment, moment)
    hashes = [
        content_hash(SESSION),
        content_hash([("user", "one"), ("user", "two")]),
        content_hash([("user", "three")]),
    ]
    assert tables["haystacks"]["content_hash"].to_list() == hashes
    assert tables["haystacks"]["session_date"].to_list() == [
        datetime(2024, 2, 28, tzinfo=UTC),
        None,
        datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    ]
    assert (truth["question_type"], truth["is_abstention"], truth["answer"], truth["answer_type"]) == (
        "lookup", True, "12", "int",
    )  # fmt: skip
    assert truth["source_session_ids"] == ["session_1", "session_2", "session_3"]
    assert truth["answer_session_ids"] == ["session_1"]
    assert truth["evidence_hashes"] == hashes[:1]
    assert truth["evidence_turns"] == [{"content_hash": hashes[0], "turn_index": 0}]


def test_a_question_and_its_sessions_are_enough(tmp_path: Path) -> None:
    rows = [{"question": "A?", "haystack_sessions": ["x"]}, {"question": "B?", "haystack_sessions": []}]
    tables = _tables(write(tmp_path / "s.json", *rows), tmp_path / "corpus")
    assert tables["questions"]["question_id"].to_list() == ["q1", "q2"]
    assert tables["questions"]["as_of"].to_list() == [None, None]
    assert (
        tables["ground_truth"].select("question_type", "is_abstention", "answer").rows()
        == [("question", False, None)] * 2
    )


def test_labels_and_typed_columns_of_parquet(tmp_path: Path) -> None:
    features = datasets.Features(
        {
            "question": datasets.Value("string"),
            "kind": datasets.ClassLabel(names=["easy", "hard"]),
            "asked": datasets.Value("timestamp[s]"),
            "days": datasets.List(datasets.Value("date32")),
            "haystack_sessions": datasets.List(datasets.Value("string")),
        }
    )
    row = {"question": "Q?", "kind": 1, "asked": datetime(2024, 1, 2, 3, 4), "days": [date(2024, 1, 1)]}
    data = datasets.Dataset.from_list([{**row, "haystack_sessions": ["x"]}], features=features)
    data.to_parquet(str(tmp_path / "s.parquet"))
    mapping = DatasetMapping(question_type="kind", question_date="asked", session_dates="days")
    tables = _tables(tmp_path / "s.parquet", tmp_path / "corpus", mapping)
    assert tables["ground_truth"]["question_type"].to_list() == ["hard"]
    assert tables["questions"]["question_date"].to_list() == [datetime(2024, 1, 2, 3, 4, tzinfo=UTC)]
    assert tables["haystacks"]["session_date"].to_list() == [datetime(2024, 1, 1, tzinfo=UTC)]


def test_turns_as_columns(tmp_path: Path) -> None:
    session = {"role": ["user", "assistant"], "content": ["I moved to Oslo.", "Nice."]}
    row = {"question": "Q?", "haystack_sessions": [session]}
    tables = _tables(write(tmp_path / "s.json", row), tmp_path / "corpus")
    assert tables["haystacks"]["content_hash"].to_list() == [content_hash(SESSION)]


def test_a_split_is_chosen(tmp_path: Path) -> None:
    splits = {"train": RECORDS[:1], "test": RECORDS[1:]}
    datasets.DatasetDict({name: datasets.Dataset.from_list(rows) for name, rows in splits.items()}).save_to_disk(
        str(tmp_path / "saved")
    )
    tables = _tables(tmp_path / "saved", tmp_path / "corpus", DatasetMapping(split="test"))
    assert tables["questions"]["question_id"].to_list() == ["q2_abs"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@pytest.mark.parametrize("kind", ["json lines", "parquet"])
@given(contents=st.lists(TEXTS, min_size=1, max_size=4), answers=st.lists(TEXTS, min_size=1, max_size=3))
def test_no_text_is_changed(
    tmp_path_factory: pytest.TempPathFactory, kind: str, contents: list[str], answers: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("texts")
    rows = [
        {"question": "Q?", "answer": answer, "haystack_sessions": [[turn("user", text) for text in contents]]}
        for answer in answers
    ]
    source = folder / "source"
    if kind == "parquet":
        datasets.Dataset.from_list(rows).to_parquet(str(source))
    else:
        source.write_text(
            "\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8", newline="\n"
        )
    tables = _tables(source, folder / "corpus")
    assert tables["turns"]["content"].to_list() == contents
    assert tables["ground_truth"]["answer"].to_list() == answers


WATCHED = """
import sys
told = []
sys.addaudithook(lambda event, args: told.append(event) if event in {"socket.connect", "socket.getaddrinfo"} else None)
from pathlib import Path
from converters.convert import convert_corpus
for number, source in enumerate(sys.argv[2:]):
    convert_corpus(Path(source), "datasets", Path(sys.argv[1]) / str(number))
assert not told, told
assert "datasets" in sys.modules
"""


def test_nothing_is_fetched_and_nothing_is_put_into_the_home_folder(tmp_path: Path) -> None:
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    scratch.mkdir()
    sources = [str(make(tmp_path / f"source {index}")) for index, make in enumerate(KINDS.values())]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "XDG_"))}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path / "out"), *sources],
        env={**kept, "HOME": str(home), "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(home.rglob("*")) == []
    assert list(scratch.rglob("*")) == []


def test_the_library_is_loaded_for_data_sets_alone() -> None:
    code = "import sys, converters.datasets_corpus, eval_assets.settings; sys.exit('datasets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
