"""Rankings as search results: what their ids name, what is missing, what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.errors import BadInput
from converters.results.search_results import import_rankings

Tables = Mapping[str, pl.DataFrame]


def record(name: str, sessions: list[tuple[str, str]], gold: list[str]) -> dict[str, Any]:
    return {
        "question_id": name,
        "question_type": "multi-session",
        "question": "What?",
        "answer": "that",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_dates": [f"2023/05/{10 + index} (Wed) 02:21" for index in range(len(sessions))],
        "haystack_session_ids": [session for session, _ in sessions],
        "haystack_sessions": [
            [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}] for _, text in sessions
        ],
        "answer_session_ids": gold,
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("corpus")
    records = [
        record("q1", [("answer_a", "one"), ("b", "two"), ("b_2", "three")], ["answer_a"]),
        record("q2", [("twice", "four"), ("c", "five"), ("twice", "four")], ["c"]),
    ]
    (folder / "source.json").write_text(json.dumps(records))
    convert_corpus(folder / "source.json", "longmemeval", folder / "corpus")
    return read_corpus(folder / "corpus")


def keys(tables: Tables, haystack: str) -> list[str]:
    return tables["haystacks"].filter(haystack_id=haystack).sort("position")["session_key"].to_list()


def run(path: Path, *lines: tuple[str, str]) -> Path:
    path.write_text("".join(f"{question} Q0 {name} 1 {-rank} x\n" for rank, (question, name) in enumerate(lines)))
    return path


def log(path: Path, **names: list[str]) -> Path:
    path.write_text(
        "".join(
            json.dumps(
                {
                    "question_id": question,
                    "retrieval_results": {"ranked_items": [{"corpus_id": name, "text": name} for name in found]},
                }
            )
            + "\n"
            for question, found in names.items()
        )
    )
    return path


def hits(frame: pl.DataFrame, question: str) -> list[dict[str, Any]]:
    return list(frame.filter(question_id=question)["hits"][0])


def test_source_ids_and_session_keys_name_the_same(tables: Tables, tmp_path: Path) -> None:
    one, two = keys(tables, "q1")[:2]
    by_id = import_rankings(run(tmp_path / "ids", ("q1", "b"), ("q1", "answer_a")), "trec_run", tables)
    by_key = import_rankings(run(tmp_path / "keys", ("q1", two), ("q1", one)), "trec_run", tables)
    assert by_id.frame.equals(by_key.frame)
    assert [hit["session_keys"] for hit in hits(by_id.frame, "q1")] == [[two], [one]]
    # An id of the source may tell the answer.
    assert [hit["provider_id"] for hit in hits(by_id.frame, "q1")] == [two, one]


def test_an_id_that_occurs_twice_is_either_occurrence(tables: Tables, tmp_path: Path) -> None:
    first, _, third = keys(tables, "q2")
    assert first != third
    found = import_rankings(run(tmp_path / "run", ("q2", "twice")), "trec_run", tables)
    assert [hit["session_keys"] for hit in hits(found.frame, "q2")] == [[first, third]]


def test_turns_are_told_from_sessions_by_what_most_of_the_ids_are(tables: Tables, tmp_path: Path) -> None:
    one, two, three = keys(tables, "q1")
    turns = import_rankings(log(tmp_path / "turns", q1=["b_2", "b_2_1", "noans_a_1", "b_9"]), "retrieval_log", tables)
    assert [(hit["session_keys"], hit["turns"]) for hit in hits(turns.frame, "q1")] == [
        ([two], [1]),
        ([three], [0]),
        ([one], [0]),
        ([], None),
    ]
    sessions = import_rankings(log(tmp_path / "sessions", q1=["b_2", "b", "noans_a"]), "retrieval_log", tables)
    assert [(hit["session_keys"], hit["turns"]) for hit in hits(sessions.frame, "q1")] == [
        ([three], None),
        ([two], None),
        ([one], None),
    ]
    assert hits(sessions.frame, "q1")[0]["content"] == "b_2"


def test_what_is_missing_is_empty_and_counted(tables: Tables, tmp_path: Path) -> None:
    found = import_rankings(log(tmp_path / "log", q1=["b", "elsewhere"]), "retrieval_log", tables)
    assert found.frame["status"].to_list() == ["ok", "empty"]
    assert found.frame["error"].to_list() == [None, "no line in the file"]
    assert (found.n_absent, found.n_hits, found.n_unmapped) == (1, 2, 1)
    unmapped = hits(found.frame, "q1")[1]
    assert (unmapped["provider_id"], unmapped["session_keys"], unmapped["rank"]) == ("elsewhere", [], 2)
    # A line without items is a line.
    assert import_rankings(log(tmp_path / "none", q1=[], q2=["c"]), "retrieval_log", tables).n_absent == 0


def test_the_limit_is_that_of_the_longest_list_or_as_given(tables: Tables, tmp_path: Path) -> None:
    path = log(tmp_path / "log", q1=["b", "answer_a"], q2=["c"])
    assert import_rankings(path, "retrieval_log", tables).frame["limit"].unique().to_list() == [2]
    assert import_rankings(path, "retrieval_log", tables, limit=9).frame["limit"].unique().to_list() == [9]
    cut = import_rankings(path, "retrieval_log", tables, limit=1).frame
    assert [len(hits(cut, name)) for name in ("q1", "q2")] == [1, 1]
    assert import_rankings(log(tmp_path / "none", q1=[]), "retrieval_log", tables).frame["limit"].to_list() == [1, 1]


def test_a_question_that_nobody_asked(tables: Tables, tmp_path: Path) -> None:
    path = run(tmp_path / "run", ("q1", "b"), ("q7", "b"), ("q8", "b"))
    with pytest.raises(BadInput) as error:
        import_rankings(path, "trec_run", tables)
    assert error.value.line == (
        f"{path}: question_id: 'q7' is no question of the benchmark, nor are 1 more; "
        "give the results of this benchmark, or take the lines out"
    )
