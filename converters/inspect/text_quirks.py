"""What is odd about the text of a turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

# About 8,192 tokens of English: what many embedding models take at most.
LONG_CHARACTERS: Final = 8192 * 4

_HTML: Final = re.compile(r"<(?:div|span|html|script|p|br)\b")
_SPEAKER: Final = re.compile(r"(?:^|\n)\s*(?:user|assistant):", re.IGNORECASE)
_INVISIBLE: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class TextQuirk:
    """A quirk that a turn has or has not, going by its text. ``only_beyond_ascii`` saves looking at ASCII."""

    name: str
    description: str
    has: Callable[[str], bool]
    only_beyond_ascii: bool = False
    unit: str = "turns"


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _has_speaker(text: str) -> bool:
    return ":" in text and _SPEAKER.search(text) is not None


TEXT_QUIRKS: Final = (
    TextQuirk("blank_turn", "nothing but white space: import and embedding APIs refuse it", _is_blank),
    TextQuirk(
        "long_turn",
        f"over {LONG_CHARACTERS:,} characters, about 8,192 tokens: embedding models cut it off",
        lambda text: len(text) > LONG_CHARACTERS,
    ),
    TextQuirk("outer_whitespace", "white space around the text: lost when stripped", lambda text: text != text.strip()),
    TextQuirk(
        "speaker_line",
        'a line begins "User:" or "Assistant:": a text transcript cannot be parsed back',
        _has_speaker,
    ),
    TextQuirk(
        "html",
        "opens one of the HTML elements div, span, html, script, p, br: escape it when shown",
        lambda text: "<" in text and _HTML.search(text) is not None,
    ),
    TextQuirk("vertical_tab", "U+000B: splitlines() splits there, XML forbids it", lambda text: "\x0b" in text),
    TextQuirk(
        "line_separator",
        "U+2028 or U+2029: splitlines() splits there, which cuts JSON lines",
        lambda text: "\u2028" in text or "\u2029" in text,
        only_beyond_ascii=True,
    ),
    TextQuirk(
        "replacement_character",
        "U+FFFD is in the source: no sign of a failed decoding",
        lambda text: "\ufffd" in text,
        only_beyond_ascii=True,
    ),
    TextQuirk(
        "invisible",
        "zero-width, bidirectional or byte order marks: unseen, and part of the text",
        lambda text: _INVISIBLE.search(text) is not None,
        only_beyond_ascii=True,
    ),
    TextQuirk(
        "astral",
        "emoji and others beyond U+FFFF: two units in UTF-16, too long for MySQL's utf8",
        lambda text: _ASTRAL.search(text) is not None,
        only_beyond_ascii=True,
    ),
    TextQuirk(
        "no_break_space",
        "U+00A0: looks like a blank, is none to many tokenizers",
        lambda text: "\xa0" in text,
        only_beyond_ascii=True,
    ),
)
_ON_ASCII: Final = tuple(quirk for quirk in TEXT_QUIRKS if not quirk.only_beyond_ascii)


def text_quirks(text: str) -> Iterator[str]:
    """Names of the quirks that a text has."""
    for quirk in _ON_ASCII if text.isascii() else TEXT_QUIRKS:
        if quirk.has(text):
            yield quirk.name
