"""Small judgments for the tests of statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from converters.tables import JUDGMENTS

RIGHT, WRONG = True, False


def judgments(
    labels: Sequence[bool | str],
    *,
    types: Sequence[str] = (),
    abstention: Sequence[int] = (),
    judge: str = "j",
    first: int = 0,
    scores: Sequence[float | None] = (),
) -> pl.DataFrame:
    """``Judgments`` of q0, q1, and so on: a label, or the status that left it without one (empty is wrong)."""
    found: list[dict[str, Any]] = []
    for place, label in enumerate(labels):
        status = label if isinstance(label, str) else "ok"
        found.append(
            {
                "question_id": f"q{first + place}",
                "ordinal": first + place,
                "question_type": types[place] if types else "t",
                "is_abstention": place in abstention,
                "status": status,
                "retryable": False,
                "judge": judge,
                "label": {"ok": label, "empty": False}.get(status),
                "score": scores[place] if scores else None,
            }
        )
    return JUDGMENTS.validate(pl.DataFrame(found, schema=JUDGMENTS.empty.schema))
