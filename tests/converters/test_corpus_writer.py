"""The corpus writer: what it stores once, what it leaves behind, and what a reader gets back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from converters.corpus import CorpusWriter, content_hash, read_corpus, session_key
from converters.errors import BadInput
from converters.parquet import footer
from converters.tables import CORPUS

DATE = datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
LATER = datetime(2023, 5, 21, 9, 0, tzinfo=UTC)
TURNS = [("user", "I moved to Oslo."), ("assistant", "How is it?")]


def _write(folder: Path) -> CorpusWriter:
    with CorpusWriter(folder, {"made_by": "a test"}) as writer:
        digest = writer.add_session(TURNS)
        assert writer.add_session(list(TURNS)) == digest
        writer.add_haystack("h", [(digest, DATE), (digest, LATER), (digest, None)])
        writer.add_question("q", haystack_id="h", question="Where?", question_date=DATE, as_of=LATER)
        writer.add_ground_truth(
            "q",
            question_type="t",
            is_abstention=False,
            answer="Oslo",
            answer_type="str",
            source_session_ids=["a", "b", "b"],
            answer_session_ids=["a"],
            evidence_hashes=[digest],
            evidence_turns=[(digest, 0)],
            turn_labels=[(0, 0, True)],
        )
        writer.add_memory("m", "Oslo", importance="high", created_at=DATE, confidence=0.5)
        writer.add_query_option("q", k=3, client_id="me")
        writer.add_provenance({"sha256": "ab"})
    return writer


def test_every_table_is_written_and_read_back(tmp_path: Path) -> None:
    corpus = _write(tmp_path / "corpus").corpus
    assert corpus is not None
    tables = read_corpus(corpus.folder)
    assert set(tables) == set(CORPUS)
    assert {name: frame.height for name, frame in tables.items()} == {
        name: written.n_rows for name, written in corpus.tables.items()
    }
    assert all(written.path.is_file() for written in corpus.tables.values())
    assert tables["turns"].height == 3
    assert tables["sessions"]["n_chars"].to_list() == [26, 4]
    assert tables["haystacks"]["session_date"].to_list() == [DATE, LATER, None]
    assert tables["haystacks"]["session_key"].n_unique() == 3
    memory = tables["memories"].row(0, named=True)
    assert memory["content_hash"] == content_hash([("memory", "Oslo")])
    assert memory["session_key"] == session_key(memory["content_hash"], DATE)
    assert (memory["importance"], memory["subject"]) == ("high", None)
    assert tables["ground_truth"]["evidence_turns"].to_list() == [
        [{"content_hash": content_hash(TURNS), "turn_index": 0}]
    ]
    facts = footer(corpus.tables["turns"].path)
    assert (facts["made_by"], facts["sha256"]) == ("a test", "ab")


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="halfway"), CorpusWriter(tmp_path / "corpus") as writer:
        writer.add_session(TURNS)
        raise RuntimeError("halfway")
    assert list(tmp_path.iterdir()) == []
    assert writer.corpus is None


def test_an_error_leaves_the_former_corpus(tmp_path: Path) -> None:
    _write(tmp_path / "corpus")
    with pytest.raises(RuntimeError), CorpusWriter(tmp_path / "corpus"):
        raise RuntimeError
    assert read_corpus(tmp_path / "corpus")["questions"].height == 1
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_a_corpus_replaces_a_corpus_but_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    _write(folder)
    _write(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    (folder / "diary.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"holds other files \(diary\.txt\); choose a new folder"):
        _write(folder)
    assert (folder / "diary.txt").read_text() == "mine"


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("mine")
    with pytest.raises(BadInput, match="is not a folder"):
        _write(tmp_path / "corpus")
    with pytest.raises(BadInput, match="cannot be written"):
        _write(tmp_path / "corpus" / "below")


def test_row_groups_are_written_as_they_fill(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    with CorpusWriter(tmp_path / "corpus") as writer:
        for number in range(5):
            writer.add_session([("user", f"{number}" * 700_000)])
    assert writer.corpus is not None
    assert pq.ParquetFile(writer.corpus.tables["turns"].path).num_row_groups == 2
