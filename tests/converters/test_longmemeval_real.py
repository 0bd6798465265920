"""The published oracle file and 59 real S records: counts, the first, middle and last record, and every text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from converters.conversion import Conversion
from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.dates import format_date
from converters.detect import sniff_format

pytestmark = pytest.mark.real_data


@dataclass(frozen=True)
class Real:
    source: list[dict[str, Any]]
    conversion: Conversion
    tables: Mapping[str, pl.DataFrame]


def _convert(path: Path, folder: Path) -> Real:
    conversion = convert_corpus(path, sniff_format(path), folder)
    return Real(json.loads(gzip.decompress(path.read_bytes())), conversion, read_corpus(folder))


@pytest.fixture(scope="module")
def oracle(real_oracle: Path, tmp_path_factory: pytest.TempPathFactory) -> Real:
    return _convert(real_oracle, tmp_path_factory.mktemp("oracle") / "corpus")


@pytest.fixture(scope="module")
def s59(real_s59: Path, tmp_path_factory: pytest.TempPathFactory) -> Real:
    return _convert(real_s59, tmp_path_factory.mktemp("s59") / "corpus")


def test_counts_of_the_oracle(oracle: Real) -> None:
    assert oracle.conversion.counts == {
        "questions": 500,
        "abstention_questions": 30,
        "haystack_rows": 948,
        "sessions": 861,
        "turns": 10_960,
        "distinct_turns": 9_948,
        "blank_turns": 0,
        "evidence_turns": 896,
        "filler_rows": 0,
        "questions_before_a_session": 43,
        "sessions_after_question": 65,
        "unordered_haystacks": 34,
        "sessions_out_of_order": 37,
        "repeated_ids": 0,
    }
    assert oracle.conversion.variant.name == "longmemeval_oracle"
    assert oracle.conversion.variant.how == "digest"
    assert oracle.conversion.fingerprint.n_bytes == 15_388_478
    assert oracle.tables["ground_truth"]["answer_type"].value_counts().sort("count").rows() == [
        ("int", 32),
        ("str", 468),
    ]


def test_counts_of_the_s_records(s59: Real) -> None:
    assert s59.conversion.counts == {
        "questions": 59,
        "abstention_questions": 6,
        "haystack_rows": 2_796,
        "sessions": 2_707,
        "turns": 29_067,
        "distinct_turns": 28_170,
        "blank_turns": 1,
        "evidence_turns": 127,
        "filler_rows": 2_663,
        "questions_before_a_session": 7,
        "sessions_after_question": 146,
        "unordered_haystacks": 22,
        "sessions_out_of_order": 357,
        "repeated_ids": 1,
    }
    assert s59.conversion.variant.name == "longmemeval_s"
    assert s59.conversion.variant.how == "derived"
    assert s59.conversion.fingerprint.n_bytes == 30_394_596


def _told(real: Real, ordinal: int) -> tuple[object, ...]:
    question = real.tables["questions"].row(ordinal, named=True)
    truth = real.tables["ground_truth"].row(ordinal, named=True)
    haystack = real.tables["haystacks"].filter(haystack_id=question["haystack_id"])
    assert question["question_id"] == truth["question_id"]
    return (
        question["question_id"],
        truth["question_type"],
        truth["is_abstention"],
        f"{question['question_date']:%Y-%m-%d %H:%M}",
        haystack.height,
        f"{haystack['session_date'][0]:%Y-%m-%d %H:%M}",
        f"{haystack['session_date'][-1]:%Y-%m-%d %H:%M}",
        haystack["content_hash"][0][:16],
        truth["answer_session_ids"],
        len(truth["evidence_turns"]),
    )


def test_first_middle_and_last_record_of_the_oracle(oracle: Real) -> None:
    assert _told(oracle, 0) == (
        "gpt4_2655b836", "temporal-reasoning", False, "2023-04-10 23:07", 3, "2023-04-10 17:50", "2023-04-10 17:15",
        "bb10655ff38bd790", ["answer_4be1b6b4_2", "answer_4be1b6b4_3", "answer_4be1b6b4_1"], 2,
    )  # fmt: skip
    assert _told(oracle, 250) == (
        "8aef76bc", "single-session-assistant", False, "2023-05-25 02:24", 1, "2023-05-21 12:33", "2023-05-21 12:33",
        "1e4c7d738d3ca11c", ["answer_ultrachat_563222"], 1,
    )  # fmt: skip
    assert _told(oracle, 499) == (
        "09ba9854_abs", "multi-session", True, "2023-05-28 06:58", 2, "2023-05-25 16:04", "2023-05-26 07:07",
        "040301c077a4f0e3", ["answer_96c743d0_abs_2", "answer_96c743d0_abs_1"], 1,
    )  # fmt: skip


def test_first_middle_and_last_of_the_s_records(s59: Real) -> None:
    assert _told(s59, 0) == (
        "031748ae_abs", "knowledge-update", True, "2023-06-06 08:19", 52, "2023-04-25 04:07", "2023-06-02 18:47",
        "3d732138dbe3ecd0", ["answer_8748f791_abs_1", "answer_8748f791_abs_2"], 0,
    )  # fmt: skip
    assert _told(s59, 29) == (
        "9a707b81", "temporal-reasoning", False, "2022-04-15 18:46", 54, "2022-02-19 11:29", "2022-04-10 18:31",
        "aff9ac27618824f6", ["answer_dba89487_2", "answer_dba89487_1"], 2,
    )  # fmt: skip
    assert _told(s59, 58) == (
        "6a1eabeb", "knowledge-update", False, "2023-06-25 13:22", 40, "2023-04-23 08:57", "2023-05-30 13:53",
        "75da4b858b695c40", ["answer_a25d4a91_1", "answer_a25d4a91_2"], 2,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["oracle", "s59"])
def test_every_record_comes_back_from_the_tables(name: str, request: pytest.FixtureRequest) -> None:
    real: Real = request.getfixturevalue(name)
    texts: dict[str, list[tuple[str, str]]] = {}
    for digest, _, role, content in real.tables["turns"].iter_rows():
        texts.setdefault(digest, []).append((role, content))
    haystacks: dict[str, list[tuple[str, str]]] = {}
    for haystack_id, _, _, digest, date in real.tables["haystacks"].iter_rows():
        haystacks.setdefault(haystack_id, []).append((digest, format_date(date)))
    truths = real.tables["ground_truth"].iter_rows(named=True)
    questions = real.tables["questions"].iter_rows(named=True)
    for source, question, truth in zip(real.source, questions, truths, strict=True):
        assert question["question_id"] == source["question_id"]
        assert question["question"] == source["question"]
        assert format_date(question["question_date"]) == source["question_date"]
        assert {"str": str, "int": int}[truth["answer_type"]](truth["answer"]) == source["answer"]
        assert truth["source_session_ids"] == source["haystack_session_ids"]
        assert truth["answer_session_ids"] == source["answer_session_ids"]
        held = haystacks[question["haystack_id"]]
        assert [date for _, date in held] == source["haystack_dates"]
        assert [texts[digest] for digest, _ in held] == [
            [(turn["role"], turn["content"]) for turn in session] for session in source["haystack_sessions"]
        ]
        marked = {(turn["content_hash"], turn["turn_index"]) for turn in truth["evidence_turns"]}
        assert marked == {
            (digest, index)
            for (digest, _), session in zip(held, source["haystack_sessions"], strict=True)
            for index, turn in enumerate(session)
            if turn.get("has_answer")
        }
        answers = set(source["answer_session_ids"])
        assert set(truth["evidence_hashes"]) == {
            digest
            for (digest, _), source_id in zip(held, source["haystack_session_ids"], strict=True)
            if source_id in answers
        }


def test_an_id_repeated_in_one_haystack_keeps_both_places(s59: Real) -> None:
    truth = s59.tables["ground_truth"].row(by_predicate=pl.col("question_id") == "gpt4_c27434e8_abs", named=True)
    positions = [index for index, item in enumerate(truth["source_session_ids"]) if item == "8c64ce26_3"]
    rows = s59.tables["haystacks"].filter(
        pl.col("haystack_id") == "gpt4_c27434e8_abs", pl.col("position").is_in(positions)
    )
    assert [f"{date:%H:%M}" for date in rows["session_date"]] == ["05:34", "09:46"]
    assert rows["content_hash"].n_unique() == 1
    assert rows["session_key"].n_unique() == 2


def test_as_of_is_after_every_session(oracle: Real, s59: Real) -> None:
    for real in (oracle, s59):
        last = real.tables["haystacks"].group_by("haystack_id").agg(last=pl.col("session_date").max())
        questions = real.tables["questions"].join(last, on="haystack_id")
        assert questions["as_of"].equals(
            pl.select(pl.max_horizontal(questions["question_date"], questions["last"])).to_series(), check_names=False
        )
