"""What makes vectors: static embeddings, unless a store's settings name an endpoint.

Static embeddings are made offline: each token has a vector, a text the mean of them (wordllama; weights in its wheel).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from providers.local.store import DIMENSIONS
from providers.protocol import Progress, quiet

Vectors = npt.NDArray[np.float32]
_BATCH: Final = 256


@dataclass(frozen=True)
class Lacking:
    """Why a text has no vector.

    Attributes:
        why: one line.
        retryable: another try may give one.
        status: of a question that is asked with this text.
    """

    why: str
    retryable: bool
    status: Literal["error", "not_run"] = "error"


@dataclass(frozen=True)
class Embedded:
    """What became of some texts.

    Attributes:
        vectors: float32, one row a text, in the order given; of length 1, or all zeros.
        errors: by row, why there is no vector; its row is zeros.
        latency_ms: by row, of the call that gave the vector; None where nobody was asked.
        notes: counts worth showing.
    """

    vectors: Vectors
    errors: Mapping[int, Lacking] = field(default_factory=dict)
    latency_ms: Mapping[int, float] | None = None
    notes: Mapping[str, int] = field(default_factory=dict)


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def name(self) -> str:
        """What the vectors come from, with their dimensions: vectors of two names are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> Embedded:
        """Vectors of the texts of a store; ``progress`` is told how many are there."""
        ...

    def embed_questions(self, texts: Sequence[str]) -> Embedded:
        """The same of questions, each by itself, as somebody would ask it."""
        ...


class StaticEmbedder:
    """The embedder in this process. See ``Embedder``."""

    dimensions: Final = DIMENSIONS

    @property
    def name(self) -> str:
        """See ``model_name``."""
        return model_name()

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> Embedded:
        """See ``embed``."""
        return Embedded(embed(texts, progress))

    def embed_questions(self, texts: Sequence[str]) -> Embedded:
        """See ``embed``."""
        return Embedded(embed(texts))


def model_name() -> str:
    """What the vectors come from: library, its version, weights and dimensions."""
    from importlib.metadata import version

    return f"wordllama {version('wordllama')} l2_supercat {DIMENSIONS}"


def embed(texts: Sequence[str], progress: Progress = quiet) -> Vectors:
    """Vectors of length 1 (all zeros for a text without a token), one row a text, in the order given.

    A vector depends on its text alone, not on the batch it was computed in: no padding takes part.
    """
    out = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    if not texts:
        return out
    # Longest first, so that the last batches are short and both threads end together.
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]), reverse=True)
    batches = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
    done = 0
    with ThreadPoolExecutor(min(len(batches), os.cpu_count() or 1)) as pool:
        pooled = pool.map(lambda batch: _pool([texts[index] for index in batch]), batches)
        for batch, vectors in zip(batches, pooled, strict=True):
            out[batch] = vectors
            done += len(batch)
            progress("embedding", done, len(texts))
    lengths = np.linalg.norm(out, axis=1, keepdims=True)
    np.divide(out, lengths, out=out, where=lengths > 0)
    return out


def _pool(texts: list[str]) -> Vectors:
    model = _model()
    # Not the library's own embed(): it pads each batch, and takes twice the time on texts of some length.
    encodings = model.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    out = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, encoding in enumerate(encodings):
        ids = encoding.ids
        if ids:
            out[row] = model.embedding[ids].mean(axis=0)
    return out


@cache
def _model() -> Any:
    # The library configures the root logger when it is imported, which is not its business.
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    import wordllama

    root.handlers[:] = handlers
    root.setLevel(level)
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(dim=DIMENSIONS, cache_dir=folder, disable_download=True)
    model.tokenizer.no_padding()
    return model
