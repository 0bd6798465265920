from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from local_corpora import Corpus, ask, day, find, replies

from converters.errors import BadInput
from converters.parquet import read_table, write_table
from providers.local import embedding
from providers.local.system import STORE_TABLES
from providers.protocol import REPLIES, StoreBuild
from providers.registry import PROVIDERS

TRAVEL = [("user", "I flew to Lisbon to see my sister."), ("assistant", "How was the trip to Portugal?")]
COOKING = [("user", "My sourdough bread needs a hotter oven."), ("assistant", "Try 240 degrees for the loaf.")]
GARDEN = [("user", "The tomatoes in my garden have blight."), ("assistant", "Remove the leaves of the plants.")]


@pytest.fixture(scope="module")
def build() -> StoreBuild:
    corpus = Corpus()
    for number, session in enumerate([TRAVEL, COOKING, GARDEN]):
        corpus.add("c", session, document_id=f"s{number}", date=day(f"2023-05-0{number + 1}"))
    corpus.add("d", COOKING, document_id="s9")
    return corpus.build()


@pytest.mark.parametrize("mode", ["lexical", "dense", "hybrid"])
def test_the_best_hit_comes_first_with_all_that_a_hit_says(build: StoreBuild, mode: str) -> None:
    (hits,) = find(build, ask(("c", "What temperature does the sourdough oven need?")), mode=mode)
    score = hits[0].pop("score")
    assert score > 0
    assert hits[0] == {
        "rank": 1,
        "provider_id": "s1#0",
        "session_keys": ["s1"],
        "turns": [0],
        "content": COOKING[0][1],
        "date": day("2023-05-02"),
    }
    assert [hit["rank"] for hit in hits] == list(range(1, len(hits) + 1))


def test_replies_keep_the_order_of_the_queries_and_an_unknown_container_is_empty(build: StoreBuild) -> None:
    queries = ask(("nowhere", "bread"), ("d", "bread"), ("c", "bread"))[::-1]
    found = replies(build.tables, queries)
    REPLIES.validate(found)
    assert found.select("query", "status").rows() == [(2, "ok"), (1, "ok"), (0, "empty")]
    assert not found["retryable"].any()
    assert replies(build.tables, ask()).is_empty()


def test_no_more_hits_than_the_limit(build: StoreBuild) -> None:
    for limit in (1, 2, 5):
        assert len(find(build, ask(("c", "bread tomatoes sister")), limit)[0]) == min(limit, 5)


def test_a_question_of_unknown_words_finds_nothing_lexically(build: StoreBuild) -> None:
    assert find(build, ask(("c", "zyzzyva"), ("c", "")), mode="lexical") == [[], []]


def test_a_store_survives_its_files(build: StoreBuild, tmp_path: Path) -> None:
    again = {}
    for name, table in STORE_TABLES.items():
        write_table(table, build.tables[name], tmp_path / f"{name}.parquet")
        again[name] = read_table(table, tmp_path / f"{name}.parquet")
    queries = ask(("c", "How hot is the oven?"), ("d", "bread"))
    assert REPLIES.digest(replies(again, queries)) == REPLIES.digest(replies(build.tables, queries))


def test_the_order_of_the_documents_changes_nothing_but_positions() -> None:
    corpus = Corpus()
    for name, session in (("x", TRAVEL), ("y", COOKING), ("z", GARDEN)):
        corpus.add("c", session, document_id=name)
    one = corpus.build()
    corpus.rows.reverse()
    corpus.sessions = dict(reversed(corpus.sessions.items()))
    other = corpus.build()
    for name in STORE_TABLES:
        assert one.tables[name].equals(other.tables[name]), name


def test_each_distinct_text_is_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    embed = embedding.embed

    def counting(texts: list[str], *progress: Any) -> Any:
        seen.extend(texts)
        return embed(texts, *progress)

    monkeypatch.setattr(embedding, "embed", counting)
    corpus = Corpus()
    for container in ("a", "b", "c"):
        corpus.add(container, TRAVEL, document_id="s1")
        corpus.add(container, [*TRAVEL, *COOKING], document_id="s2")
    build = corpus.build()
    assert sorted(seen) == sorted({text for _, text in [*TRAVEL, *COOKING]})
    assert build.tables["chunks"].height == 18


def test_blank_turns_and_documents_are_left_out_and_counted() -> None:
    corpus = Corpus()
    corpus.add("c", [("user", " "), ("assistant", "Hello there."), ("user", "\n")], document_id="s1")
    corpus.add("c", [("user", "\t ")], document_id="s2")
    corpus.add("c", [], document_id="s3")
    build = corpus.build()
    assert (build.sent, build.stored, dict(build.left_out)) == (3, 1, {"blank": 2, "consolidated": 0})
    assert build.notes["blank_turns"] == 3
    assert build.tables["chunks"]["turns"].to_list() == [[1]]


def test_nothing_to_store_is_a_store() -> None:
    build = Corpus().build()
    assert (build.sent, build.stored) == (0, 0)
    assert replies(build.tables, ask(("c", "anything")))["status"].to_list() == ["empty"]


@pytest.mark.parametrize(
    "text", ["\u200b", "🎉" * 3000, "a\u2028b\x0bc", "é" * 76_560, "\ufffd \ufeff", "العربية עברית"]
)
def test_odd_and_long_texts_are_kept_as_they_are(text: str) -> None:
    corpus = Corpus()
    corpus.add("c", [("user", text)], document_id="s")
    build = corpus.build()
    assert "".join(hit for hit in build.tables["chunks"].join(build.tables["texts"], on="text_hash")["text"]) == text
    (hits,) = find(build, ask(("c", text)), mode="dense", near_duplicate_threshold=None)
    assert "".join(hit["content"] for hit in sorted(hits, key=lambda hit: hit["provider_id"])) == text


def test_a_superseded_fact_is_found_only_on_request() -> None:
    corpus = Corpus()
    corpus.add("c", "I live in Oslo", document_id="old", type="fact", key="home", date=day("2022-01-01"))
    corpus.add("c", "I live in Rome", document_id="new", type="fact", key="home", date=day("2023-01-01"))
    build = corpus.build()
    question = ask(("c", "Where do I live?"))
    assert [hit["session_keys"] for hit in find(build, question)[0]] == [["new"]]
    assert len(find(build, question, include_superseded=True, near_duplicate_threshold=None)[0]) == 2


def test_consolidated_chunks_map_to_the_sessions_of_all() -> None:
    corpus = Corpus()
    corpus.add("c", "I bake sourdough bread", document_id="late", date=day("2023-02-01"))
    corpus.add("c", "I bake sourdough bread.", document_id="early", date=day("2023-01-01"))
    corpus.add("c", "Tomatoes have blight", document_id="other", date=day("2023-01-02"))
    corpus.add("d", "I bake sourdough bread", document_id="elsewhere", date=day("2023-01-02"))
    build = corpus.build(consolidate=True)
    assert (build.sent, build.stored, build.left_out["consolidated"]) == (4, 3, 1)
    (hits,) = find(build, ask(("c", "sourdough")), limit=1)
    assert (hits[0]["session_keys"], hits[0]["turns"]) == (["early", "late"], None)


def test_a_named_time_cuts_or_only_favours() -> None:
    corpus = Corpus()
    for month in (1, 3, 5):
        corpus.add("c", f"I read book number {month}", document_id=str(month), date=day(f"2023-0{month}-10"))
    build = corpus.build()
    question = ask(("c", "Which book did I read in March?"), as_of=day("2023-06-01"))
    keep = {"near_duplicate_threshold": None}
    assert [hit["session_keys"] for hit in find(build, question, **keep)[0]] == [["3"]]
    favoured = find(build, question, temporal_filter=False, **keep)[0]
    assert (favoured[0]["session_keys"], len(favoured)) == (["3"], 3)


def test_accesses_count_where_they_are_tracked_and_where_they_were_imported() -> None:
    corpus = Corpus()
    corpus.add("c", "tea in the garden", document_id="a")
    corpus.add("c", "tea in the garden!", document_id="b", metadata='{"access_count": 7}')
    build = corpus.build()
    keep = {"near_duplicate_threshold": None, "mode": "lexical"}
    twice = ask(("c", "tea"), ("c", "tea"))
    scores = [[hit["score"] for hit in hits] for hits in find(build, twice, **keep)]
    assert scores[0] == scores[1]
    assert find(build, twice, **keep)[0][0]["session_keys"] == ["b"]
    tracked = find(build, twice, track_access=True, **keep)
    assert tracked[1][1]["score"] > tracked[0][1]["score"]


def test_the_floor_cuts_dense_hits(build: StoreBuild) -> None:
    assert find(build, ask(("c", "sourdough")), mode="dense", similarity_floor=0.99) == [[]]
    assert len(find(build, ask(("c", "sourdough")), mode="dense", similarity_floor=0.0)[0]) == 6


def test_another_model_s_vectors_are_refused(build: StoreBuild) -> None:
    tables = {**build.tables, "vectors": build.tables["vectors"].with_columns(model=pl.lit("other"))}
    with pytest.raises(BadInput, match="build it again"):
        replies(tables, ask(("c", "bread")))


WORDS = st.lists(st.sampled_from(["bread", "oven", "sister", "tomato", "rain", "train"]), min_size=1, max_size=4)


@settings(max_examples=settings().max_examples // 2)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), WORDS), min_size=1, max_size=8),
    WORDS,
    st.sampled_from(["lexical", "dense", "hybrid"]),
)
def test_containers_never_leak_and_answers_do_not_depend_on_the_others(
    memories: list[tuple[str, list[str]]], question: list[str], mode: str
) -> None:
    whole, alone = Corpus(), Corpus()
    for number, (container, words) in enumerate(memories):
        whole.add(container, " ".join(words), document_id=f"{container}{number}")
        if container == "a":
            alone.add(container, " ".join(words), document_id=f"{container}{number}")
    text = " ".join(question)
    found = find(whole.build(), ask(("a", text), ("b", text)), mode=mode)
    for container, hits in zip("ab", found, strict=True):
        assert all(hit["session_keys"][0].startswith(container) for hit in hits)
    assert found[0] == find(alone.build(), ask(("a", text)), mode=mode)[0]


def test_the_registry_builds_and_searches() -> None:
    entry = PROVIDERS["local"]
    corpus = Corpus()
    corpus.add("c", TRAVEL, document_id="s")
    system = entry.create(entry.ingest_settings({"granularity": "round"}), entry.retrieval_settings({"mode": "dense"}))
    build = system.build(documents=corpus.documents, turns=corpus.turns)
    found = system.search(store=build.tables, queries=ask(("c", "Portugal")), limit=5)
    assert found["hits"].to_list()[0][0]["turns"] == [0, 1]
    assert set(build.tables) == set(entry.store_tables())
    assert entry.create(entry.ingest_settings({}), None).build(documents=corpus.documents, turns=corpus.turns).stored
