"""Answering questions from a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter

import numpy as np
import polars as pl

from converters.errors import BadInput
from providers.local.container import Container
from providers.local.embedding import embed, model_name
from providers.local.lexical import Terms
from providers.local.lexicon import analyze
from providers.local.ranking import Question, rank
from providers.local.retrieval_settings import RetrievalSettings
from providers.protocol import REPLIES


def search(
    *, store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int, settings: RetrievalSettings
) -> pl.DataFrame:
    """Answer questions, each from its container alone.

    Args:
        store: the tables of ``providers.local.store``.
        queries: see ``providers.protocol.Queries``.
        limit: hits a question, at most.
        settings: the pipeline.

    Returns:
        ``providers.protocol.Replies``, in the order of the queries; an unknown container answers ``empty``.

    Raises:
        BadInput: the store's vectors come from another model than the one at hand.
    """
    models = store["vectors"]["model"].unique().to_list()
    if models not in ([], [model_name()]):
        raise BadInput("store", f"its vectors come from {', '.join(models)}, not {model_name()}", "build it again")
    texts = store["texts"].join(store["vectors"], on="text_hash", maintain_order="left").with_row_index("text_row")
    asked, known, n_terms = _asked_terms(texts, store["vocabulary"], queries)
    chunks = (
        store["chunks"]
        .filter(pl.col("container").is_in(queries["container"].unique().to_list()))
        .filter(pl.lit(settings.include_superseded) | pl.col("superseded_by").is_null())
        .join(texts.select("text_hash", "text_row", "text"), on="text_hash")
        .sort("container", "position", "document_id", "part")
    )
    vectors = texts["vector"].to_numpy()
    question_vectors = embed(queries["text"].to_list())
    by_container = chunks.partition_by("container", as_dict=True, include_key=False)

    replies: dict[int, dict[str, object]] = {}
    numbered = queries.with_row_index("row").sort("query")
    for (name,), group in numbered.group_by("container", maintain_order=True):
        members = by_container.get((name,))
        if members is None:
            replies |= {query: _reply(query, [], 0.0) for query in group["query"]}
            continue
        rows = members["text_row"].to_numpy()
        terms = [known[row] for row in rows.tolist()]
        container = Container.of(members, terms, n_terms, vectors[rows], settings)
        for row, query, text, as_of in group.select("row", "query", "text", "as_of").iter_rows():
            started = perf_counter()
            question = Question(text, asked[row], question_vectors[row : row + 1], as_of)
            ranking, scores = rank(container, question, limit, settings)
            if settings.track_access:
                container.accesses[ranking] += 1
            hits = list(_hits(container, ranking.tolist(), scores.tolist()))
            replies[query] = _reply(query, hits, (perf_counter() - started) * 1000)
    return REPLIES.validate(pl.DataFrame([replies[query] for query in queries["query"]], schema=REPLIES.empty.schema))


def _asked_terms(
    texts: pl.DataFrame, vocabulary: pl.DataFrame, queries: pl.DataFrame
) -> tuple[list[Terms], list[Terms], int]:
    """Terms of each question and of each text, numbered from 1 among those that a question asks for; others are 0."""
    n_terms = vocabulary.height
    analyzer = texts["analyzer"].first() or "simple"
    found = analyze(queries["text"], str(analyzer)).join(vocabulary, on="term", maintain_order="left")
    number = np.zeros(n_terms, dtype=np.int32)
    distinct = found["term_id"].unique().sort().to_numpy()
    number[distinct] = np.arange(1, len(distinct) + 1)
    asked: list[list[int]] = [[] for _ in range(queries.height)]
    for row, term_id in found.select("row", "term_id").iter_rows():
        asked[row].append(int(number[term_id]))
    ends = texts["terms"].list.len().cum_sum().to_numpy()
    flat = number[texts["terms"].explode(empty_as_null=False).to_numpy()]
    known = np.split(flat, ends[:-1]) if texts.height else []
    return [np.array(terms, dtype=np.int32) for terms in asked], list(known), len(distinct) + 1


def _hits(container: Container, ranking: list[int], scores: list[float]) -> Iterator[dict[str, object]]:
    for place, (row, score) in enumerate(zip(ranking, scores, strict=True), start=1):
        yield {
            "rank": place,
            "provider_id": container.chunk_ids[row],
            "session_keys": container.session_keys[row],
            "turns": container.turns[row],
            "content": container.texts[row],
            "score": score,
            "date": container.dates[row],
        }


def _reply(query: int, hits: list[dict[str, object]], latency_ms: float) -> dict[str, object]:
    status = "ok" if hits else "empty"
    return {
        "query": query,
        "status": status,
        "error": None,
        "retryable": False,
        "latency_ms": latency_ms,
        "hits": hits,
    }
