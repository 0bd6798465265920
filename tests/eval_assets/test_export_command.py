"""``eval-assets export``: what other tools make of a system's search results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import pytrec_eval
from click.testing import Result
from projects import Box

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.formats import trec
from converters.results.retrieval_log import read_retrieval_log
from converters.results.trec_run import read_trec_run

Command = Callable[..., Result]


def test_trec_eval_finds_the_scores_that_we_report(refreshed: Box, command: Command, tmp_path: Path) -> None:
    result = command(refreshed, "export", "bm25", "tiny", "--to", "trec-run", "--out", str(tmp_path / "run"))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"wrote {tmp_path / 'run'}: ")
    convert_corpus(refreshed.fixture, "fixture", tmp_path / "corpus")
    trec.write(read_corpus(tmp_path / "corpus"), tmp_path / "qrels")
    with (tmp_path / "run").open() as run, (tmp_path / "qrels").open() as qrels:
        evaluator = pytrec_eval.RelevanceEvaluator(
            pytrec_eval.parse_qrel(qrels), {"ndcg_cut.10", "recall.5", "success.1"}
        )
        theirs = evaluator.evaluate(pytrec_eval.parse_run(run))
    assert {line.split()[5] for line in (tmp_path / "run").read_text().splitlines()} == {"bm25"}
    report = json.loads(command(refreshed, "report", "bm25", "tiny", "--json").stdout)["report"]
    ours = {
        (row["metric"], row["k"]): row["strict"] for row in report if (row["slice"], row["level"]) == ("all", "session")
    }
    for metric, k, name in (("ndcg", 10, "ndcg_cut_10"), ("recall", 5, "recall_5"), ("hit", 1, "success_1")):
        assert ours[metric, k] == pytest.approx(sum(found[name] for found in theirs.values()) / 3)
    assert ours["ndcg", 10] > 0


def test_a_retrieval_log(copied: Box, command: Command, tmp_path: Path) -> None:
    copied.refresh(systems=("hybrid",), benchmarks=("chats",), to="search")
    arguments = ("export", "hybrid", "chats", "--to", "retrieval-log", "--out", str(tmp_path / "log"))
    result = command(copied, *arguments)
    assert result.stdout.startswith(f"wrote {tmp_path / 'log'}: 3 questions, ")
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    source = json.loads(copied.chats.read_text())
    # Weekdays, which are wrong in this source, are not kept.
    told = [key for key in source[0] if key != "haystack_dates"]
    assert [[line[key] for key in told] for line in lines] == [[record[key] for key in told] for record in source]
    log = read_retrieval_log(tmp_path / "log").filter(question_id="q1").sort("rank")
    assert set(log["corpus_id"]) == {"answer_q1_0", "q1_1"}
    found = lines[0]["retrieval_results"]["metrics"]["session"]["recall_any@1"]
    assert found == (log["corpus_id"][0] == "answer_q1_0")

    again = command(copied, *arguments)
    assert (again.exit_code, again.stdout, again.stderr.count("\n")) == (2, "", 1)
    assert "exists already" in again.stderr
    assert command(copied, *arguments, "--force").exit_code == 0

    run = command(copied, "export", "hybrid", "chats", "--to", "trec-run", "--out", str(tmp_path / "run"))
    assert run.exit_code == 0
    assert read_trec_run(tmp_path / "run").filter(question_id="q1").height == log.height


@pytest.mark.parametrize(
    ("arguments", "status", "line"),
    [
        (["bm52", "tiny", "--to", "trec-run"], 2, "--system: unknown system 'bm52'; "),
        (
            ["tuned", "tiny", "--to", "trec-run"],
            2,
            "SYSTEM: tuned is a sweep; name one of its systems: tuned__rrf_k_10, ",
        ),
        (["bm25", "tin", "--to", "trec-run"], 2, "--benchmark: unknown benchmark 'tin'; "),
        (["bm25", "chats", "--to", "trec-run"], 1, "bm25/search_results [chats] is not there yet"),
        (["bm25", "tiny", "--to", "retrieval-log"], 2, "corpus: holds memories that a fixture's owner wrote, "),
    ],
)
def test_one_line(
    refreshed: Box, command: Command, tmp_path: Path, arguments: list[str], status: int, line: str
) -> None:
    result = command(refreshed, "export", *arguments, "--out", str(tmp_path / "out"))
    assert (result.exit_code, result.stdout) == (status, "")
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
