"""Rankings and answers that other tools wrote: what is read, and one line about what cannot be."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.errors import BadInput
from converters.formats.hypotheses import Hypothesis, write_hypotheses
from converters.results.hypotheses import HYPOTHESES_SCHEMA, read_hypotheses
from converters.results.retrieval_log import LOG_SCHEMA, read_retrieval_log, source_id
from converters.results.trec_run import RUN_SCHEMA, read_trec_run

RUN = "q Q0 d 1 2.5 t\n"
LOG = '{"question_id": "q", "retrieval_results": {"ranked_items": [{"corpus_id": "s"}]}}\n'
ANSWER = '{"question_id": "q", "hypothesis": "Oslo"}\n'

BAD_RUNS = [
    ("q Q0 d 1 2.5\n", "line 1: has 5 columns, not 6; write: question Q0 document rank score tag"),
    (RUN + "q Q0 a b 1 2 t\n", "line 2: has 7 columns, not 6; "),
    (RUN + "q Q0 e first 2 t\n", "line 2: rank: 'first' is not an integer; write a number"),
    ("q Q0 d 1 nan t\n", "line 1: score: 'nan' is not a finite number; "),
    ("q Q0 d 1 inf t\n", "line 1: score: 'inf' is not a finite number; "),
    ("q Q0 d 1 1_0 t\n", "line 1: score: '1_0' is not a finite number; "),
    ("q Q0 d 1 1e999 t\n", "line 1: score: '1e999' is not a finite number; "),
    (RUN + "\n" + RUN, "line 3: question 'q' has document 'd' in line 1 already; keep one"),
    ("q Q0 a/b 1 2 t\nq Q0 a%2Fb 2 1 t\n", "line 2: question 'q' has document 'a/b' in line 1 already; "),
    ("q Q0 %ff 1 2 t\n", "line 1: document: '%ff' is not UTF-8, percent-encoded or plain; "),
    (b"\xff Q0 d 1 2 t\n", "line 1: question: '\\\\xff' is not UTF-8, percent-encoded or plain; "),
]
BAD_LOGS = [
    ("[1]\n", "line 1: should be object, got array; write one JSON object a line"),
    ('{"question_id": "q"\n', "line 1: is not JSON (Input data was truncated); write one JSON object a line"),
    ('{"question_id": "q"}\n', "line 1: lacks the field retrieval_results; "),
    (LOG.replace('"s"', "3"), "line 1: retrieval_results.ranked_items[0].corpus_id: should be str, got int; "),
    (LOG + LOG, "line 2: question_id: 'q' is the question of line 1 too; keep one of the two lines"),
    (LOG.replace('"s"', '"\\ud800"'), "line 1: holds a lone surrogate (\\ud800 to \\udfff); take it out"),
]
BAD_ANSWERS = [
    (ANSWER + "\n" + ANSWER, "line 3: question_id: 'q' is the question of line 1 too; keep one of the two lines"),
    (ANSWER.replace('"Oslo"', "null"), "line 1: hypothesis: should be str, got null; mend the line"),
    ('{"question_id": "q", "hypothesis": "a", "autoeval_label": 2}\n', "line 1: autoeval_label: '2' is no label; "),
    ('{"question_id": "q", "hypothesis": "a", "autoeval_label": 1.0}\n', "line 1: autoeval_label: should be bool | "),
    (
        '{"question_id": "q", "hypothesis": "a", "autoeval_label": {"model": "m", "label": "correct"}}\n',
        "line 1: autoeval_label: 'correct' is no label; write true or false",
    ),
    (
        '{"question_id": "q", "hypothesis": "a", "autoeval_label": {"model": "m", "label": null}}\n',
        "line 1: autoeval_label.label: should be bool | int | str, got null; ",
    ),
    ('{"question_id": "q", "hypothesis": "a", "autoeval_label": {"model": "m"}}\n', "line 1: autoeval_label: lacks "),
    (f"[{ANSWER.strip()}]", "line 1: should be object, got array; write one JSON object a line"),
    (json.dumps({"question_id": "q", "hypothesis": "a"}, indent=4), "line 1: is not JSON ("),
]
DEEP = "[" * 10_000 + "]" * 10_000
BAD_LOGS += [(LOG.replace('"s"', DEEP), "line 1: "), (f'{{"x": {DEEP}, {LOG[1:]}', "line 1: is nested too deeply; ")]
BAD_ANSWERS += [(f'{{"x": {DEEP}, {ANSWER[1:]}', "line 1: is nested too deeply; ")]
READERS: dict[str, tuple[Callable[[Path], pl.DataFrame], str, pl.Schema]] = {
    "run": (read_trec_run, RUN, RUN_SCHEMA),
    "log": (read_retrieval_log, LOG, LOG_SCHEMA),
    "answers": (read_hypotheses, ANSWER, HYPOTHESES_SCHEMA),
}
BAD = [
    *[("run", *bad) for bad in BAD_RUNS],
    *[("log", *bad) for bad in BAD_LOGS],
    *[("answers", *bad) for bad in BAD_ANSWERS],
    *[(kind, "", "is empty; ") for kind in READERS],
    *[(kind, " \n\n", "holds no line; ") for kind in READERS],
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_bad_file_is_one_line(number: int, tmp_path: Path) -> None:
    kind, text, line = BAD[number]
    path = tmp_path / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput) as error:
        READERS[kind][0](path)
    assert error.value.line.startswith(f"{path}: {line}")


@pytest.mark.parametrize("kind", READERS)
def test_any_name_gzipped_with_a_mark_and_without_a_last_newline(kind: str, tmp_path: Path) -> None:
    read, text, schema = READERS[kind]
    for data in (text, text.rstrip(), text.replace("\n", "\r\n"), "\ufeff" + text):
        for packed in (data.encode(), gzip.compress(data.encode())):
            (tmp_path / "any name").write_bytes(packed)
            found = read(tmp_path / "any name")
            assert (found.height, found.schema) == (1, schema)
    with pytest.raises(BadInput, match="cannot be read"):
        read(tmp_path / "nowhere")


def test_a_run_in_any_order(tmp_path: Path) -> None:
    rows = ["b Q0 x 1 .5 t", "a Q0 x 9 1 t", "b\tQ0  z\t1 7e-1 t", "b Q0 y 1 +5.e-1 t", "a 0 caf\u00e9\u00a0 1 -3 t"]
    (tmp_path / "run").write_text("\n".join(rows), encoding="utf-8")
    assert read_trec_run(tmp_path / "run").rows() == [
        ("b", "z", 1, 0.7),
        ("b", "y", 2, 0.5),
        ("b", "x", 3, 0.5),
        ("a", "x", 1, 1.0),
        ("a", "caf\u00e9\u00a0", 2, -3.0),
    ]


def test_a_log_of_turns(tmp_path: Path) -> None:
    items = [
        {"corpus_id": "noans_1_2", "text": "a\u2028b", "timestamp": "2023/05/20 (Sat) 02:21"},
        {"corpus_id": "answer_1_1", "text": "c", "timestamp": None},
        {"corpus_id": "noans_1_2"},
    ]
    lines = [
        {"question_id": "q1", "haystack_sessions": [[]], "retrieval_results": {"ranked_items": items, "metrics": {}}},
        {"question_id": "q2", "retrieval_results": {"ranked_items": []}},
    ]
    (tmp_path / "log").write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    rows = read_retrieval_log(tmp_path / "log").rows()
    assert rows == [
        ("q1", 1, "noans_1_2", "a\u2028b", "2023/05/20 (Sat) 02:21"),
        ("q1", 2, "answer_1_1", "c", None),
        ("q1", 3, "noans_1_2", None, None),
        ("q2", None, None, None, None),
    ]
    assert [source_id(row[2]) for row in rows[:2]] == ["answer_1_2", "answer_1_1"]


YES = (True, 1, "1", "yes", "Yes", "YES", "true", "True")
NO = (False, 0, "0", "no", "No", "NO", "false", "False")


@pytest.mark.parametrize("number", range(len(YES)))
def test_every_spelling_of_a_label(number: int, tmp_path: Path) -> None:
    spelt: list[Any] = [{"model": "m", "label": YES[number]}, YES[number], {"label": NO[number]}, NO[number], None]
    lines = [{"question_id": f"q{n}", "hypothesis": "", "autoeval_label": label} for n, label in enumerate(spelt)]
    (tmp_path / "answers").write_text("\n".join(map(json.dumps, lines)))
    found = read_hypotheses(tmp_path / "answers")
    assert found["label"].to_list() == [True, True, False, False, None]
    assert found["judge_model"].to_list() == ["m", None, None, None, None]


_answers = st.builds(
    Hypothesis, st.text(), st.text() | st.just("a\u2028b\x0b\x85\r\n"), st.none() | st.booleans(), st.none() | st.text()
).map(lambda row: row if row.label is not None else row._replace(judge_model=None))


@given(st.lists(_answers, min_size=1, max_size=5, unique_by=lambda row: row.question_id))
def test_answers_come_back(rows: list[Hypothesis]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "answers.jsonl"
        judged = sum(row.label is not None for row in rows)
        told = write_hypotheses(rows, path)
        assert told[0].endswith(f"{len(rows)} answer{'s' * (len(rows) > 1)}, {judged} of them judged")
        assert read_hypotheses(path).rows() == [tuple(row) for row in rows]
        # As LongMemEval's scripts read and write them.
        with path.open() as file:
            lines = [json.loads(line) for line in file.readlines()]
    assert [list(line) for line in lines] == [
        ["question_id", "hypothesis", *(["autoeval_label"] if row.label is not None else [])] for row in rows
    ]


def test_two_answers_to_one_question_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^\S+: 'q\\n': has two answers; give each question one$"):
        write_hypotheses([Hypothesis("q\n", "a"), Hypothesis("q\n", "b")], tmp_path / "answers")
    assert list(tmp_path.iterdir()) == []
