"""Sessions that are too long for a service, split between turns; a turn that is too long, between words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from providers.remote.service import Document, Measure, Message

_MEASURES: Final[Mapping[Measure, Callable[[str], int]]] = {
    "characters": len,
    "utf16": lambda text: len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "bytes": lambda text: len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")),
}


@dataclass(frozen=True)
class Piece:
    """A document to send, and which turns of its session it holds, from ``first_turn`` to ``last_turn``."""

    document: Document
    first_turn: int
    last_turn: int


def measured(measure: Measure, text: str) -> int:
    """A text's length as a service counts it."""
    return _MEASURES[measure](text)


def pieces(document: Document, longest: int | None, measure: Measure) -> list[Piece]:
    """The document as it is, or in pieces called ``<id>-1``, ``<id>-2``..., each not longer than ``longest``.

    Together the pieces hold every turn's whole text, in order.
    """
    last = max(len(document.messages) - 1, 0)
    if longest is None or measured(measure, document.text) <= longest:
        return [Piece(document, 0, last)]
    found: list[Piece] = []
    held: list[tuple[int, Message]] = []
    for turn, message in _turns(document, longest, measure):
        if held and measured(measure, _text(document, [*held, (turn, message)])) > longest:
            found.append(_piece(document, held, len(found) + 1))
            held = []
        held.append((turn, message))
    return [*found, _piece(document, held, len(found) + 1)]


def parts(text: str, longest: int, measure: Measure) -> Iterator[str]:
    """A text in parts not longer than ``longest``, cut after white space where it has any; joined they are the text."""
    while measured(measure, text) > longest:
        end = _fitting(text, longest, measure)
        space = max(text.rfind(mark, end // 2, end) for mark in (" ", "\n"))
        cut = space + 1 if space > 0 else end
        yield text[:cut]
        text = text[cut:]
    yield text


def _turns(document: Document, longest: int, measure: Measure) -> Iterator[tuple[int, Message]]:
    for turn, message in enumerate(document.messages):
        room = longest - measured(measure, _text(document, [(turn, replace(message, content=""))]))
        for part in parts(message.content, max(room, 1), measure):
            yield turn, replace(message, content=part)


def _fitting(text: str, longest: int, measure: Measure) -> int:
    """How many characters from the beginning fit; at least one."""
    end = min(len(text), longest)
    while end > 1 and measured(measure, text[:end]) > longest:
        end = max(1, end * longest // measured(measure, text[:end]))
    return end


def _text(document: Document, held: Sequence[tuple[int, Message]]) -> str:
    return replace(document, messages=[message for _, message in held]).text


def _piece(document: Document, held: Sequence[tuple[int, Message]], number: int) -> Piece:
    messages = [message for _, message in held]
    return Piece(replace(document, id=f"{document.id}-{number}", messages=messages), held[0][0], held[-1][0])
