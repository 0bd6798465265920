"""A baseline has no settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class IngestSettings(BaseModel):
    """How a baseline stores documents: there is one way."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RetrievalSettings(BaseModel):
    """How a baseline searches: there is one way."""

    model_config = ConfigDict(extra="forbid", frozen=True)
