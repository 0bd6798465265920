"""BEIR folders and TREC judgments: read by plain readers and by trec_eval's, they say the same and what was put in."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytrec_eval
from corpora import ODD_IDS, TEXTS, WHEN, Ask, asked, corpus, fixture_corpus, left
from hypothesis import given, settings

from converters.formats import beir, trec
from converters.formats.ids import decode_id, encode_id

Judged = dict[str, dict[str, int]]


def _lines(path: Path) -> list[dict[str, Any]]:
    # As BEIR's loader does: by line, in UTF-8.
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _pairs(path: Path) -> list[list[str]]:
    # BEIR's loader: csv.reader(delimiter="\t", quoting=csv.QUOTE_MINIMAL), the first row left out.
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL))[1:]


def _judged(folder: Path) -> Judged:
    judged: Judged = defaultdict(dict)
    for query, document, score in _pairs(folder / "qrels" / "test.tsv"):
        judged[query][document] = int(score)
    return dict(judged)


@settings(max_examples=settings().max_examples // 2)
@given(asks=asked())
def test_both_formats_judge_what_was_put_in(asks: list[Ask]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = corpus(folder / "corpus", *asks)
        beir.write(tables, folder / "beir")
        trec.write(tables, folder / "qrels")
        judged = _judged(folder / "beir")
        with (folder / "qrels").open(encoding="utf-8") as file:
            assert pytrec_eval.parse_qrel(file) == judged
        texts = {line["_id"]: line for line in _lines(folder / "beir" / "corpus.jsonl")}
        queries = _lines(folder / "beir" / "queries.jsonl")
        pairs = _pairs(folder / "beir" / "candidates" / "test.tsv")
    assert [decode_id(query["_id"]) for query in queries] == [ask.question_id for ask in asks]
    assert [query["text"] for query in queries] == tables["questions"]["question"].to_list()
    for ask in asks:
        query = encode_id(ask.question_id)
        expected = {place for place in ask.haystack if place[0] in ask.evidence and not ask.abstention}
        found = {(_number(texts[key]), _day(texts[key])) for key in judged.get(query, {})}
        assert found == expected
        assert len(judged.get(query, {})) == len(expected)
        held = [(_number(texts[key]), _day(texts[key])) for name, key in pairs if name == query]
        assert held == list(dict.fromkeys(ask.haystack))
    assert len(texts) == len({place for ask in asks for place in ask.haystack})


def _number(document: dict[str, Any]) -> int:
    number = int(document["text"].removeprefix("user: ").split(" ")[0])
    assert document["text"] == f"user: {number} {TEXTS[number % len(TEXTS)]}\n\nassistant: Yes."
    assert document["metadata"] == {"date": document["title"], "turns": 2}
    return number


def _day(document: dict[str, Any]) -> int:
    return int(document["title"].removeprefix("2023-05-").removesuffix("T02:21:00Z")) - WHEN.day


def test_an_ideal_run_is_ideal(tmp_path: Path) -> None:
    asks = [Ask(name, haystack=[(n, n) for n in range(5)], evidence=(3, 1)) for name in ODD_IDS]
    trec.write(corpus(tmp_path / "corpus", *asks), tmp_path / "qrels")
    with (tmp_path / "qrels").open(encoding="utf-8") as file:
        judged = pytrec_eval.parse_qrel(file)
    ideal = {query: {document: float(score) for document, score in found.items()} for query, found in judged.items()}
    scores = pytrec_eval.RelevanceEvaluator(judged, {"ndcg", "recall.2"}).evaluate(ideal)
    assert {decode_id(query) for query in scores} == set(ODD_IDS)
    assert {(row["ndcg"], row["recall_2"]) for row in scores.values()} == {(1.0, 1.0)}


def test_one_text_on_two_days_is_two_relevant_documents(tmp_path: Path) -> None:
    tables = corpus(tmp_path / "corpus", Ask("q", haystack=[(0, 0), (1, 1), (0, 2), (0, 2)], evidence=(0,)))
    beir.write(tables, tmp_path / "beir")
    trec.write(tables, tmp_path / "qrels")
    assert len(_judged(tmp_path / "beir")["q"]) == len(_pairs(tmp_path / "beir" / "qrels" / "test.tsv")) == 2
    assert (tmp_path / "qrels").read_text().count("\n") == 2


def test_what_is_said_and_what_the_folder_holds(tmp_path: Path) -> None:
    asks = [Ask(name, abstention=number < 2, evidence=(number % 2,)) for number, name in enumerate(ODD_IDS)]
    asks.append(Ask("lost", evidence=(9,)))
    tables = corpus(tmp_path / "corpus", *asks)
    told: list[tuple[int, int]] = []
    assert beir.write(tables, tmp_path / "beir", progress=lambda *done: told.append(done)) == [
        f"wrote {tmp_path / 'beir'}: 2 documents, 12 queries, 9 judgments",
        "  queries without judgments: 2 abstention, 1 without an evidence session in the haystack",
        "  candidates/test.tsv: the haystack of each query, 24 pairs",
    ]
    assert told == [(1, 2), (2, 2)]
    assert trec.write(tables, tmp_path / "qrels") == [
        f"wrote {tmp_path / 'qrels'}: 9 judgments of 9 queries",
        "  queries without judgments: 2 abstention, 1 without an evidence session in the haystack",
    ]
    names = ["candidates", "candidates/test.tsv", "corpus.jsonl", "qrels", "qrels/test.tsv", "queries.jsonl"]
    assert left(tmp_path / "beir") == names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beir", "corpus", "qrels"]


def test_no_label_but_in_ids_and_judgments(tmp_path: Path) -> None:
    tables = corpus(tmp_path / "corpus", Ask("q_abs", abstention=True), Ask("q2"))
    beir.write(tables, tmp_path / "beir")
    shown = [(tmp_path / "beir" / name).read_text() for name in ("corpus.jsonl", "queries.jsonl")]
    assert not any(word in text for text in shown for word in ("multi-session", "source 0", "abstention"))


def test_a_fixture_is_its_memories(tmp_path: Path) -> None:
    beir.write(fixture_corpus(tmp_path), tmp_path / "beir")
    documents = _lines(tmp_path / "beir" / "corpus.jsonl")
    assert [(one["title"], one["text"]) for one in documents] == [
        ("2025-01-02T09:00:00.500000Z", "Keys: blue bowl."),
        ("", "No date."),
    ]
    assert _judged(tmp_path / "beir") == {"q1": {documents[0]["_id"]: 1}}
