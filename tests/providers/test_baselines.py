"""The baselines: nothing, everything, exactly the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.tables import CORPUS
from judges.hits import memories
from judges.readers.extractive import extract
from judges.refusal import REFUSAL
from providers.baselines.gold import EVIDENCE, Gold
from providers.baselines.nothing import Nothing
from providers.baselines.whole import Whole
from providers.protocol import DOCUMENTS, QUERIES, StoreBuild
from providers.registry import PROVIDERS

SESSIONS: Mapping[str, list[tuple[str, str]]] = {
    "trip": [("user", "I flew to Lisbon."), ("assistant", "  "), ("user", "My sister lives there.")],
    "bread": [("user", "My sourdough needs a hotter oven.\nMuch hotter.")],
    "note": [("memory", "Tea at five.")],
    "blank": [("user", " "), ("assistant", "")],
}
WHEN = {"trip": "2023-05-09", "bread": "2023-05-02", "note": None, "blank": "2023-05-01"}


def documents(*placed: tuple[str, str]) -> pl.DataFrame:
    """Documents of (container, session), in the order given."""
    rows = [
        {
            "container": container,
            "document_id": f"{container}:{session}",
            "position": position,
            "session_key": f"key of {session}",
            "content_hash": session,
            "date": WHEN[session],
        }
        for position, (container, session) in enumerate(placed)
    ]
    schema = DOCUMENTS.empty.schema
    frame = pl.DataFrame(rows, schema={**schema, "date": pl.String()})
    return DOCUMENTS.validate(frame.with_columns(pl.col("date").str.to_datetime("%Y-%m-%d").cast(schema["date"])))


def turns() -> pl.DataFrame:
    rows = [(name, index, *turn) for name, said in SESSIONS.items() for index, turn in enumerate(said)]
    return CORPUS["turns"].validate(pl.DataFrame(rows, schema=CORPUS["turns"].empty.schema, orient="row"))


def queries(*containers: str) -> pl.DataFrame:
    rows = [(number, container, "Where does my sister live?", None) for number, container in enumerate(containers)]
    return QUERIES.validate(pl.DataFrame(rows, schema=QUERIES.empty.schema, orient="row"))


EVERYTHING = documents(("a", "trip"), ("a", "note"), ("a", "blank"), ("a", "bread"), ("b", "bread"))


@pytest.fixture(scope="module")
def built() -> StoreBuild:
    return Whole().build(documents=EVERYTHING, turns=turns())


def rows(replies: pl.DataFrame) -> list[dict[str, Any]]:
    return replies.to_dicts()


def test_nothing_keeps_nothing_and_finds_nothing() -> None:
    build = Nothing().build(documents=EVERYTHING, turns=turns())
    assert (build.sent, build.stored, build.left_out) == (5, 0, {"forgotten": 5})
    found = rows(Nothing().search(store=build.tables, queries=queries("a", "b"), limit=10))
    assert [(row["query"], row["status"], row["hits"]) for row in found] == [(0, "empty", []), (1, "empty", [])]


@given(st.text())
def test_without_hits_the_extractive_reader_refuses(question: str) -> None:
    assert extract(question, None, memories([])).answer == REFUSAL


def test_the_whole_haystack_comes_oldest_first(built: StoreBuild) -> None:
    assert (built.sent, built.stored, built.left_out) == (5, 4, {"blank": 1})
    first, second = rows(Whole().search(store=built.tables, queries=queries("a", "b"), limit=3))
    assert [hit["content"] for hit in first["hits"]] == [
        "user: My sourdough needs a hotter oven.\nMuch hotter.",
        "user: I flew to Lisbon.\nuser: My sister lives there.",
        "Tea at five.",
    ]
    assert [hit["rank"] for hit in first["hits"]] == [1, 2, 3]
    assert [hit["session_keys"] for hit in first["hits"]] == [["key of bread"], ["key of trip"], ["key of note"]]
    assert [hit["turns"] for hit in first["hits"]] == [[0], [0, 2], [0]]
    assert [hit["date"] is None for hit in first["hits"]] == [False, False, True]
    assert [hit["provider_id"] for hit in second["hits"]] == ["b:bread"]


def test_half_a_haystack_is_not_the_whole(built: StoreBuild) -> None:
    first, second = rows(Whole().search(store=built.tables, queries=queries("a", "b"), limit=2))
    assert (first["status"], first["hits"], first["retryable"]) == ("error", [], False)
    assert first["error"] == "the haystack's documents are 3 and the system's limit is 2: raise it"
    assert second["status"] == "ok"


def test_an_unknown_container_holds_nothing(built: StoreBuild) -> None:
    (found,) = rows(Whole().search(store=built.tables, queries=queries("c"), limit=2))
    assert (found["status"], found["hits"]) == ("empty", [])


def test_the_oracle_returns_the_evidence_of_its_own_container_and_no_more(built: StoreBuild) -> None:
    told = [(0, ["note", "trip", "blank"]), (1, ["trip"]), (2, [])]
    evidence = EVIDENCE.validate(pl.DataFrame(told, schema=EVIDENCE.empty.schema, orient="row"))
    found = rows(Gold().search(store=built.tables, queries=queries("a", "b", "a", "a"), limit=2, evidence=evidence))
    assert [[hit["session_keys"][0] for hit in row["hits"]] for row in found] == [
        ["key of trip", "key of note"],
        [],
        [],
        [],
    ]
    assert [row["status"] for row in found] == ["ok", "empty", "empty", "empty"]


def test_an_oracle_that_is_told_nothing_finds_nothing(built: StoreBuild) -> None:
    (found,) = rows(Gold().search(store=built.tables, queries=queries("a"), limit=2))
    assert found["status"] == "empty"


def test_one_provider_alone_is_told_the_evidence() -> None:
    assert [name for name, entry in PROVIDERS.items() if entry.sees_gold] == ["oracle"]
    assert [name for name, entry in PROVIDERS.items() if entry.baseline] == ["none", "full", "oracle"]
