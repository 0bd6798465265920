"""What a memory system is to the stages: it builds a store from documents, and answers queries from that store.

A system receives text, dates and a container, nothing else: no question id, no id of the source, no label. Documents of
a fixture carry the attributes that their owner gave them, and the owner's id behind the container's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import dataframely as dy
import polars as pl

from converters.schema import Table
from converters.tables import HIT


class Documents(dy.Schema):
    """What is to be stored: one row a document of a container. Its text is in ``turns``, by content_hash."""

    container = dy.String(primary_key=True, description="scope: opaque digest")
    document_id = dy.String(primary_key=True, description="session_key, or container:caller id for a memory")
    position = dy.UInt32(description="order within the container")
    session_key = dy.String(description="what a hit maps back to")
    content_hash = dy.String(description="its text in turns")
    date = dy.Datetime(time_unit="us", time_zone="UTC", nullable=True, description="when it took place")
    type = dy.String(nullable=True)
    key = dy.String(nullable=True)
    subject = dy.String(nullable=True)
    importance = dy.String(nullable=True)
    knowledge_category = dy.String(nullable=True)
    category = dy.String(nullable=True)
    confidence = dy.Float64(nullable=True)
    metadata = dy.String(nullable=True)


class Queries(dy.Schema):
    """What is asked: one row a question, told without its id."""

    query = dy.UInt32(primary_key=True, description="number of the query, from 0")
    container = dy.String(description="where to search")
    text = dy.String(description="the question")
    as_of = dy.Datetime(time_unit="us", time_zone="UTC", nullable=True, description="reference date: today")


class Replies(dy.Schema):
    """What came back: one row a query."""

    query = dy.UInt32(primary_key=True, description="number of the query")
    status = dy.String(description="ok, empty, degraded, error or not_run")
    error = dy.String(nullable=True)
    retryable = dy.Bool()
    latency_ms = dy.Float64(nullable=True)
    hits = dy.List(HIT)


RETRYABLE_DOCUMENTS: Final = "retryable documents"
"""The note of a build that counts documents which another try may store."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

DOCUMENTS: Final = Table("documents", Documents)
QUERIES: Final = Table("queries", Queries)
REPLIES: Final = Table("replies", Replies, volatile=frozenset({"latency_ms", "error"}))


@dataclass(frozen=True)
class StoreBuild:
    """A built store.

    Attributes:
        tables: the provider's own tables, by name, as its ``store_tables`` declare them.
        sent: documents given.
        stored: documents that can be found.
        left_out: documents that cannot, by reason (``blank``, ``consolidated``): sent = stored + sum(left_out).
        notes: other counts worth showing.
    """

    tables: Mapping[str, pl.DataFrame]
    sent: int
    stored: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int | float | str] = field(default_factory=dict)


def quiet(what: str, done: int, total: int) -> None:
    """The progress that nobody is told of."""


class MemorySystem(Protocol):
    """A provider with the settings of one store and one system."""

    def build(self, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress = quiet) -> StoreBuild:
        """Store ``documents`` (see ``Documents``); ``turns`` holds their text (see ``converters.tables.Turns``)."""
        ...

    def search(self, *, store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int) -> pl.DataFrame:
        """Answer all ``queries`` (see ``Queries``), with at most ``limit`` hits each: see ``Replies``."""
        ...
