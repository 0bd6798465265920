"""Settings that shape a search of the embedded system. A change of one of them leaves the store as it is."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Mode = Literal["lexical", "dense", "hybrid"]
Ann = Literal["auto", "exact", "hnsw"]
LexicalMethod = Literal["lucene", "robertson", "atire"]


class RetrievalSettings(BaseModel):
    """The search pipeline, in its order. Defaults are those of the emulated API where it has the constant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Mode = Field(default="hybrid", description="Legs: `lexical` (BM25), `dense` (vectors) or `hybrid` (both).")
    include_superseded: bool = Field(
        default=False,
        description="Also search facts and statuses that a newer one of the same key or subject replaced.",
    )

    candidate_factor: float = Field(
        default=2.0, ge=1.0, le=100.0, description="Candidates a leg: a multiple of the limit."
    )
    candidate_cap: int = Field(
        default=200, ge=1, le=100_000, description="Candidates a leg, at most, but never below the limit."
    )

    lexical_method: LexicalMethod = Field(
        default="lucene",
        description="BM25 variant. bm25s's default; the API ranks by its database's cover density.",
    )
    bm25_k1: float = Field(default=1.5, ge=0.0, le=10.0, description="Saturation of repeated terms. bm25s's default.")
    bm25_b: float = Field(default=0.75, ge=0.0, le=1.0, description="Length normalisation. bm25s's default.")

    similarity_floor: float = Field(
        default=0.3,
        ge=0.0,
        le=1.0,
        description="Dense hits below this similarity are cut. Similarity is 1 - distance / 2, where distance is "
        "1 - cosine: 0.5 is unrelated, 0.3 a cosine of -0.4. Later releases of the API default to 0.55.",
    )
    ann: Ann = Field(
        default="auto",
        description="Vector search: `exact`, `hnsw` (a graph), or `auto` by `ann_threshold`. The API: hnsw.",
    )
    ann_threshold: int = Field(
        default=100_000,
        ge=1,
        description="Chunks in a container from which `auto` is `hnsw`; below, exact is faster.",
    )
    ef_search: int = Field(default=40, ge=1, le=10_000, description="HNSW: candidates kept while searching.")
    ef_construction: int = Field(default=64, ge=1, le=10_000, description="HNSW: candidates kept while building.")
    connectivity: int = Field(default=16, ge=2, le=512, description="HNSW: links a node (M).")

    rrf_k: int = Field(default=60, ge=0, le=100_000, description="Reciprocal rank fusion: sum of weight / (k + rank).")
    dense_weight: float = Field(default=1.0, ge=0.0, le=100.0, description="Weight of the dense leg in the fusion.")
    lexical_weight: float = Field(default=1.0, ge=0.0, le=100.0, description="Weight of the lexical leg in the fusion.")
    blend_similarity: float = Field(
        default=0.6, ge=0.0, le=1.0, description="Hybrid score: share of the similarity; 0 leaves the fusion alone."
    )
    blend_fusion: float = Field(
        default=0.4, ge=0.0, le=1.0, description="Hybrid score: share of the fusion score, relative to the best one."
    )
    lexical_only_similarity: float = Field(
        default=0.55,
        ge=0.0,
        le=1.0,
        description="Similarity of a hybrid candidate that the dense leg did not find.",
    )

    importance_critical: float = Field(default=1.0, ge=0.0, le=10.0, description="Multiplier of importance critical.")
    importance_high: float = Field(default=0.85, ge=0.0, le=10.0, description="Multiplier of importance high.")
    importance_medium: float = Field(
        default=0.7, ge=0.0, le=10.0, description="Multiplier of importance medium, and of a memory without one."
    )
    importance_low: float = Field(default=0.5, ge=0.0, le=10.0, description="Multiplier of importance low.")
    access_weight: float = Field(
        default=0.3, ge=0.0, le=10.0, description="Access boost: 1 + weight * log2(accesses + 1). Accesses: metadata's."
    )
    access_boost_cap: float = Field(default=2.0, ge=1.0, le=100.0, description="Access boost, at most.")
    track_access: bool = Field(
        default=False,
        description="Count each hit as an access before the next question of the container. The API does unless "
        "told `read_only`; then a score depends on the order of the questions.",
    )
    decay_factor: float = Field(
        default=0.98,
        gt=0.0,
        le=1.0,
        description="Facts and statuses lose confidence by this factor a day, until the reference date; 1: none.",
    )

    temporal_filter: bool = Field(
        default=True,
        description="A time named in the question (yesterday, 3 weeks ago, in March) cuts what lies outside of it. "
        "Undated memories stay.",
    )
    temporal_boost: float = Field(
        default=1.0,
        ge=0.0,
        le=10.0,
        description="Closeness to the time named: 1 + boost * exp(-days outside / decay).",
    )
    recency_boost: float = Field(
        default=1.0,
        ge=0.0,
        le=10.0,
        description="The same by closeness to the reference date, for a question about time that names none "
        "(when, latest, before).",
    )
    temporal_decay_days: float = Field(default=30.0, gt=0.0, le=10_000.0, description="Decay of both boosts, in days.")
    slack_days: int = Field(default=2, ge=0, le=365, description="Slack on both sides of `N days ago`.")
    slack_days_long: int = Field(
        default=5, ge=0, le=365, description="Slack on both sides of `N weeks ago`, `last month`."
    )
    recent_days: int = Field(default=14, ge=1, le=3650, description="How far back `recently` and `last week` reach.")

    near_duplicate_threshold: float | None = Field(
        default=0.85,
        ge=0.0,
        le=1.0,
        description="A hit is dropped if its cosine to a better one exceeds this; null keeps all. The API applies "
        "the figure when it stores.",
    )
    session_diversity: bool = Field(
        default=True,
        description="Round robin: the best hit of each session, then the second best of each, and so on.",
    )
    diversity_above: int = Field(default=3, ge=0, le=10_000, description="Only where there are more hits than this.")

    @property
    def importance_weights(self) -> dict[str, float]:
        """Multiplier by importance."""
        return {
            "critical": self.importance_critical,
            "high": self.importance_high,
            "medium": self.importance_medium,
            "low": self.importance_low,
        }
