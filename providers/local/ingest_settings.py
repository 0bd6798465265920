"""Settings that shape the store of the embedded system. A change of one of them builds another store."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Granularity = Literal["session", "round", "turn"]
Analyzer = Literal["english", "simple"]


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
