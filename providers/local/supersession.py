"""Which facts and statuses a newer one replaced."""

from __future__ import annotations

import polars as pl


def mark_superseded(documents: pl.DataFrame) -> pl.DataFrame:
    """Name the successor of each document that has one.

    Within a container, facts with the same key follow one another, and so do statuses with the same subject, by date
    (undated ones first), then by position. Documents of another type, or without key or subject, replace nothing.

    Args:
        documents: see ``providers.protocol.Documents``.

    Returns:
        Columns ``container``, ``document_id`` and ``superseded_by`` (String, null for a document that stands), one row
        a document.
    """
    about = (
        pl.when(pl.col("type") == "fact")
        .then(pl.col("key"))
        .when(pl.col("type") == "status")
        .then(pl.col("subject"))
        .otherwise(None)
    )
    successor = pl.col("document_id").shift(-1).over("container", "type", "about")
    return (
        documents.with_columns(about=about)
        .sort("container", "date", "position", "document_id", nulls_last=False)
        .select(
            "container",
            "document_id",
            superseded_by=pl.when(pl.col("about").is_not_null()).then(successor).otherwise(None),
        )
    )
