"""What is odd about a session's text and roles, whichever haystack holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from converters.inspect.text_quirks import text_quirks
from converters.longmemeval_record import Turn


@dataclass(frozen=True)
class SessionQuirk:
    """A quirk that a session has or has not, going by its turns."""

    name: str
    description: str
    has: Callable[[Sequence[Turn]], bool]
    unit: str = "sessions"


def _only(role: str) -> Callable[[Sequence[Turn]], bool]:
    return lambda session: bool(session) and all(turn.role == role for turn in session)


SESSION_QUIRKS: Final = (
    SessionQuirk("empty_session", "no turns at all", lambda session: not session),
    SessionQuirk(
        "blank_session",
        "blank turns alone: nothing is left of it for an API that refuses them",
        lambda session: bool(session) and all(not turn.content.strip() for turn in session),
    ),
    SessionQuirk(
        "assistant_first",
        "begins with the assistant: turns cannot be paired by position",
        lambda session: bool(session) and session[0].role == "assistant",
    ),
    SessionQuirk("assistant_only", "no user turn: an index of user turns alone gets nothing", _only("assistant")),
    SessionQuirk("user_only", "no assistant turn", _only("user")),
    SessionQuirk(
        "same_role_twice",
        "two turns of one role in a row: roles do not always alternate",
        lambda session: any(first.role == second.role for first, second in pairwise(session)),
    ),
    SessionQuirk(
        "odd_turns", "an odd number of turns: the last one has no partner", lambda session: len(session) % 2 == 1
    ),
)


class Finding(NamedTuple):
    """A quirk of a session: its name, how many of its turns have it, and the first of them (null: the session)."""

    name: str
    n: int
    turn: int | None


def session_findings(session: Sequence[Turn]) -> Sequence[Finding]:
    """The quirks of a session and of its turns' texts."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for index, turn in enumerate(session):
        for name in text_quirks(turn.content):
            counts[name] += 1
            first.setdefault(name, index)
    of_turns = [Finding(name, n, first[name]) for name, n in counts.items()]
    return [*of_turns, *(Finding(quirk.name, 1, None) for quirk in SESSION_QUIRKS if quirk.has(session))]
