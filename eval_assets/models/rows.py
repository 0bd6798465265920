"""Many questions at a time, in the order of the questions, until something says that no further one is of use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from providers.protocol import Progress

Row = dict[str, Any]


def rows_of(
    asked: Sequence[Mapping[str, Any]], one: Callable[[Mapping[str, Any]], Row], concurrency: int, progress: Progress
) -> list[Row]:
    """``one`` of each, ``concurrency`` at a time; what it raises ends all, with what was answered in the ledger."""
    rows: list[Row] = []
    if concurrency == 1:
        for row in map(one, asked):
            rows.append(row)
            progress("questions", len(rows), len(asked))
        return rows
    with ThreadPoolExecutor(concurrency) as threads:
        try:
            for row in threads.map(one, asked):
                rows.append(row)
                progress("questions", len(rows), len(asked))
        except BaseException:
            threads.shutdown(wait=True, cancel_futures=True)
            raise
    return rows
