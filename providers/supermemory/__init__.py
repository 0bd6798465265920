"""Supermemory, a hosted memory service: its interfaces of 2026, ``v5`` and the older ``v3`` with ``v4``.

Facts of the wire. A document has two clocks: its text is indexed when ``status`` is done, and its memories are there
only when ``dreamingStatus`` is done too. A document that cannot be processed is removed after minutes, so that one
which is not there any more has failed. The same id again appends what is new to the document; unchanged, it does
nothing. A batch's results come in an order of their own, and 2xx may hold failures. What is searched, and from which
similarity, differs between versions where it is not said. A hit is a memory or a chunk, and names its documents only if
asked to.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from providers.remote.access import Access
from providers.remote.wire import Wire
from providers.supermemory.answers import judge
from providers.supermemory.dialect import Dialect
from providers.supermemory.settings import ACCESS, IngestSettings, RetrievalSettings
from providers.supermemory.system import Supermemory
from providers.supermemory.v4 import V4
from providers.supermemory.v5 import V5

__all__ = ["ACCESS", "IngestSettings", "RetrievalSettings", "create", "open_wire"]

_DIALECTS: Final[dict[str, type[Dialect]]] = {"v4": V4, "v5": V5}


def create(ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Supermemory:
    """The adapter with these settings."""
    stored = IngestSettings.model_validate(ingest.model_dump())
    asked = RetrievalSettings.model_validate(retrieval.model_dump() if retrieval else {})
    return Supermemory(_DIALECTS[stored.api](), stored.dreaming, asked, wire)


def open_wire(ingest: BaseModel, access: Access) -> Wire:
    """HTTP with the key as a bearer token."""
    return access.http("supermemory", {"Authorization": f"Bearer {access.key}"}, judge)
