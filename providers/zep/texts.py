"""Texts within Zep's limits: turns as messages, and questions."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from providers.remote.pieces import parts
from providers.remote.service import Document, Message
from providers.remote.values import iso

LONGEST_QUERY: Final = 400
_ROLES: Final = frozenset({"system", "assistant", "user", "function", "tool"})
_NAME: Final = 100

_log = logging.getLogger(__name__)


def messages_of(document: Document, longest: int) -> list[Message]:
    """Its turns, those of more than ``longest`` characters in parts; blank ones hold nothing and are left out."""
    return [
        replace(message, content=part)
        for message in document.messages
        for part in parts(message.content, longest, "characters")
        if part.strip()
    ]


def sent(document: Document, message: Message, date_field: str) -> Mapping[str, Any]:
    """A message as it is sent; a speaker who is no role of Zep's is a user with a name."""
    known = message.role in _ROLES
    return {
        "role": message.role if known else "user",
        **({} if known or not message.role else {"name": message.role[:_NAME]}),
        "content": message.content,
        **dated(document, date_field),
        "metadata": {"session_id": document.id},
    }


def dated(document: Document, date_field: str) -> Mapping[str, str]:
    """The session's date; without one Zep takes the time of arrival."""
    return {date_field: iso(document.date)} if document.date else {}


def asked(query: str) -> str:
    """A question of at most 400 characters, cut between words; that it was cut is logged."""
    if len(query) <= LONGEST_QUERY:
        return query
    _log.warning("zep takes %d characters of a question; one of %d was cut", LONGEST_QUERY, len(query))
    head = query[: LONGEST_QUERY + 1]
    end = max(head.rfind(" "), head.rfind("\n"))
    return query[: end if end > 0 else LONGEST_QUERY].rstrip()
