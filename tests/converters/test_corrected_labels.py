"""Corrected labels: rows beside the source's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.corrections import Correction, correct
from converters.errors import BadInput

NAMES = ("ground_truth", "questions", "haystacks", "memories")
Tables = Mapping[str, pl.DataFrame]


def session(*turns: str, marked: int | None = None) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": text, **({"has_answer": True} if place == marked else {})}
        for place, text in enumerate(turns)
    ]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """One question, four sessions: one of evidence, two of something else, one with the first text and another id."""
    folder = tmp_path_factory.mktemp("corrections")
    record = {
        "question_id": "q",
        "question_type": "multi-session",
        "question": "How many?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_dates": [f"2023/05/{20 + place} (Sat) 02:21" for place in range(4)],
        "haystack_session_ids": ["answer_a", "b", "c", "again"],
        "haystack_sessions": [
            session("Two.", "And one.", marked=1),
            session("Rain."),
            session("Sun."),
            session("Two.", "And one.", marked=0),
        ],
        "answer_session_ids": ["answer_a"],
    }
    (folder / "source.json").write_text(json.dumps([record]))
    convert_corpus(folder / "source.json", "longmemeval", folder / "corpus")
    return read_corpus(folder / "corpus")


def corrected(tables: Tables, **overlays: Mapping[str, Correction]) -> pl.DataFrame:
    return correct("corrections.yaml", overlays, **{name: tables[name] for name in NAMES})


def test_what_is_not_named_stays(tables: Tables) -> None:
    found = corrected(tables, one={"q": Correction(answer="four")}, two={"q": Correction(question_type="counting")})
    base = tables["ground_truth"]
    changed = {"one": {"answer": "four", "answer_type": "str"}, "two": {"question_type": "counting"}}
    for name, columns in changed.items():
        row = found.filter(pl.col("overlay") == name)
        assert row.drop("overlay", *columns).equals(base.drop("overlay", *columns))
        assert row.select(*columns).to_dicts() == [columns]


def test_evidence_is_named_by_the_sources_ids(tables: Tables) -> None:
    hashes = tables["haystacks"].sort("position")["content_hash"].to_list()
    row = corrected(tables, one={"q": Correction(answer_session_ids=["c", "again", "answer_a"])}).to_dicts()[0]
    assert row["answer_session_ids"] == ["c", "again", "answer_a"]
    assert row["evidence_hashes"] == [hashes[2], hashes[0]]
    assert row["evidence_turns"] == [{"content_hash": hashes[0], "turn_index": turn} for turn in (1, 0)]
    none = corrected(tables, one={"q": Correction(answer_session_ids=["b"])}).to_dicts()[0]
    assert (none["evidence_hashes"], none["evidence_turns"]) == ([hashes[1]], [])
    nothing = corrected(tables, one={"q": Correction(answer_session_ids=[])}).to_dicts()[0]
    assert (nothing["answer_session_ids"], nothing["evidence_hashes"]) == ([], [])


def test_an_abstention_and_a_number(tables: Tables) -> None:
    row = corrected(tables, one={"q": Correction(answer=4, is_abstention=True)}).to_dicts()[0]
    assert (row["answer"], row["answer_type"], row["is_abstention"]) == ("4", "int", True)


@pytest.mark.parametrize(
    ("question", "correction", "said"),
    [
        ("p", Correction(answer="x"), "corrections.yaml: corrections.one.questions.p: the benchmark has no such"),
        ("q", Correction(answer_session_ids=["z"]), "answer_session_ids: the question's haystack has no session 'z'"),
    ],
    ids=["question", "session"],
)
def test_what_is_unknown_is_refused(tables: Tables, question: str, correction: Correction, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        corrected(tables, one={question: correction})
    assert said in caught.value.line


@pytest.mark.real_data
def test_the_sources_own_labels_correct_nothing(real_oracle: Path, tmp_path: Path) -> None:
    """Named once more as corrections, the labels of all 500 questions are those of base."""
    convert_corpus(real_oracle, "longmemeval", tmp_path / "corpus")
    tables = read_corpus(tmp_path / "corpus")
    base = tables["ground_truth"]
    same = {
        row["question_id"]: Correction(
            int(row["answer"]) if row["answer_type"] == "int" else row["answer"],
            row["answer_session_ids"],
            row["is_abstention"],
            row["question_type"],
        )
        for row in base.to_dicts()
    }
    found = corrected(tables, same=same)
    assert found.height == 500
    known = base.sort("question_id").drop("overlay", "evidence_turns")
    assert found.sort("question_id").drop("overlay", "evidence_turns").equals(known)
    turns = [frame.sort("question_id")["evidence_turns"].list.len() for frame in (base, found)]
    assert turns[0].equals(turns[1])
