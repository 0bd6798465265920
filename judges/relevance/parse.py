"""From a reply to one judgment a hit, or to the statement that there is none."""

from __future__ import annotations

import re
from typing import Any, Final

from judges.judging.json_in_text import TRIES, decode
from judges.judging.verdict import Unreadable

_LISTS: Final = ("relevance", "judgments", "judgements", "results", "hits", "memories")
_INDICES: Final = ("index", "id", "memory", "hit")
_VALUES: Final = ("relevant", "relevance", "label")
_INDEX: Final = re.compile(r"(?:(?:memory|hit|result)[ _#-]*)?(\d{1,6})", re.IGNORECASE)
_OPENS: Final = re.compile(r"[\[{]")
_FENCE: Final = re.compile(r"^```\w*")
_YES: Final = frozenset({"1", "true", "yes", "relevant"})
_NO: Final = frozenset({"0", "false", "no", "irrelevant", "not relevant"})


def parse_relevance(reply: str, n_hits: int) -> list[int]:
    """The judgments, 0 or 1, by the place of the hit.

    Read are a list of objects with an index from 1 and a judgment, alone or in an object, in any order; and a bare list
    of ``n_hits`` judgments. It may stand in a code fence or in prose.

    Raises:
        Unreadable: there is no such list or there are two that differ, an index is missing, unknown or there twice, or
            a judgment is neither 0 nor 1.
    """
    read = [_judgments(entries, n_hits) for entries in _lists(reply)]
    if not read:
        raise Unreadable("the reply holds no list of judgments" if reply.strip() else "the reply is empty")
    if any(judgments != read[0] for judgments in read):
        raise Unreadable("the reply holds several lists of judgments")
    return read[0]


def _lists(text: str) -> list[list[Any]]:
    bare = _FENCE.sub("", text.strip().rstrip("`")).strip()
    found: list[list[Any]] = []
    at = tries = 0
    while match := _OPENS.search(bare, at):
        tries += 1
        if tries > TRIES:
            raise Unreadable("too many brackets")
        try:
            value, at = decode(bare, match.start())
        except ValueError:
            at = match.start() + 1
            continue
        plain = {str(key).lower(): inner for key, inner in value.items()} if isinstance(value, dict) else {}
        entries = value if isinstance(value, list) else next((plain[key] for key in _LISTS if key in plain), None)
        # "[1]" in prose names a memory.
        whole = isinstance(value, dict) or (match.start() == 0 and at == len(bare))
        if isinstance(entries, list) and (whole or any(isinstance(entry, dict) for entry in entries)):
            found.append(entries)
    return found


def _judgments(entries: list[Any], n_hits: int) -> list[int]:
    if entries and not any(isinstance(entry, dict) for entry in entries):
        if len(entries) != n_hits:
            raise Unreadable(f"{len(entries)} judgments of {n_hits} memories")
        return [_value(entry) for entry in entries]
    judged: dict[int, int] = {}
    for entry in entries:
        plain = {str(key).lower(): value for key, value in entry.items()} if isinstance(entry, dict) else {}
        index = _index(next((plain[key] for key in _INDICES if key in plain), None))
        if not 1 <= index <= n_hits:
            raise Unreadable(f"there is no memory {index}")
        if index in judged:
            raise Unreadable(f"memory {index} is judged twice")
        judged[index] = _value(next((plain[key] for key in _VALUES if key in plain), None))
    missing = [index for index in range(1, n_hits + 1) if index not in judged]
    if missing:
        raise Unreadable(f"{len(missing)} of {n_hits} memories are not judged, {missing[0]} among them")
    return [judged[index] for index in range(1, n_hits + 1)]


def _index(value: Any) -> int:
    match = _INDEX.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is not None:
        return int(match[1])
    if type(value) is not int:
        raise Unreadable("a judgment without the index of its memory")
    return value


def _value(value: Any) -> int:
    word = value.strip().lower() if isinstance(value, str) else None
    if value in (0, 1) and isinstance(value, int | float):
        return int(value)
    if word in _YES or word in _NO:
        return int(word in _YES)
    raise Unreadable("a judgment is neither 0 nor 1")
