"""Zep Cloud: its interfaces v4 and v3."""

from __future__ import annotations

from pydantic import BaseModel

from providers.remote.access import Access
from providers.remote.wire import Wire
from providers.zep import v3, v4
from providers.zep.api import Api, judge
from providers.zep.service import Zep
from providers.zep.settings import ACCESS, IngestSettings, RetrievalSettings

__all__ = ["ACCESS", "IngestSettings", "RetrievalSettings", "create", "open_wire"]


def create(ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> Zep:
    """The adapter with these settings."""
    ingesting = IngestSettings.model_validate(ingest.model_dump())
    searching = RetrievalSettings.model_validate(retrieval.model_dump() if retrieval else {})
    api: Api = v3.V3(wire) if ingesting.api == "v3" else v4.V4(wire, whole=ingesting.mode == "episodes")
    return Zep(ingesting, searching, api)


def open_wire(ingest: BaseModel, access: Access) -> Wire:
    """HTTP with the key as ``Api-Key``, at the address of the version."""
    path = v3.PATH if IngestSettings.model_validate(ingest.model_dump()).api == "v3" else v4.PATH
    return access.http("zep", {"Authorization": f"Api-Key {access.key}"}, judge, path=path)
