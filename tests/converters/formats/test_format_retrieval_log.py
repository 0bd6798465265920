"""LongMemEval's retrieval log as its own scripts would read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import ODD_IDS, Ask, corpus, fixture_corpus, results
from hypothesis import given
from hypothesis import strategies as st

from converters.errors import BadInput
from converters.formats import longmemeval
from converters.formats.official_metrics import CUTOFFS, official_metrics
from converters.formats.retrieval_log import write_retrieval_log
from converters.results.retrieval_log import read_retrieval_log

FIELDS = [
    "question_id", "question_type", "question", "answer", "question_date", "haystack_dates", "haystack_sessions",
    "haystack_session_ids", "answer_session_ids", "retrieval_results",
]  # fmt: skip


def _read(path: Path) -> list[dict[str, Any]]:
    # As LongMemEval's scripts do.
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file.readlines()]


def test_a_log(tmp_path: Path) -> None:
    haystack = [(0, 0), (1, 1), (2, 1), (0, 2)]
    # The evidence is text 0, at two places; only its first place has a marked turn of the user's.
    tables = corpus(tmp_path / "corpus", Ask("a/b", haystack, (0,), labels=[(0, 0, True), (0, 1, False), (3, 1, True)]))
    keys = tables["haystacks"]["session_key"].to_list()
    found = results(("a/b", "ok", [["nowhere"], [keys[1]], [keys[3], keys[1]], [keys[0]]]))
    assert write_retrieval_log(tables, found, tmp_path / "log") == [
        f"wrote {tmp_path / 'log'}: 1 question, 3 ranked items"
    ]
    (line,) = _read(tmp_path / "log")
    assert list(line) == FIELDS
    longmemeval.write(tables, tmp_path / "source.json")
    (source,) = json.loads((tmp_path / "source.json").read_text())
    logged = line.pop("retrieval_results")
    assert line == source
    assert logged["query"] == source["question"]
    assert logged["ranked_items"] == [
        {"corpus_id": "source 0/1", "text": "hit 2\u2028", "timestamp": "2023/05/21 (Sun) 02:21"},
        {"corpus_id": "source 0/3", "text": "hit 3\u2028", "timestamp": "2023/05/22 (Mon) 02:21"},
        {"corpus_id": "source 0/0", "text": "hit 4\u2028", "timestamp": "2023/05/20 (Sat) 02:21"},
    ]
    assert logged["metrics"]["turn"] == {}
    session = logged["metrics"]["session"]
    assert list(session) == [f"{name}@{k}" for k in CUTOFFS for name in ("recall_any", "recall_all", "ndcg_any")]
    # The only gold item is at rank 3: nothing at 1, and at 3 it weighs 1 / log2(3).
    assert (session["recall_any@1"], session["recall_all@3"]) == (0, 1)
    assert session["ndcg_any@5"] == pytest.approx(1 / np.log2(3))
    rows = read_retrieval_log(tmp_path / "log").rows()
    assert rows == [("a/b", rank, *item.values()) for rank, item in enumerate(logged["ranked_items"], 1)]


def test_one_session_at_two_places_on_one_date(tmp_path: Path) -> None:
    tables = corpus(tmp_path / "corpus", Ask("q", [(0, 0), (1, 1), (0, 0)]))
    write_retrieval_log(tables, results(("q", "ok", [[tables["haystacks"]["session_key"][2]]])), tmp_path / "log")
    (line,) = _read(tmp_path / "log")
    assert [item["corpus_id"] for item in line["retrieval_results"]["ranked_items"]] == ["source 0/0", "source 0/2"]


def test_nothing_found_is_zero_and_a_failure_or_a_cut_list_is_not(tmp_path: Path) -> None:
    haystack = [(number, number) for number in range(7)]
    asks = [Ask(name, haystack, labels=[(0, 0, True)]) for name in ("empty", "error", "cut", "lost")]
    tables = corpus(tmp_path / "corpus", *asks)
    hits = [[key] for key in tables["haystacks"]["session_key"].to_list()[:4]]
    found = results(("empty", "empty", []), ("error", "error", hits), ("cut", "ok", hits), limit=4)
    assert write_retrieval_log(tables, found, tmp_path / "log") == [
        f"wrote {tmp_path / 'log'}: 4 questions, 4 ranked items",
        "  without items or metrics, for their search failed: 2",
        "  without metrics beyond the end of a list that was cut: 1",
    ]
    metrics = {one["question_id"]: one["retrieval_results"]["metrics"]["session"] for one in _read(tmp_path / "log")}
    assert metrics["error"] == metrics["lost"] == {}
    assert {metrics["empty"][f"recall_any@{k}"] for k in CUTOFFS} == {0.0}
    assert {name.partition("@")[2] for name in metrics["cut"]} == {"1", "3"}
    back = read_retrieval_log(tmp_path / "log")
    assert back.filter(back["rank"].is_null())["question_id"].to_list() == ["empty", "error", "lost"]


def test_odd_ids_and_texts_stay_on_their_line(tmp_path: Path) -> None:
    tables = corpus(tmp_path / "corpus", *(Ask(name) for name in ODD_IDS))
    key = tables["haystacks"]["session_key"][0]
    write_retrieval_log(tables, results(*((name, "ok", [[key]]) for name in ODD_IDS)), tmp_path / "log")
    assert read_retrieval_log(tmp_path / "log")["question_id"].to_list() == list(ODD_IDS)
    assert (tmp_path / "log").read_bytes().isascii()


def test_a_fixture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^corpus: holds memories"):
        write_retrieval_log(fixture_corpus(tmp_path), results(), tmp_path / "log")
    assert not (tmp_path / "log").exists()


@given(st.permutations(range(12)), st.sets(st.integers(0, 13), max_size=6), st.integers(0, 60))
def test_the_metrics_by_their_definition(order: list[int], gold: set[int], depth: int) -> None:
    names = {f"s{number}" for number in gold}
    ranked = [f"s{number}" for number in order]
    found = official_metrics(ranked, names, [f"s{number}" for number in range(12)], depth)
    assert {int(name.partition("@")[2]) for name in found} == {k for k in CUTOFFS if k <= depth}
    relevant = np.isin(order, list(gold)).astype(float)
    for k in (k for k in CUTOFFS if k <= depth):
        discounts = np.concatenate([[1.0], np.log2(np.arange(2, 13))])[:k]
        ideal = np.sum(np.sort(relevant)[::-1][:k] / discounts)
        assert found[f"ndcg_any@{k}"] == pytest.approx(np.sum(relevant[:k] / discounts) / ideal if ideal else 0)
        assert found[f"recall_any@{k}"] == float(bool(names & set(ranked[:k])))
        assert found[f"recall_all@{k}"] == float(names <= set(ranked[:k]))
