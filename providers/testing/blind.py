"""The law of what may leave this machine: beside conversation text, nothing that tells the source's ids or the gold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

MARKS: Final = re.compile(r"answer_|_abs|has_answer|haystack|evidence|ground_truth|gold", re.IGNORECASE)
KEYS: Final = frozenset(
    {"question_id", "question_type", "is_abstention", "answer", "answer_type", "source_session_ids", "has_answer"}
)


def told(body: Any, params: Mapping[str, Any], path: str, texts: Collection[str]) -> Iterator[str]:
    """Every key and value of a request outside conversation text, which is under the names ``texts``."""
    yield path
    for name, value in params.items():
        yield name
        if name not in texts:
            yield str(value)
    yield from _walk(body, texts)


def breaches(values: Iterable[str], known_ids: Collection[str]) -> list[str]:
    """Those of them that break the law: a mark of the gold, or one of the source's ids as a word."""
    found = []
    for value in values:
        stands = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", value) for name in known_ids)
        if MARKS.search(value) or value in KEYS or stands:
            found.append(value)
    return found


def _walk(value: Any, texts: Collection[str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield str(name)
            if name in texts and isinstance(one, str | list) and not _structured(one):
                continue
            yield from _walk(one, texts)
    elif isinstance(value, list):
        for one in value:
            yield from _walk(one, texts)
    else:
        yield str(value)


def _structured(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, Mapping) for one in value)
