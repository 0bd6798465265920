"""The tables of a store: chunks of containers over distinct texts, with the terms and the vector of each text."""

from __future__ import annotations

from typing import Final

import dataframely as dy

from converters.schema import Table

DIMENSIONS: Final = 256
"""Of the vectors that are made in this process."""


class Chunks(dy.Schema):
    """One row a chunk of a container, in the order of the container's documents."""

    container = dy.String(primary_key=True, description="scope of the search")
    chunk_id = dy.String(primary_key=True, description="document_id#part")
    position = dy.UInt32(description="place of the document in the container, from 0")
    part = dy.UInt32(description="place in the document, from 0")
    document_id = dy.String(description="which document")
    session_keys = dy.List(dy.String(), description="its session, then those of the chunks merged into it")
    turns = dy.List(dy.UInt32(), nullable=True, description="turns it covers; null where it is merged")
    text_hash = dy.String(description="its text")
    date = dy.Datetime(time_unit="us", time_zone="UTC", nullable=True, description="when it took place")
    type = dy.String(nullable=True, description="event, fact, decision, status")
    importance = dy.String(nullable=True, description="critical, high, medium, low")
    confidence = dy.Float64(nullable=True, description="0 to 1")
    access_count = dy.UInt32(description="accesses before the import, by its metadata")
    superseded_by = dy.String(nullable=True, description="document_id of the fact or status that replaced it")


class Texts(dy.Schema):
    """One row a distinct text, however many chunks have it."""

    text_hash = dy.String(primary_key=True, description="sha256 of the text")
    text = dy.String(description="what is searched and shown")
    analyzer = dy.String(description="what made the terms")
    terms = dy.List(dy.UInt32(), description="term_id of each term, in order")


class Vectors(dy.Schema):
    """One row a distinct text that a vector could be had for; vectors of a store are equally long."""

    text_hash = dy.String(primary_key=True, description="which text")
    model = dy.String(description="what made the vector, with its dimensions")
    vector = dy.List(dy.Float32(), description="of length 1, or all zeros")


class Vocabulary(dy.Schema):
    """One row a term, in order of code points."""

    term_id = dy.UInt32(primary_key=True, description="from 0")
    term = dy.String(description="as the analyzer leaves it")


CHUNKS: Final = Table("chunks", Chunks)
TEXTS: Final = Table("texts", Texts, meaning=("text_hash", "analyzer"))
VECTORS: Final = Table("vectors", Vectors, meaning=("text_hash", "model"))
VOCABULARY: Final = Table("vocabulary", Vocabulary)
