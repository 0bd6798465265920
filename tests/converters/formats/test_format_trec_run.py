"""Runs that we write and runs that we read, against trec_eval's order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import pytrec_eval
from corpora import ODD_IDS, Ask, asked, corpus, results
from hypothesis import given, settings
from hypothesis import strategies as st

from converters.formats import trec
from converters.formats.ids import decode_id, encode_id
from converters.results.trec_run import read_trec_run


@given(st.text(min_size=1))
def test_ids_come_back_and_divide_no_column(text: str) -> None:
    encoded = encode_id(text)
    assert decode_id(encoded) == text
    assert encoded.isascii()
    assert encoded.split() == [encoded]
    assert not set(encoded) & set("\"'#")


@pytest.mark.parametrize("name", ["gpt4_2655b836", "031748ae_abs", "09ba9854_abs"])
def test_real_ids_stay_as_they_are(name: str) -> None:
    assert encode_id(name) == name


@settings(max_examples=settings().max_examples // 2)
@given(asks=asked(), data=st.data())
def test_a_run_keeps_the_order_in_trec_eval_and_comes_back(asks: list[Ask], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = corpus(folder / "corpus", *asks)
        held = {
            ask.question_id: tables["haystacks"].filter(haystack_id=f"h{number}")["session_key"].to_list()
            for number, ask in enumerate(asks)
        }
        hits = {
            question: data.draw(st.lists(st.lists(st.sampled_from([*keys, "nowhere"]), max_size=2), max_size=8))
            for question, keys in held.items()
        }
        trec.write_run(tables, results(*((q, "ok", found) for q, found in hits.items())), folder / "run", tag="a b")
        with (folder / "run").open(encoding="utf-8") as file:
            run = pytrec_eval.parse_run(file)
        tags = {line.split(" ")[5] for line in (folder / "run").read_text().split("\n") if line}
        expected = {
            question: list(dict.fromkeys(key for hit in found for key in hit if key != "nowhere"))
            for question, found in hits.items()
        }
        if not any(expected.values()):
            assert run == {}
            return
        back = read_trec_run(folder / "run")
    assert tags == {"a%20b"}
    assert {q: list(run.get(encode_id(q), {})) for q in held} == expected
    for question, keys in expected.items():
        query = encode_id(question)
        for rank, key in enumerate(keys, 1):
            scores = pytrec_eval.RelevanceEvaluator({query: {key: 1}}, {"recip_rank"}).evaluate({query: run[query]})
            assert scores[query]["recip_rank"] == pytest.approx(1 / rank)
    rows = [(q, key, rank, -rank) for q, keys in expected.items() for rank, key in enumerate(keys, 1)]
    assert back.rows() == rows


def test_questions_without_a_line_are_counted(tmp_path: Path) -> None:
    tables = corpus(tmp_path / "corpus", *(Ask(name) for name in "abcde"))
    key = tables["haystacks"]["session_key"][0]
    found = results(("a", "ok", [[key]]), ("b", "empty", []), ("c", "error", [[key]]), ("d", "ok", [["nowhere"]]))
    assert trec.write_run(tables, found, tmp_path / "run") == [
        f"wrote {tmp_path / 'run'}: 1 line of 1 query",
        "  queries without a line (trec_eval -c counts them as zero): 2 empty, 1 error, 1 not_run",
    ]
    assert (tmp_path / "run").read_text() == f"a Q0 {key} 1 -1 eval-assets\n"


_scores = st.sampled_from([0.0, -1.0, 1.0, 1.00000001, 1e-50, 16777217.0, 16777216.0]) | st.floats(-1e30, 1e30)


@given(found=st.dictionaries(st.sampled_from(ODD_IDS) | st.text(min_size=1, max_size=3), _scores, min_size=1))
def test_the_rank_read_is_trec_evals(found: dict[str, float]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run"
        path.write_text("".join(f"q Q0 {encode_id(key)} 7 {score!r} t\r\n" for key, score in found.items()))
        ranks = dict(read_trec_run(path).select("doc_id", "rank").iter_rows())
    run = {encode_id(key): score for key, score in found.items()}
    documents = list(run)
    judged = {str(number): {document: 1} for number, document in enumerate(documents)}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(dict.fromkeys(judged, run))
    assert len(ranks) == len(found)
    for number, document in enumerate(documents):
        assert theirs[str(number)]["recip_rank"] == pytest.approx(1 / ranks[decode_id(document)])
