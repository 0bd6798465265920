"""Building a store: documents to chunks, and each distinct text once to terms and vector."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from providers.local.chunking import Turn, pieces
from providers.local.consolidation import consolidate
from providers.local.embedding import Embedder, Lacking, Vectors
from providers.local.ingest_settings import IngestSettings
from providers.local.lexicon import analyze
from providers.local.store import CHUNKS, TEXTS, VECTORS, VOCABULARY
from providers.local.supersession import mark_superseded
from providers.protocol import RETRYABLE_DOCUMENTS, Progress, StoreBuild, quiet

_PIECES = pl.Schema(
    [("content_hash", pl.String()), ("part", pl.UInt32()), ("turns", pl.List(pl.UInt32)), ("text", pl.String())]
)
_DOCUMENT: Final = ["container", "document_id"]


def build(
    *,
    documents: pl.DataFrame,
    turns: pl.DataFrame,
    settings: IngestSettings,
    embedder: Embedder,
    progress: Progress = quiet,
) -> StoreBuild:
    """Store documents.

    Args:
        documents: see ``providers.protocol.Documents``.
        turns: their text, see ``converters.tables.Turns``; a document without turns counts as blank.
        settings: how.
        embedder: makes the vectors.
        progress: told how many texts are embedded.

    Returns:
        The tables of ``providers.local.store``. Left out: ``blank`` (no text), ``failed`` (a text of it has no vector:
        see ``Vectors``) and ``consolidated`` (every chunk was merged into an older one, which maps to this document's
        session too).

    Raises:
        Told: the embedder can do nothing more.
    """
    turns = turns.join(documents.select("content_hash").unique(), on="content_hash", how="semi")
    cut = pieces_of(turns, settings)
    distinct = cut.select("text").unique(maintain_order=True).with_row_index("text_row")
    texts = distinct["text"].to_list()
    embedded = embedder.embed(texts, progress)
    vectors = embedded.vectors
    hashes = pl.Series("text_hash", [hashlib.sha256(text.encode()).hexdigest() for text in texts], dtype=pl.String)

    chunks = _chunks(documents, cut.join(distinct, on="text", maintain_order="left"))
    n_documents = chunks.select(_DOCUMENT).n_unique()
    failed = _failed(chunks, embedded.errors)
    n_chunks = chunks.height
    if settings.consolidate:
        chunks = consolidate(chunks, vectors, settings.consolidation_threshold)
    stored = chunks.join(failed, on=_DOCUMENT, how="anti").select(_DOCUMENT).n_unique()

    # Rows follow the first use of a text, which depends on the order of the documents; the key does not.
    order = hashes.arg_sort()
    there = order.filter(~order.is_in(list(embedded.errors))) if embedded.errors else order
    text_table, vocabulary = _terms(distinct["text"], hashes, settings.analyzer)
    tables = {
        "chunks": CHUNKS.validate(chunks.with_columns(text_hash=hashes.gather(chunks["text_row"])).select(_columns())),
        "texts": TEXTS.validate(text_table[order]),
        "vectors": VECTORS.validate(_vector_table(hashes, vectors, embedder.name)[there]),
        "vocabulary": VOCABULARY.validate(vocabulary),
    }
    return StoreBuild(
        tables=tables,
        sent=documents.height,
        stored=stored,
        left_out={
            "blank": documents.height - n_documents,
            "consolidated": n_documents - failed.height - stored,
            **({"failed": failed.height} if failed.height else {}),
        },
        notes={
            "chunks": chunks.height,
            "texts": len(texts),
            "blank_turns": turns.filter(pl.col("content").str.strip_chars() == "").height,
            "merged_chunks": n_chunks - chunks.height,
            "superseded_chunks": chunks["superseded_by"].drop_nulls().len(),
            "model": embedder.name,
            **embedded.notes,
            **({RETRYABLE_DOCUMENTS: int(failed["retryable"].sum())} if failed["retryable"].any() else {}),
        },
    )


def pieces_of(turns: pl.DataFrame, settings: IngestSettings) -> pl.DataFrame:
    """Columns ``content_hash``, ``part``, ``turns`` and ``text``: the pieces of the sessions that ``turns`` holds."""
    rows = []
    for (content_hash,), session in turns.sort("content_hash", "turn_index").group_by(
        "content_hash", maintain_order=True
    ):
        messages = [Turn(*row) for row in session.select("turn_index", "role", "content").iter_rows()]
        for part, piece in enumerate(pieces(messages, settings.granularity, settings.chunk_chars)):
            rows.append((content_hash, part, piece.turns, piece.text))
    return pl.DataFrame(rows, schema=_PIECES, orient="row")


def _chunks(documents: pl.DataFrame, cut: pl.DataFrame) -> pl.DataFrame:
    """Columns of ``Chunks`` but ``text_hash``, and ``text_row``; ordered by container, position and part."""
    accesses = pl.col("metadata").str.json_path_match("$.access_count").cast(pl.UInt32, strict=False).fill_null(0)
    return (
        documents.join(mark_superseded(documents), on=["container", "document_id"], validate="1:1")
        .join(cut, on="content_hash")
        .with_columns(
            chunk_id=pl.format("{}#{}", "document_id", "part"),
            session_keys=pl.concat_list("session_key"),
            access_count=accesses,
        )
        .sort("container", "position", "document_id", "part")
        .select("text_row", *(name for name in _columns() if name != "text_hash"))
    )


def _failed(chunks: pl.DataFrame, errors: Mapping[int, Lacking]) -> pl.DataFrame:
    """Documents a text of which has no vector, by container, and whether another try may mend that."""
    lacking = pl.DataFrame(
        {"text_row": list(errors), "retryable": [one.retryable for one in errors.values()]},
        schema={"text_row": chunks.schema["text_row"], "retryable": pl.Boolean},
    )
    # A text that is refused for good is not mended by another try for the rest of its document.
    return chunks.join(lacking, on="text_row").group_by(_DOCUMENT).agg(pl.col("retryable").all())


def _terms(texts: pl.Series, hashes: pl.Series, analyzer: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    found = analyze(texts, analyzer)
    vocabulary = found.select(pl.col("term").unique().sort()).with_row_index("term_id")
    terms = (
        found.join(vocabulary, on="term", maintain_order="left")
        .group_by("row", maintain_order=True)
        .agg(terms=pl.col("term_id"))
    )
    table = (
        pl.DataFrame({"text_hash": hashes, "text": texts})
        .with_row_index("row")
        .join(terms, on="row", how="left", maintain_order="left")
        .select(
            "text_hash",
            "text",
            analyzer=pl.lit(analyzer),
            terms=pl.col("terms").fill_null(pl.lit([], dtype=pl.List(pl.UInt32))),
        )
    )
    return table, vocabulary


def _vector_table(hashes: pl.Series, vectors: Vectors, model: str) -> pl.DataFrame:
    column = pl.Series(np.ascontiguousarray(vectors)).cast(VECTORS.empty.schema["vector"])
    return pl.DataFrame({"text_hash": hashes, "vector": column}).select(
        "text_hash", model=pl.lit(model), vector="vector"
    )


def _columns() -> list[str]:
    return CHUNKS.schema.column_names()
