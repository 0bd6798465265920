"""LongMemEval's JSON to tables and back: the same records, and of a published file the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from corpora import ODD_IDS, Ask, corpus, fixture_corpus
from hypothesis import given, settings
from hypothesis import strategies as st

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.errors import BadInput
from converters.formats import longmemeval

_DATES = ("2023/05/20 (Sat) 02:21", "2023/05/20 (Sat) 23:40", "2022/12/31 (Sat) 00:00")
_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
_id = st.sampled_from([name for name in ODD_IDS if "\0" not in name]) | _text.filter(bool)
_turn = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": st.sampled_from(["Oslo", "", "\u2028"]) | _text},
    optional={"has_answer": st.booleans()},
).map(lambda turn: {key: turn[key] for key in ("role", "content", "has_answer") if key in turn})


@st.composite
def _records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Records that share texts: one text with and without labels, twice in a haystack, on one date or two."""
    pool = draw(st.lists(st.lists(_turn, max_size=3), min_size=1, max_size=3))
    names = draw(st.lists(_id, min_size=1, max_size=3, unique=True))
    return [_record(draw, name, pool) for name in names]


def _record(draw: st.DrawFn, name: str, pool: list[list[dict[str, Any]]]) -> dict[str, Any]:
    sessions = draw(st.lists(st.sampled_from(pool) | st.lists(_turn, max_size=2), min_size=1, max_size=4))
    ids = [draw(_id) for _ in sessions]
    return {
        "question_id": name,
        "question_type": draw(_id),
        "question": draw(_id),
        "answer": draw(_text | st.integers(-(10**20), 10**20) | st.sampled_from(["25", "$3,750"])),
        "question_date": draw(st.sampled_from(_DATES)),
        "haystack_dates": [draw(st.sampled_from(_DATES)) for _ in sessions],
        "haystack_session_ids": ids,
        "haystack_sessions": sessions,
        "answer_session_ids": draw(st.lists(st.sampled_from(ids), max_size=2)),
    }


def _there_and_back(source: Path, folder: Path) -> tuple[list[str], Path]:
    convert_corpus(source, "longmemeval", folder / "corpus")
    return longmemeval.write(read_corpus(folder / "corpus"), folder / "back.json"), folder / "back.json"


@settings(max_examples=settings().max_examples // 2)
@given(records=_records())
def test_every_record_comes_back(records: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "source.json"
        source.write_text(json.dumps(records, indent=4), encoding="utf-8")
        _, back = _there_and_back(source, Path(name))
        # The records have the official order of keys, so that the bytes are the same too.
        assert back.read_bytes() == source.read_bytes()


@pytest.mark.real_data
def test_the_published_oracle_comes_back_byte_by_byte(real_oracle: Path, tmp_path: Path) -> None:
    told, back = _there_and_back(real_oracle, tmp_path)
    assert told == [f"wrote {back}: 500 questions, 948 sessions in 500 haystacks"]
    digest = hashlib.sha256(back.read_bytes()).hexdigest()
    assert digest == "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c"


@pytest.mark.real_data
def test_real_s_records_come_back(real_s59: Path, tmp_path: Path) -> None:
    _, back = _there_and_back(real_s59, tmp_path)
    source, found = json.loads(gzip.decompress(real_s59.read_bytes())), json.loads(back.read_bytes())
    assert found == source
    assert json.dumps(found, sort_keys=True) == json.dumps(source, sort_keys=True)


def test_what_the_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^corpus: holds memories that a fixture's owner wrote.*; choose"):
        longmemeval.write(fixture_corpus(tmp_path), tmp_path / "back.json")
    dated = corpus(tmp_path / "dated", Ask("q"))
    for table, column in (("questions", "question_date"), ("haystacks", "session_date"), ("ground_truth", "answer")):
        frame = dated[table]
        undated = {**dated, table: frame.with_columns(frame[column].clear(frame.height))}
        with pytest.raises(
            BadInput, match=f"^corpus: {table}: {column}: is missing in {frame.height} of {frame.height}"
        ):
            longmemeval.write(undated, tmp_path / "back.json")
    assert not (tmp_path / "back.json").exists()


def test_progress_and_a_question_without_ground_truth(tmp_path: Path) -> None:
    tables = corpus(tmp_path / "corpus", Ask("a"), Ask("b"))
    told: list[tuple[int, int]] = []
    longmemeval.write(tables, tmp_path / "back.json", progress=lambda *done: told.append(done))
    assert told == [(1, 2), (2, 2)]
    lost = {**tables, "ground_truth": tables["ground_truth"].filter(question_id="a")}
    with pytest.raises(BadInput, match=r"^ground_truth: 'b': no ground truth for 1 of 2 questions"):
        longmemeval.write(lost, tmp_path / "other.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back.json", "corpus"]
