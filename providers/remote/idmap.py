"""A remote store as the graph knows it: what was sent, and what the service made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import dataframely as dy

from converters.schema import Table


class Receipts(dy.Schema):
    """One row a piece of a document that was sent to a service."""

    container = dy.String(primary_key=True, description="where it was sent")
    piece = dy.String(primary_key=True, description="the id that it was sent under")
    document_id = dy.String(description="of which document it is a piece, or all")
    session_key = dy.String(description="what a hit maps back to")
    first_turn = dy.UInt32(description="of the session: the first that it holds")
    last_turn = dy.UInt32(description="the last that it holds")
    build = dy.UInt32(description="how often this container was filled, this time included")
    status = dy.String(description="done, pending (not indexed in time), skipped (the service kept nothing) or failed")
    retryable = dy.Bool(description="whether sending or waiting again may help")
    provider_ids = dy.List(dy.String(), description="what the service calls it, or what it made of it")
    error = dy.String(nullable=True, description="why it failed or was skipped")
    ready_ms = dy.Float64(nullable=True, description="milliseconds from sending until it could be found")


RECEIPTS: Final = Table("receipts", Receipts, volatile=frozenset({"provider_ids", "error", "ready_ms"}))
STORE_TABLES: Final[Mapping[str, Table]] = {RECEIPTS.name: RECEIPTS}
