"""What is odd in the published files and must come through: one made record a quirk."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from records import EVENING, MORNING, NOON, convert, record, turn, write, write_gzip

from converters.convert import convert_corpus
from converters.corpus import content_hash, read_corpus, session_key

OWLS = [("user", "Tell me of owls."), ("assistant", "They fly.")]
OSLO = [("user", "I moved to Oslo."), ("assistant", "Nice.")]


def _turns(tables: dict[str, pl.DataFrame], content: list[tuple[str, str]]) -> list[tuple[int, str, str]]:
    rows = tables["turns"].filter(content_hash=content_hash(content))
    return [(row["turn_index"], row["role"], row["content"]) for row in rows.rows(named=True)]


def _one_session(folder: Path, *turns: dict[str, Any]) -> list[str]:
    """Convert a record whose one session has these turns; the contents that come back, in order."""
    made = record(
        haystack_dates=[NOON], haystack_session_ids=["a"], haystack_sessions=[list(turns)], answer_session_ids=["a"]
    )
    _, tables = convert(folder, made)
    assert tables["turns"]["turn_index"].to_list() == list(range(len(turns)))
    assert tables["turns"]["role"].to_list() == [item["role"] for item in turns]
    contents: list[str] = tables["turns"]["content"].to_list()
    return contents


def test_a_record_becomes_rows(tmp_path: Path) -> None:
    conversion, tables = convert(tmp_path, record())
    assert tables["questions"].to_dicts() == [
        {
            "question_id": "q1",
            "ordinal": 0,
            "haystack_id": "q1",
            "question": "Where do I live?",
            "question_date": datetime(2023, 5, 20, 20, 41, tzinfo=UTC),
            "as_of": datetime(2023, 5, 20, 20, 41, tzinfo=UTC),
        }
    ]
    morning, noon = datetime(2023, 5, 20, 8, 5, tzinfo=UTC), datetime(2023, 5, 20, 12, 0, tzinfo=UTC)
    owls, oslo = content_hash(OWLS), content_hash(OSLO)
    assert tables["haystacks"].rows() == [
        ("q1", 0, session_key(owls, morning), owls, morning),
        ("q1", 1, session_key(oslo, noon), oslo, noon),
    ]
    assert tables["ground_truth"].to_dicts() == [
        {
            "overlay": "base",
            "question_id": "q1",
            "question_type": "multi-session",
            "is_abstention": False,
            "answer": "Oslo",
            "answer_type": "str",
            "source_session_ids": ["sharegpt_1", "answer_1"],
            "answer_session_ids": ["answer_1"],
            "evidence_hashes": [oslo],
            "evidence_turns": [{"content_hash": oslo, "turn_index": 0}],
            "turn_labels": [
                {"position": 1, "turn_index": 0, "has_answer": True},
                {"position": 1, "turn_index": 1, "has_answer": False},
            ],
        }
    ]
    assert tables["sessions"].rows() == [(owls, 2, 25), (oslo, 2, 21)]
    assert conversion.counts["turns"] == 4
    assert tables["memories"].is_empty()


@pytest.mark.parametrize(
    ("answer", "text", "kind"), [(25, "25", "int"), ("25", "25", "str"), ("$3,750", "$3,750", "str")]
)
def test_an_answer_keeps_its_type(tmp_path: Path, answer: object, text: str, kind: str) -> None:
    _, tables = convert(tmp_path, record(answer=answer))
    assert tables["ground_truth"].select("answer", "answer_type").row(0) == (text, kind)


def test_one_id_twice_in_a_haystack(tmp_path: Path) -> None:
    sessions = record()["haystack_sessions"]
    twice = record(
        haystack_dates=[MORNING, NOON, EVENING],
        haystack_session_ids=["answer_1", "other", "answer_1"],
        haystack_sessions=[sessions[1], sessions[0], sessions[1]],
    )
    conversion, tables = convert(tmp_path, twice)
    assert tables["haystacks"]["position"].to_list() == [0, 1, 2]
    assert tables["haystacks"]["session_key"].n_unique() == 3
    truth = tables["ground_truth"].row(0, named=True)
    assert truth["source_session_ids"] == ["answer_1", "other", "answer_1"]
    assert truth["evidence_hashes"] == [content_hash(OSLO)]
    assert truth["evidence_turns"] == [{"content_hash": content_hash(OSLO), "turn_index": 0}]
    assert conversion.counts["repeated_ids"] == 1
    assert conversion.counts["sessions"] == 2


def test_any_occurrence_of_a_repeated_id_is_evidence(tmp_path: Path) -> None:
    _, tables = convert(tmp_path, record(haystack_session_ids=["answer_1", "answer_1"]))
    assert tables["ground_truth"]["evidence_hashes"].to_list() == [[content_hash(OWLS), content_hash(OSLO)]]


def test_one_id_in_two_questions_on_different_dates(tmp_path: Path) -> None:
    _, tables = convert(tmp_path, record("q1"), record("q2", haystack_dates=[NOON, EVENING]))
    keys = tables["haystacks"].group_by("content_hash").agg(pl.col("session_key").n_unique())
    assert keys["session_key"].to_list() == [2, 2]
    assert tables["sessions"].height == 2


def test_a_twin_shares_its_text_and_keeps_its_own_evidence(tmp_path: Path) -> None:
    twin = record(
        "q1_abs", haystack_session_ids=["sharegpt_1", "answer_1_abs_1"], answer_session_ids=["answer_1_abs_1"]
    )
    conversion, tables = convert(tmp_path, record("q1"), twin)
    truth = tables["ground_truth"]
    assert truth["evidence_hashes"].to_list() == [[content_hash(OSLO)]] * 2
    assert truth["is_abstention"].to_list() == [False, True]
    assert (conversion.counts["sessions"], conversion.counts["haystack_rows"]) == (2, 4)
    assert tables["turns"].height == 4


def test_what_only_scoring_may_know_is_in_ground_truth_alone(tmp_path: Path) -> None:
    _, tables = convert(tmp_path, record("gpt4_77_abs"))
    for name in ("haystacks", "sessions", "turns"):
        text = tables[name].drop("haystack_id", strict=False).write_ndjson()
        for secret in ("has_answer", "answer_1", "sharegpt_1", "_abs", "gpt4_77"):
            assert secret not in text, name


def test_has_answer_on_an_assistant_turn_alone(tmp_path: Path) -> None:
    session = [turn("user", "a", False), turn("assistant", "b", True)]
    _, tables = convert(tmp_path, record(haystack_sessions=[session, session]))
    assert [item["turn_index"] for item in tables["ground_truth"]["evidence_turns"][0]] == [1]


def test_an_evidence_session_without_a_marked_turn(tmp_path: Path) -> None:
    sessions = [[turn("user", "a")], [turn("user", "b", False)]]
    _, tables = convert(tmp_path, record(haystack_sessions=sessions))
    truth = tables["ground_truth"].row(0, named=True)
    assert truth["evidence_turns"] == []
    assert truth["evidence_hashes"] == [content_hash([("user", "b")])]


def test_blank_turns_are_kept_and_counted(tmp_path: Path) -> None:
    made = record(
        haystack_sessions=[[turn("user", ""), turn("assistant", "x"), turn("user", " \n")], [turn("user", " ")]]
    )
    conversion, tables = convert(tmp_path, made)
    assert tables["turns"]["content"].to_list() == ["", "x", " \n", " "]
    assert conversion.counts["blank_turns"] == 3


@pytest.mark.parametrize(
    "roles",
    [
        ["assistant", "user"],
        ["assistant"],
        ["user"],
        ["user", "user", "assistant"],
        ["user", "assistant", "assistant"],
        ["user", "assistant", "user"],
    ],
)
def test_roles_in_any_order_and_number(tmp_path: Path, roles: list[str]) -> None:
    turns = [turn(role, f"text {index}") for index, role in enumerate(roles)]
    assert _one_session(tmp_path, *turns) == [item["content"] for item in turns]


@pytest.mark.parametrize(
    "text",
    [
        "line\u2028separator",
        "vertical\x0btab",
        "replaced \ufffd",
        "zero\u200bwidth \u202ebidi\u202c \ufeffmark",
        "emoji 🙂 and 👩\u200d💻",
        "no\u00a0break",
        "<b>html & entities</b>",
        "  outer white space\n\n",
        "User: a transcript?\nAssistant: no.",
        'back\\slash \\ud800 and "quotes"',
        "x" * 76_560,
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_text_is_kept_as_it_is(tmp_path: Path, text: str, ascii_only: bool) -> None:
    source = write(tmp_path / "s.json", record(haystack_sessions=[[turn("user", text)], []]), ensure_ascii=ascii_only)
    convert_corpus(source, "longmemeval", tmp_path / "corpus")
    assert read_corpus(tmp_path / "corpus")["turns"]["content"].to_list() == [text]


def test_a_haystack_out_of_time_order_keeps_its_places(tmp_path: Path) -> None:
    conversion, tables = convert(tmp_path, record(haystack_dates=[NOON, MORNING]))
    assert tables["haystacks"]["content_hash"].to_list() == [content_hash(OWLS), content_hash(OSLO)]
    assert [date.hour for date in tables["haystacks"]["session_date"]] == [12, 8]
    assert (conversion.counts["unordered_haystacks"], conversion.counts["sessions_out_of_order"]) == (1, 1)


def test_two_sessions_in_the_same_minute(tmp_path: Path) -> None:
    conversion, tables = convert(tmp_path, record(haystack_dates=[NOON, NOON]))
    assert tables["haystacks"]["session_key"].n_unique() == 2
    assert conversion.counts["unordered_haystacks"] == 0


def test_sessions_after_the_question_are_kept_and_move_as_of(tmp_path: Path) -> None:
    conversion, tables = convert(tmp_path, record(question_date=MORNING, haystack_dates=[EVENING, NOON]), record("q2"))
    assert [date.hour for date in tables["questions"]["question_date"]] == [8, 20]
    assert [date.hour for date in tables["questions"]["as_of"]] == [20, 20]
    assert tables["haystacks"].height == 4
    assert (conversion.counts["sessions_after_question"], conversion.counts["questions_before_a_session"]) == (2, 1)


def test_answer_session_ids_keep_the_order_of_the_source(tmp_path: Path) -> None:
    _, tables = convert(tmp_path, record(answer_session_ids=["answer_1", "sharegpt_1"]))
    assert tables["ground_truth"]["answer_session_ids"].to_list() == [["answer_1", "sharegpt_1"]]
    assert tables["ground_truth"]["evidence_hashes"].to_list() == [[content_hash(OWLS), content_hash(OSLO)]]


def test_a_question_without_evidence_or_haystack(tmp_path: Path) -> None:
    bare = record(haystack_dates=[], haystack_session_ids=[], haystack_sessions=[], answer_session_ids=[])
    conversion, tables = convert(tmp_path, bare, record("q2"))
    assert tables["ground_truth"]["evidence_hashes"].to_list() == [[], [content_hash(OSLO)]]
    assert conversion.counts["questions"] == 2


def test_any_key_order_and_extra_keys(tmp_path: Path) -> None:
    rng = random.Random(0)
    expected = [record(f"q{number}") for number in range(20)]
    shuffled = []
    for made in expected:
        items = [*made.items(), ("extra", {"nested": [1, {"question_id": "no"}]})]
        rng.shuffle(items)
        shuffled.append(dict(items))
    plain, odd = tmp_path / "plain", tmp_path / "odd"
    plain.mkdir()
    odd.mkdir()
    convert(plain, *expected)
    convert(odd, *shuffled)
    for name, table in read_corpus(plain / "corpus").items():
        assert table.equals(read_corpus(odd / "corpus")[name]), name


def test_a_gzip_and_an_indented_file_give_the_same_tables(tmp_path: Path) -> None:
    records = [record(f"q{number}") for number in range(3)]
    sources = {
        "gzip": write_gzip(tmp_path / "named.json", *records),
        "indented": write(tmp_path / "longmemeval_s", *records, indent=4),
        "plain": write(tmp_path / "plain.json", *records),
    }
    made = {name: convert_corpus(path, "longmemeval", tmp_path / name) for name, path in sources.items()}
    digests = {name: [table.digest for table in item.corpus.tables.values()] for name, item in made.items()}
    assert digests["gzip"] == digests["indented"] == digests["plain"]
    assert made["gzip"].fingerprint.sha256 == made["plain"].fingerprint.sha256
    assert made["gzip"].fingerprint.sha256 != made["indented"].fingerprint.sha256


def test_a_byte_order_mark_and_white_space_around_the_array(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(b"\xef\xbb\xbf \n" + json.dumps([record()]).encode() + b"\n\n ")
    assert convert_corpus(path, "longmemeval", tmp_path / "corpus").counts["questions"] == 1
