"""Whether a result file is about the benchmark's questions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from converters.errors import BadInput
from converters.results.lines import shown


def check_known(path: Path, named: Iterable[str], questions: pl.DataFrame) -> None:
    """Raise ``BadInput`` that names the first question_id of the file that ``questions`` does not have."""
    known = set(questions["question_id"])
    unknown = [name for name in named if name not in known]
    if unknown:
        others = f", nor are {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise BadInput(
            path,
            f"{shown(unknown[0])} is no question of the benchmark{others}",
            "give the results of this benchmark, or take the lines out",
            field="question_id",
        )
