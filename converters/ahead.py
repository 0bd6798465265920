"""Items made ready beside the caller, one ahead."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """The items, of which the next is worked out in another thread meanwhile; its error is raised when its turn comes.

    Close it if not all are wanted: the one under way is waited for.
    """
    end = object()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as pool:
        following = pool.submit(next, items, end)
        while (item := following.result()) is not end:
            following = pool.submit(next, items, end)
            yield item  # type: ignore[misc]
