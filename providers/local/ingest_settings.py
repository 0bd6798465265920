"""Settings that shape the store of the embedded system. A change of one of them builds another store."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Granularity = Literal["session", "round", "turn"]
Analyzer = Literal["english", "simple"]


def _absent(value: object) -> bool:
    return value is None


class EmbeddingSettings(BaseModel):
    """An endpoint that speaks OpenAI's ``POST /embeddings``; where it is says the store's ``service``.

    What changes no vector is no part of what ``model_dump`` gives, and so of what makes a store stale.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[str, StringConstraints(min_length=1, max_length=100)] = Field(
        description="Name of the model, as the endpoint knows it."
    )
    dimensions: int = Field(ge=1, le=16_384, description="Length of its vectors; others are refused.")
    shorten: bool = Field(
        default=False, description="Ask for vectors of `dimensions`, where the model's own are longer and can be cut."
    )
    max_tokens: int = Field(
        default=8_000,
        ge=1,
        le=1_000_000,
        description="Longer texts are cut to so many tokens, estimated at four bytes each (a character of Chinese, "
        "Japanese or Korean is one), and counted. OpenAI's limit is 8,192.",
    )
    batch: int = Field(
        default=64, ge=1, le=2_048, exclude=True, description="Texts a request. OpenAI's limit is 2,048."
    )
    format: Literal["base64", "float"] = Field(
        default="base64", exclude=True, description="How vectors are asked for; both are understood in any case."
    )
    input_usd: float | None = Field(
        default=None, ge=0.0, exclude=True, description="US dollars a million tokens; a limit of money needs it."
    )


class IngestSettings(BaseModel):
    """How documents become chunks. Defaults are those of the emulated API where it has the constant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    granularity: Granularity = Field(
        default="turn",
        description="What one chunk is: a whole `session`, a `round` (a user turn and the assistant turns after it) "
        "or a `turn`. The API stores what it is sent and has no default.",
    )
    chunk_chars: int = Field(
        default=10_000,
        ge=100,
        le=1_000_000,
        description="Text longer than this many characters is split, at white space where there is some. The API "
        "refuses longer content.",
    )
    analyzer: Analyzer = Field(
        default="english",
        description="Lexical terms: `english` leaves stop words out and strips plurals, `simple` keeps every "
        "lower-case word of two characters or more.",
    )
    consolidate: bool = Field(
        default=False,
        description="Merge near-duplicate chunks of a container into the oldest, which then maps to the sessions of "
        "all. The API does so on a schedule once it holds 1,500 memories, and says to turn it off for an evaluation.",
    )
    consolidation_threshold: float = Field(
        default=0.92, ge=0.0, le=1.0, description="Cosine from which two chunks are merged, if `consolidate`."
    )
    embedding: EmbeddingSettings | None = Field(
        default=None,
        exclude_if=_absent,
        description="An endpoint that makes the vectors, with the settings below; `null`: they are made in this "
        "process, by wordllama.",
    )
