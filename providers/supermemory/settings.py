"""Where Supermemory is, and what may be set of its stores and searches."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from providers.remote.access import AccessDefaults

ACCESS: Final = AccessDefaults(base_url="https://api.supermemory.ai", key_env="SUPERMEMORY_API_KEY")


class IngestSettings(BaseModel):
    """What shapes a store.

    Attributes:
        api: the interface: ``v5`` (namespaces), or ``v4`` (container tags: documents by ``/v3``, searches by ``/v4``).
        dreaming: how memories are made of documents. ``instant``: of each by itself, at once, which is billed as one
            more operation a document. ``dynamic``, the service's own default: of documents grouped by the service,
            perhaps minutes later; a memory made of several sessions then names one of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    api: Literal["v5", "v4"] = "v5"
    dreaming: Literal["instant", "dynamic"] = "instant"


class RetrievalSettings(BaseModel):
    """Options of a search, each of which is sent: the service's own defaults differ between versions.

    Attributes:
        search_mode: what is searched: memories, chunks of documents, or both.
        threshold: hits of a lower similarity are cut; 0 cuts none.
        rerank: order the hits once more. (Aggregation, which makes hits without a source, is not offered.)
        rewrite_query: let the service reword the question before it searches.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    search_mode: Literal["hybrid", "memories", "chunks"] = "hybrid"
    threshold: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)] = 0.0
    rerank: bool = False
    rewrite_query: bool = False
