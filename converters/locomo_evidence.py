"""LoCoMo's evidence: which turns the strings beside a question name.

Nearly all are an id as the turn has it (``D1:3``). In the published file some hold two to four ids (``D8:6; D9:17``,
``D9:1 D4:4 D4:6``), a stray colon (``D:11:26``), a leading zero (``D30:05``), nothing but a letter (``D``), or the id
of a turn that does not exist (``D10:19`` of conv-42, ``D4:36`` of conv-47).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from converters.locomo_record import Session

Place: TypeAlias = tuple[int, int]
"""Position of a session in the haystack, and of a turn in the session."""

_ID: Final = re.compile(r"D\s*:?\s*([0-9]+)\s*:\s*([0-9]+)", re.IGNORECASE)
_BETWEEN: Final = " \t\r\n;,"


@dataclass
class Evidence:
    """What a question's evidence names.

    Attributes:
        places: the turns, each once, in the order of the evidence.
        n_mended: strings that are not an id as the turn has it, yet name turns only.
        unmapped: strings of which a part or all names no turn.
    """

    places: list[Place] = field(default_factory=list)
    n_mended: int = 0
    unmapped: list[str] = field(default_factory=list)


class TurnIndex:
    """Where the turns of a conversation are, by id."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        self._exact: dict[str, Place] = {
            turn.dia_id: (position, index)
            for position, session in enumerate(sessions)
            for index, turn in enumerate(session.turns)
        }
        self._numbers: Mapping[Place, Place] = {
            (int(match[1]), int(match[2])): where
            for name, where in self._exact.items()
            if (match := _ID.fullmatch(name.strip()))
        }

    def find(self, evidence: Sequence[str]) -> Evidence:
        """The turns that a question's evidence names; what of it names none is kept as it is written."""
        found = Evidence()
        places: dict[Place, None] = {}
        for text in evidence:
            where = self._exact.get(text)
            if where is not None:
                places[where] = None
                continue
            named = [(int(match[1]), int(match[2])) for match in _ID.finditer(text)]
            known = [self._numbers[numbers] for numbers in named if numbers in self._numbers]
            places |= dict.fromkeys(known)
            if known and len(known) == len(named) and not _ID.sub("", text).strip(_BETWEEN):
                found.n_mended += 1
            else:
                found.unmapped.append(text)
        found.places = list(places)
        return found
