"""Answering questions from a store."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

import numpy as np
import numpy.typing as npt
import polars as pl

from converters.errors import BadInput
from converters.tables import HIT
from providers.local.container import Container, ranked_columns
from providers.local.embedding import Embedded, Embedder, Vectors
from providers.local.lexical import Terms
from providers.local.lexicon import analyze
from providers.local.ranking import Question, rank
from providers.local.retrieval_settings import RetrievalSettings
from providers.protocol import REPLIES

_RANKED = pl.Schema([("query", pl.UInt32()), ("rank", pl.UInt32()), ("row", pl.UInt32()), ("score", pl.Float64())])


def search(
    *,
    store: Mapping[str, pl.DataFrame],
    queries: pl.DataFrame,
    limit: int,
    settings: RetrievalSettings,
    embedder: Embedder,
) -> pl.DataFrame:
    """Answer questions, each from its container alone.

    Args:
        store: the tables of ``providers.local.store``.
        queries: see ``providers.protocol.Queries``.
        limit: hits a question, at most.
        settings: the pipeline.
        embedder: makes the questions' vectors, which a lexical search does not need.

    Returns:
        ``providers.protocol.Replies``, in the order of the queries; an unknown container answers ``empty``, a question
        without a vector says why, and where texts without one had to be left out, the answer is ``degraded``. Latency
        is that of ranking, and of the call that gave the question's vector, where there was one: what is done in this
        process is shared by the questions.

    Raises:
        BadInput: the store's vectors come from another model than the one at hand.
        Told: the embedder can do nothing more.
    """
    models = store["vectors"]["model"].unique().to_list()
    if models not in ([], [embedder.name]):
        raise BadInput("store", f"its vectors come from {', '.join(models)}, not {embedder.name}", "build it again")
    texts = (
        store["texts"]
        .join(store["vectors"], on="text_hash", how="left", maintain_order="left")
        .with_row_index("text_row")
    )
    chunks = (
        store["chunks"]
        .filter(pl.col("container").is_in(queries["container"].unique().to_list()))
        .filter(pl.lit(settings.include_superseded) | pl.col("superseded_by").is_null())
        .join(texts.select("text_hash", "text_row"), on="text_hash")
        .sort("container", "position", "document_id", "part")
        .with_row_index("row")
    )
    chunks, short = _with_vectors(chunks, texts, settings)
    containers = ranked_columns(chunks).partition_by("container", as_dict=True)
    asked, known, n_terms = _asked_terms(texts, store["vocabulary"], queries)
    vectors = _matrix(texts, embedder.dimensions)
    embedded = _embedded(queries["text"].to_list(), settings, embedder)

    ranked = [pl.DataFrame(schema=_RANKED)]
    latencies: dict[int, float] = {}
    for (name,), group in queries.with_row_index("row").sort("query").group_by("container", maintain_order=True):
        if (name,) not in containers:
            continue
        members = containers[(name,)]
        text_rows = members["text_row"].to_numpy()
        terms = [known[row] for row in text_rows.tolist()]
        container = Container.of(members, terms, n_terms, vectors[text_rows], settings)
        for row, query, text, as_of in group.select("row", "query", "text", "as_of").iter_rows():
            if row in embedded.errors:
                continue
            started = perf_counter()
            question = Question(text, asked[row], embedded.vectors[row], as_of)
            ranking, scores = rank(container, question, limit, settings)
            waited = (embedded.latency_ms or {}).get(row, 0.0)
            latencies[query] = waited + (perf_counter() - started) * 1000
            if settings.track_access:
                container.accesses[ranking] += 1
            ranked.append(_ranked(query, members["row"].to_numpy()[ranking], scores))
    replies = _replies(queries, pl.concat(ranked), chunks, texts, latencies)
    return _unanswered(_degraded(replies, queries, short), embedded)


def _embedded(texts: list[str], settings: RetrievalSettings, embedder: Embedder) -> Embedded:
    if settings.mode == "lexical":
        return Embedded(np.zeros((len(texts), 0), dtype=np.float32))
    return embedder.embed_questions(texts)


def _with_vectors(
    chunks: pl.DataFrame, texts: pl.DataFrame, settings: RetrievalSettings
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The chunks that can be ranked, and how many of each container cannot: words need no vector, the other legs do."""
    lacking = texts.filter(pl.col("vector").is_null()) if settings.mode != "lexical" else texts.clear()
    short = chunks.join(lacking, on="text_hash", how="semi").group_by("container").agg(lacking=pl.len())
    if short.is_empty():
        return chunks, short
    kept = chunks.join(lacking, on="text_hash", how="anti", maintain_order="left")
    return kept.drop("row").with_row_index("row"), short


def _matrix(texts: pl.DataFrame, dimensions: int) -> Vectors:
    """A row a text; of zeros where it has no vector, which nothing looks at."""
    if texts["vector"].null_count():
        nothing = pl.lit([0.0] * dimensions, dtype=texts.schema["vector"])
        texts = texts.with_columns(pl.col("vector").fill_null(nothing))
    matrix: Vectors = texts["vector"].list.to_array(dimensions).to_numpy()
    return matrix


def _degraded(replies: pl.DataFrame, queries: pl.DataFrame, short: pl.DataFrame) -> pl.DataFrame:
    """An answer that texts were left out of is none to be scored like others."""
    if short.is_empty():
        return replies
    lacking = queries.select("container").join(short, on="container", how="left", maintain_order="left")["lacking"]
    said = pl.format("{} pieces of its container have no vector", pl.lit(lacking))
    return replies.with_columns(
        status=pl.when(pl.lit(lacking.is_not_null())).then(pl.lit("degraded")).otherwise("status"),
        error=pl.when(pl.lit(lacking.is_not_null())).then(said).otherwise("error"),
    )


def _unanswered(replies: pl.DataFrame, embedded: Embedded) -> pl.DataFrame:
    """Questions without a vector say so; the replies are in the order of the questions."""
    if not embedded.errors:
        return replies
    rows = replies.drop("hits").rows(named=True)
    for row, lacking in embedded.errors.items():
        said = {"status": lacking.status, "error": lacking.why, "retryable": lacking.retryable, "latency_ms": None}
        rows[row] |= said
    told = pl.DataFrame(rows, schema={name: kind for name, kind in replies.schema.items() if name != "hits"})
    return REPLIES.validate(told.with_columns(replies["hits"]))


def _asked_terms(
    texts: pl.DataFrame, vocabulary: pl.DataFrame, queries: pl.DataFrame
) -> tuple[list[Terms], list[Terms], int]:
    """Terms of each question and of each text, numbered from 1 among those that a question asks for; others are 0."""
    analyzer = str(texts["analyzer"].first() or "simple")
    found = analyze(queries["text"], analyzer).join(vocabulary, on="term", maintain_order="left")
    distinct = found["term_id"].unique().sort().to_numpy()
    number = np.zeros(vocabulary.height, dtype=np.int32)
    number[distinct] = np.arange(1, len(distinct) + 1)
    asked = _split(number[found["term_id"].to_numpy()], np.bincount(found["row"].to_numpy(), minlength=queries.height))
    flat = number[texts["terms"].explode(empty_as_null=False).to_numpy()]
    return asked, _split(flat, texts["terms"].list.len().to_numpy()), len(distinct) + 1


def _split(flat: Terms, lengths: npt.NDArray[np.integer]) -> list[Terms]:
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _ranked(query: int, rows: npt.NDArray[np.uint32], scores: npt.NDArray[np.float64]) -> pl.DataFrame:
    places = np.arange(1, len(rows) + 1, dtype=np.uint32)
    return pl.DataFrame({"query": np.full(len(rows), query, np.uint32), "rank": places, "row": rows, "score": scores})


def _replies(
    queries: pl.DataFrame, ranked: pl.DataFrame, chunks: pl.DataFrame, texts: pl.DataFrame, latencies: dict[int, float]
) -> pl.DataFrame:
    hits = (
        ranked.join(chunks, on="row", maintain_order="left")
        .join(texts.select("text_row", "text"), on="text_row", maintain_order="left")
        .rename({"chunk_id": "provider_id", "text": "content"})
        .group_by("query", maintain_order=True)
        .agg(hits=pl.struct(*HIT.inner))
    )
    took = pl.Series([latencies.get(query, 0.0) for query in queries["query"]], dtype=pl.Float64)
    replies = queries.join(hits, on="query", how="left", maintain_order="left").select(
        "query",
        status=pl.when(pl.col("hits").is_null()).then(pl.lit("empty")).otherwise(pl.lit("ok")),
        error=pl.lit(None, dtype=pl.String),
        retryable=pl.lit(False),
        latency_ms=took,
        hits=pl.col("hits").fill_null(pl.lit([], dtype=REPLIES.empty.schema["hits"])),
    )
    return REPLIES.validate(replies)
