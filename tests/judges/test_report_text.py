from __future__ import annotations

import json

import pytest
from boards import Ask, scored

from judges import report_markdown, report_text
from judges.aggregate import aggregate
from judges.report_values import cell, one_line
from judges.retrieval_metrics import CUTOFFS, METRICS

RIGHT = Ask(["s1"], ["s1"], text="What did I order?")
HALF = Ask(["s2", "s1"], ["s1", "s3"], type="temporal-reasoning")
FAILED = Ask([], ["s1"], status="error")
ABSTENTION = Ask(["s1"], [], abstention=True)
CUT = Ask(["s1"], ["s1"], limit=1)


def test_a_line_a_query() -> None:
    right, half, failed, abstention, cut = report_text.query_lines(scored(RIGHT, HALF, FAILED, ABSTENTION, CUT))
    assert right == (
        "q0  hit@5=1.000 rec@5=1.000 rr@5=1.000   hit@10=1.000 rec@10=1.000 rr@10=1.000  What did I order?"
    )
    assert "hit@5=1.000 rec@5=0.500 rr@5=0.500 " in half
    assert "hit@5=-     rec@5=-     rr@5=-     " in failed
    assert "[error]" in failed
    assert "hit@5=-     rec@5=-     rr@5=-     " in abstention
    assert "[abstention]" in abstention
    assert "hit@5=-     " in cut
    assert "[" not in cut


def test_aggregate_line() -> None:
    line = report_text.aggregate_line(aggregate(scored(RIGHT, HALF)))
    assert line == ("AGGREGATE (n=2)  hit@5=1.000 R@5=0.750 MRR@5=0.750   hit@10=1.000 R@10=0.750 MRR@10=0.750")


def test_aggregate_line_says_what_it_leaves_out() -> None:
    line = report_text.aggregate_line(aggregate(scored(RIGHT, FAILED, ABSTENTION, CUT)))
    assert line.startswith("AGGREGATE (n=2)  hit@5=- R@5=- MRR@5=-   hit@10=- ")
    assert line.endswith("(1 excluded: no evidence to find, 1 failed, 1 of n undefined: list cut too early)")


def test_search_line() -> None:
    line = report_text.search_line(scored(RIGHT, FAILED, ABSTENTION, Ask(["nowhere"], ["s1"])))
    assert line == (
        "4 questions, 1000 hits asked for; searches: 3 ok, 1 error; excluded: 1 abstention; "
        "1 of 3 hits map to no session"
    )


def test_full_metrics() -> None:
    text = report_text.full_metrics(aggregate(scored(RIGHT, HALF, FAILED, Ask(["s1"], ["s1"], own_k=2))))
    session, turn = text.split("\n\n")
    lines = session.splitlines()
    assert lines[0] == "session level"
    assert lines[1].split() == [
        "metric",
        "value",
        "95",
        "%",
        "interval",
        "strict",
        "n",
        "excluded",
        "failed",
        "undefined",
    ]
    assert next(line for line in lines if line.startswith("hit@5 ")).split()[-5:] == ["0.750", "3", "0", "1", "0"]
    assert len(lines) == 2 + len(METRICS) * (len(CUTOFFS) + 1)
    assert any(line.startswith("ndcg@own") for line in lines)
    assert turn == "turn level: nothing to score (n=0, 4 excluded, 0 failed)"
    blind = report_text.full_metrics(aggregate(scored(Ask(["s1"], ["s1"], turns=[("s1", 0)]))))
    assert "turn level: undefined (n=1, 0 excluded, 0 failed;" in blind


def test_no_questions() -> None:
    scores, report = scored(), aggregate(scored())
    assert report_text.query_lines(scores) == []
    assert report_text.aggregate_line(report).startswith("AGGREGATE (n=0)  hit@5=- ")
    assert "0 questions, no hits asked for" in report_text.search_line(scores)
    assert report_text.as_json(scores, report)["headline"]["hit@5"] is None
    assert "0 questions scored" in report_markdown.markdown_worst(scores)
    assert report_markdown.markdown_headline(report).count("\n") == 9
    assert report_markdown.markdown_by_type(report).count("\n") == 2


def test_json_has_every_figure_and_no_nan() -> None:
    scores = scored(RIGHT, HALF, FAILED, ABSTENTION)
    report = aggregate(scores)
    found = json.loads(json.dumps(report_text.as_json(scores, report), allow_nan=False))
    assert found["headline"]["recall@5"] == 0.75
    assert found["headline"]["recall@5_strict"] == 0.5
    assert (found["headline"]["n"], found["headline"]["n_excluded"], found["headline"]["n_failed"]) == (2, 1, 1)
    assert len(found["report"]) == report.height
    assert [question["status"] for question in found["questions"]] == ["ok", "ok", "error", "ok"]
    assert found["questions"][1]["scores"]["session"]["recall@5"] == 0.5
    assert found["questions"][2]["scores"]["session"]["recall@5"] is None


def test_markdown_tables() -> None:
    report = aggregate(scored(RIGHT, HALF, FAILED, ABSTENTION))
    by_type = report_markdown.markdown_by_type(report).splitlines()
    assert by_type[0].startswith("| type | n | excluded | failed | hit@5 | R@5 | MRR@5 | hit@10 |")
    assert [line.split(" | ")[:4] for line in by_type[2:]] == [
        ["| multi-session", "1", "1", "1"],
        ["| temporal-reasoning", "1", "0", "0"],
        ["| all", "2", "1", "1"],
    ]
    headline = report_markdown.markdown_headline(report).splitlines()
    assert headline[2] == "| hit@5 | 1.000 | 1.000 to 1.000 | 0.667 | 2 | 1 | 1 |"


def test_worst_questions_come_worst_first() -> None:
    late = Ask([f"s{n}" for n in range(20)], ["s15"])
    never = Ask(["s2"], ["s1"])
    table = report_markdown.markdown_worst(scored(RIGHT, late, HALF, never, FAILED, ABSTENTION), n=3).splitlines()
    assert [line.split(" | ")[0] for line in table[2:5]] == ["| q3", "| q1", "| q2"]
    assert [line.split(" | ")[2] for line in table[2:5]] == ["none (0 of 1)", "16 (1 of 1)", "2 (1 of 2)"]
    assert table[-1] == "4 questions scored; 1 more failed and are not listed."
    assert report_markdown.markdown_worst(scored(RIGHT)).startswith("No scored question ranks anything above")


NASTY = "a|b\nc\r\n<script>x</script> *b* _i_ `c` [l](u) \\ & 🎉 \u2028 \u202eback\x1b[0m"


def test_markdown_cells_hold_nothing_that_markdown_reads() -> None:
    table = report_markdown.markdown_worst(scored(Ask(["s2"], ["s1"], text=NASTY, type=NASTY)))
    row = table.splitlines()[2]
    assert row.replace("\\|", "").count("|") == 6
    assert "<" not in row
    assert "\\*b\\* \\_i\\_ \\`c\\` \\[l\\](u) \\\\ &amp; 🎉 back\\[0m" in row
    assert "\u202e" not in row and "\x1b" not in row


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("two words", 5, "two…"),
        ("a\n\tb", 9, "a b"),
        ("👩\u200d👧", 9, "👩\u200d👧"),
    ],
)
def test_one_line(text: str, width: int, line: str) -> None:
    assert one_line(text, width) == line


def test_cut_before_escaping() -> None:
    assert cell("||||", 3) == "\\|\\|…"
