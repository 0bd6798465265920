from __future__ import annotations

import bm25s
import numpy as np
import polars as pl
import pytest

from providers.local.dense import DenseIndex, similarity
from providers.local.embedding import embed
from providers.local.lexical import LexicalIndex, top
from providers.local.lexicon import analyze
from providers.local.settings import RetrievalSettings


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire"])
def test_scores_equal_those_of_an_index_that_bm25s_built(method: str) -> None:
    random = np.random.default_rng(7)
    chunks = [random.integers(0, 9, size).astype(np.int32) for size in random.integers(0, 30, 50)]
    stock = bm25s.BM25(method=method, k1=1.2, b=0.6)
    stock.index(([chunk.tolist() for chunk in chunks], {str(term): term for term in range(9)}), show_progress=False)
    ours = LexicalIndex(chunks, 9, RetrievalSettings(lexical_method=method, bm25_k1=1.2, bm25_b=0.6))
    for query in ([1], [3, 5], [8, 8, 2], [7, 1, 4, 6]):
        expected = stock.get_scores_from_ids(query)
        np.testing.assert_allclose(ours.scores(np.array(query, dtype=np.int32)), expected, rtol=1e-5)


def test_without_terms_or_chunks_there_is_no_score() -> None:
    settings = RetrievalSettings()
    assert LexicalIndex([], 3, settings).scores(np.array([1], dtype=np.int32)).tolist() == []
    empty = np.zeros(0, dtype=np.int32)
    assert LexicalIndex([empty, empty], 3, settings).scores(np.array([1], dtype=np.int32)).tolist() == [0, 0]
    assert LexicalIndex([np.array([1], dtype=np.int32)], 3, settings).scores(empty).tolist() == [0]


def test_top_leaves_out_zeros_and_what_is_not_allowed_and_keeps_row_order_in_ties() -> None:
    scores = np.array([0.0, 2.0, 1.0, 2.0, 3.0])
    allowed = np.array([True, True, True, True, False])
    assert top(scores, 2, allowed).tolist() == [1, 3]
    assert top(scores, 9, allowed).tolist() == [1, 3, 2]


def test_terms_english() -> None:
    found = analyze(pl.Series(["The ladies' buses, 2 shoes: gas & glass!", "", "naïve Café"]), "english")
    assert found.rows() == [(0, "lady"), (0, "buse"), (0, "shoe"), (0, "ga"), (0, "glass"), (2, "naïve"), (2, "café")]


def test_terms_simple_keep_every_word_of_two_characters() -> None:
    assert analyze(pl.Series(["The Cat is a cat"]), "simple")["term"].to_list() == ["the", "cat", "is", "cat"]
    assert analyze(pl.Series([], dtype=pl.String), "simple").is_empty()


def test_similarity_is_one_minus_half_the_distance() -> None:
    assert similarity(np.array([1.0, 0.0, -0.4, -1.0])).tolist() == pytest.approx([1.0, 0.5, 0.3, 0.0])


def test_a_vector_depends_on_its_text_alone() -> None:
    texts = ["short", "a much longer text about sailing " * 40, "", "日本語のテキスト", "x" * 50_000]
    together = embed(texts)
    np.testing.assert_array_equal(together, np.concatenate([embed([text]) for text in texts]))
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), [1, 1, 0, 1, 1], rtol=1e-5)
    assert embed([]).shape == (0, 256)


def test_vectors_equal_the_library_s_own() -> None:
    from pathlib import Path

    import wordllama

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    texts = ["I moved to Lisbon in March.", "Was I in Lisbon?", "🎉 party"]
    np.testing.assert_allclose(embed(texts), model.embed(texts, norm=True), atol=1e-5)


def test_exact_search_keeps_to_allowed_rows_and_breaks_ties_by_row() -> None:
    vectors = np.eye(4, 256, dtype=np.float32)[[1, 0, 1, 2]]
    index = DenseIndex(vectors, RetrievalSettings(ann="exact"))
    rows, scores = index.nearest(vectors[0], 3, np.ones(4, dtype=bool))
    assert (rows.tolist(), scores.tolist()) == ([0, 2, 1], [1.0, 1.0, 0.5])
    rows, _ = index.nearest(vectors[0], 3, np.array([False, True, True, True]))
    assert rows.tolist() == [2, 1, 3]


def test_the_graph_finds_nearly_what_exact_search_finds_and_the_same_each_time() -> None:
    random = np.random.default_rng(3)
    vectors = random.normal(size=(1000, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    exact = DenseIndex(vectors, RetrievalSettings(ann="exact"))
    settings = RetrievalSettings(ann="auto", ann_threshold=1000, ef_search=200, ef_construction=100)
    graph, again = DenseIndex(vectors, settings), DenseIndex(vectors, settings)
    queries = vectors[:20] + random.normal(scale=0.02, size=(20, 256)).astype(np.float32)
    everything = np.ones(len(vectors), dtype=bool)
    found = 0
    for query in queries:
        rows, _ = graph.nearest(query, 10, everything)
        assert rows.tolist() == again.nearest(query, 10, everything)[0].tolist()
        found += len(set(rows.tolist()) & set(exact.nearest(query, 10, everything)[0].tolist()))
    assert found / 200 >= 0.9


def test_a_graph_gives_way_to_exact_search_where_rows_are_excluded() -> None:
    vectors = np.eye(8, 256, dtype=np.float32)
    graph = DenseIndex(vectors, RetrievalSettings(ann="hnsw"))
    rows, _ = graph.nearest(vectors[3], 8, np.arange(8) != 3)
    assert sorted(rows.tolist()) == [0, 1, 2, 4, 5, 6, 7]
