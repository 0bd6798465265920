"""Settings of Zep Cloud, and where it is."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from providers.remote.access import AccessDefaults

ACCESS: Final = AccessDefaults(base_url="https://api.getzep.com", key_env="ZEP_API_KEY")


class IngestSettings(BaseModel):
    """What shapes a store.

    Attributes:
        api: version of the interface.
        mode: ``messages``: a thread for each session, whose turns become messages; ``episodes``: each session is one
            text, or several where it has more than 10,000 characters (v4 only).
        longest_message: characters of a message; longer turns become several. Older plans take 2,500.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    api: Literal["v4", "v3"] = "v4"
    mode: Literal["messages", "episodes"] = "messages"
    longest_message: int = Field(default=4096, ge=100, le=4096)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.api == "v3" and self.mode == "episodes":
            raise PydanticCustomError("mode", "mode episodes needs api v4; with v3, use mode messages")
        return self


class RetrievalSettings(BaseModel):
    """Options of a search.

    Attributes:
        scope: what is searched: ``episodes`` are the texts that were sent, ``edges`` the facts that were made of them.
        reranker: how hits are ordered; ``rrf`` is Zep's default.
        mmr_lambda: weight of relevance against variety, which ``mmr`` needs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    scope: Literal["episodes", "edges"] = "episodes"
    reranker: Literal["rrf", "mmr", "cross_encoder"] = "rrf"
    mmr_lambda: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        if (self.reranker == "mmr") != (self.mmr_lambda is not None):
            raise PydanticCustomError("mmr", "mmr_lambda goes with reranker mmr, which needs it")
        return self
