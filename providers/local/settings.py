"""The settings of the embedded system: those of its store and those of a search, apart."""

from __future__ import annotations

from providers.local.ingest_settings import EmbeddingSettings, IngestSettings
from providers.local.retrieval_settings import RetrievalSettings

__all__ = ["EmbeddingSettings", "IngestSettings", "RetrievalSettings"]
