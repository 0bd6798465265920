"""What both of Mem0's interfaces are sent and give back: a session as messages, and a memory as a hit."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from providers.remote.service import Document, Hit, Receipt
from providers.remote.values import LONGEST_CONTENT, content, date_of, iso, mapping, name, number, rows, some_name

MARKS: Final = 96
"""Characters that the marks of a joined session take, at most."""
NO_TEXT: Final = "it has no text"

_ROLES: Final = ("user", "assistant")
_DATE_LINE: Final = re.compile(r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\]\n")
_UNMADE: Final = ("DELETE", "NONE")


def fresh_user(container: str) -> str:
    """A user id that was never used, so that nothing sent to an earlier one can turn up under it."""
    return f"{container}-{secrets.token_hex(4)}"


def has_text(document: Document) -> bool:
    """Whether any of its turns says something."""
    return any(message.content.strip() for message in document.messages)


def joined(document: Document) -> list[dict[str, str]]:
    """One message with all turns between two marks: the date on the first line, our id on the last.

    Exact repeats of a text within a user are not stored again, so the id keeps two sessions that say the same apart.
    """
    date = f"[{iso(document.date)}]\n" if document.date else ""
    return [{"role": "user", "content": f"{date}{document.text}\n[{document.id}]"}]


def turn_by_turn(document: Document) -> list[dict[str, str]]:
    """A message a turn, in its role; a fixture's memory is the user's."""
    return [
        {"role": message.role if message.role in _ROLES else "user", "content": message.content}
        for message in document.messages
        if message.content.strip()
    ]


def metadata(document: Document) -> dict[str, Any]:
    """Our id; and whether it had no date, as memories then have that of their upload."""
    return {"session_id": document.id, **({} if document.date else {"undated": True})}


def made(document: str, results: object) -> Receipt:
    """The receipt of a document that was written; ``results`` is what became of it, None where that is not said."""
    if results is None:
        return Receipt(document, "done")
    kept = [one for one in rows(results, "results") if one.get("event") not in _UNMADE]
    if not kept:
        return Receipt(document, "skipped", error="the service made no memory of it, or held its like already")
    return Receipt(document, "done", tuple(key for one in kept for key in some_name(one.get("id"))))


def found(documents: Sequence[Document], memories: Iterable[Mapping[str, Any]]) -> list[Receipt]:
    """Receipts of those of our documents that these memories name."""
    ids: dict[str, list[str]] = {}
    for memory in memories:
        for session in _session(memory):
            ids.setdefault(session, []).append(name(memory.get("id")))
    return [Receipt(one.id, "done", tuple(ids[one.id])) for one in documents if one.id in ids]


def hits(results: object) -> list[Hit]:
    """Memories in the order in which they came."""
    return [_hit(one) for one in rows(results, "results")]


def memories(body: object) -> Sequence[Mapping[str, Any]]:
    """A list of memories, which some versions give without an object around it."""
    return rows(body if isinstance(body, list) else mapping(body).get("results"), "results")


def _hit(memory: Mapping[str, Any]) -> Hit:
    named, undated = _session(memory), _about(memory).get("undated") is True
    text = content(memory.get("memory"))
    mark = f"\n[{named[0]}]" if named else None
    whole = mark is not None and text.endswith(mark) and len(text) < LONGEST_CONTENT
    if mark and whole:
        # What we put around a session is no part of it.
        text = text.removesuffix(mark)
        text = text if undated else _DATE_LINE.sub("", text, count=1) if _DATE_LINE.match(text) else text
    return Hit(
        provider_id=name(memory.get("id")),
        content=text,
        documents=named,
        sources=some_name(memory.get("id")),
        score=number(memory.get("score")),
        date=None if undated else date_of(memory.get("created_at")),
        whole=whole,
    )


def _session(memory: Mapping[str, Any]) -> tuple[str, ...]:
    return some_name(_about(memory).get("session_id"))


def _about(memory: Mapping[str, Any]) -> Mapping[str, Any]:
    about = memory.get("metadata")
    return about if isinstance(about, Mapping) else {}
