"""The ledger's tables. Replies that can be used again are whole; of other calls the outcome alone is kept."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Float, Index, Integer, MetaData, String, Table, Text

METADATA: Final = MetaData()

_ID: Final = BigInteger().with_variant(Integer, "sqlite")

CALLS: Final = Table(
    "calls",
    METADATA,
    Column("id", _ID, primary_key=True, autoincrement=True),
    # Digest of all that determines the answer; null for calls that are never answered from here.
    Column("key", String(64), nullable=True),
    # Several calls of one key: from 1.
    Column("attempt", Integer, nullable=False),
    # usable, degraded, unreadable or failed. Only usable ones answer.
    Column("status", String(16), nullable=False),
    Column("service", String(128), nullable=False),
    Column("purpose", String(16), nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("latency_ms", Float, nullable=True),
    Column("input_tokens", BigInteger, nullable=True),
    Column("output_tokens", BigInteger, nullable=True),
    Column("cost_usd", Float, nullable=True),
    # Seconds since the epoch, UTC.
    Column("at", Float, nullable=False),
    # JSON; null unless there is a key. Long ones are last: SQLite reads a row only as far as it is asked to.
    Column("request", Text, nullable=True),
    Column("reply", Text, nullable=True),
    Column("error", Text, nullable=True),
    Index("calls_by_key", "key", "status"),
    Index("calls_by_time", "at"),
)

CONTAINERS: Final = Table(
    "containers",
    METADATA,
    Column("service", String(128), primary_key=True),
    Column("container", String(128), primary_key=True),
    Column("store", String(128), nullable=False),
    Column("benchmark", String(128), nullable=False),
    # How often it was filled, from 1.
    Column("build", Integer, nullable=False),
    # open (being filled), ready, lost (the service no longer holds it) or cleared.
    Column("state", String(16), nullable=False),
    # JSON: what the service calls it.
    Column("handle", Text, nullable=False),
    # What the service counted when it was ready.
    Column("counted", BigInteger, nullable=True),
    Column("at", Float, nullable=False),
)

DOCUMENTS: Final = Table(
    "documents",
    METADATA,
    Column("service", String(128), primary_key=True),
    Column("container", String(128), primary_key=True),
    Column("document", String(128), primary_key=True),
    Column("build", Integer, nullable=False),
    # sent (no answer known), pending, done, skipped or failed.
    Column("state", String(16), nullable=False),
    # JSON array.
    Column("provider_ids", Text, nullable=False),
    Column("ticket", Text, nullable=True),
    Column("error", Text, nullable=True),
    Column("retryable", Integer, nullable=False),
    Column("sent_at", Float, nullable=False),
    Column("settled_at", Float, nullable=True),
)
