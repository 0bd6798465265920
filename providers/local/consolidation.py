"""Merging chunks of a container that say nearly the same."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from providers.local.embedding import Vectors

_BLOCK: Final = 1024


def survivors(vectors: Vectors, threshold: float) -> npt.NDArray[np.int64]:
    """For each row, the first row that it is merged into, or itself.

    A row joins the earliest row before it that stands by itself and whose cosine to it is at least ``threshold``.
    Rows of zeros join nothing.
    """
    into = np.arange(len(vectors))
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        near = np.tril(block @ vectors[: start + len(block)].T >= threshold, k=start - 1)
        near &= block.any(axis=1, keepdims=True)
        # Pairs come ordered by row, then by the earlier one: the first that stands wins.
        for row, other in zip(*np.nonzero(near), strict=True):
            if into[start + row] == start + row and into[other] == other:
                into[start + row] = other
    return into


def consolidate(chunks: pl.DataFrame, vectors: Vectors, threshold: float) -> pl.DataFrame:
    """Merge near-duplicate chunks of each container into the oldest.

    Args:
        chunks: see ``providers.local.store.Chunks``, with the row of ``vectors`` in column ``text_row``.
        vectors: one row a distinct text.
        threshold: cosine from which two are merged.

    Returns:
        The chunks that are left, in the order given. One that absorbed chunks of other sessions names these after its
        own in ``session_keys``, and its ``turns`` are null, because turn indices are those of one session.
    """
    if chunks.is_empty():
        return chunks
    parts = []
    for _, group in chunks.with_row_index("order").group_by("container", maintain_order=True):
        by_age = group.sort("date", "position", "part", nulls_last=True)
        into = survivors(vectors[by_age["text_row"].to_numpy()], threshold)
        parts.append(by_age.with_columns(into=pl.Series(by_age["order"].to_numpy()[into])))
    merged = pl.concat(parts)
    keys = merged.group_by("into", maintain_order=True).agg(
        pl.col("session_keys").explode().unique(maintain_order=True)
    )
    alone = pl.col("session_keys").list.len() == 1
    return (
        merged.filter(pl.col("into") == pl.col("order"))
        .drop("session_keys")
        .join(keys, on="into", validate="1:1")
        .sort("order")
        .with_columns(turns=pl.when(alone).then(pl.col("turns")).otherwise(None))
        .select(chunks.columns)
    )
