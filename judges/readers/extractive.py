"""The reader without a model: the sentence of the hits that shares the most, and the rarest, words with the question.

It is there so that the whole pipeline runs without a key, and is a floor: it neither counts nor combines memories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, chain
from math import log
from typing import Final

from judges.dates_in_text import days_in
from judges.hits import HitLike, in_utc
from judges.readers.sentences import sentences
from judges.refusal import REFUSAL
from judges.words import NUMBERS, content_words, folded, stem

READ_CHARS: Final = 60_000
"""Characters of a question's hits that are read, best hits first: some 15,000 tokens."""
LEAST_COVERED: Final = 0.3
"""Share of the question's words, weighed by rarity, that a sentence and its neighbour must have: below it, refuse."""
_K1: Final = 1.2
_B: Final = 0.5
_LENGTH: Final = 16.0
_NEIGHBOUR: Final = 0.5
_NEAR: Final = 0.9
"""A newer sentence that scores this share of the best one is taken for its update."""
_KIND: Final = 1.3
_ELAPSED: Final = re.compile(r"\bhow (?:many (day|week|month|year)s|long)\b.*\b(?:ago|since|passed)\b")
_TIME: Final = frozenset(map(stem, ["days", "weeks", "months", "years", "ago", "since", "passed", "long"]))
_SIZES: Final = {"day": 1.0, "week": 7.0, "month": 30.4375, "year": 365.25}
_DIGIT: Final = re.compile(r"\d")
_WANTS_NUMBER: Final = re.compile(r"\bhow (?:many|much|old|long|often|far)\b|\bwhat (?:time|percentage|number|age)\b")
_WANTS_DATE: Final = re.compile(r"\bwhen\b|\bwhat (?:date|day|month|year)\b|\bwhich (?:date|day|month|year)\b")


@dataclass(frozen=True)
class Extract:
    """What the reader found.

    Attributes:
        answer: the sentence, or ``judges.refusal.REFUSAL``.
        hit: the place of the hit it is from, from 0; None for a refusal.
        covered: share of the question's words that were found there, weighed by rarity; 0 to 1.
    """

    answer: str
    hit: int | None
    covered: float


@dataclass(frozen=True)
class _Candidate:
    text: str
    hit: int
    date: datetime | None
    length: int
    own: Counter[str]
    near: frozenset[str]


def extract(question: str, as_of: datetime | None, hits: Sequence[HitLike]) -> Extract:
    """Answer from the hits; the same for the same arguments, always.

    Sentences are scored as BM25 does, over the sentences of all hits, a word of the sentence before or after counting
    half; a question for a number or a date prefers a sentence that has one. Of those that score almost alike, the
    newest hit's is taken, because facts change, then the better hit's. "When" is answered with the hit's date as well,
    and "how many days ago" with the calendar days from that date to ``as_of``.

    Args:
        question: its text.
        as_of: today; where it is None no time that has passed is told.
        hits: best first.
    """
    wanted = folded(question)
    # "Many days ago" is what is worked out, not what the memory says.
    worked_out = _TIME if _ELAPSED.search(wanted) else frozenset()
    asked = [word for word in dict.fromkeys(content_words(question)) if word not in worked_out]
    candidates, total = _read(asked, hits) if asked else ([], 0)
    if not candidates:
        return Extract(REFUSAL, None, 0.0)
    held = Counter(word for candidate in candidates for word in candidate.own)
    rarity = {word: log(1 + (total - held[word] + 0.5) / (held[word] + 0.5)) for word in asked}
    kind = _has_number if _WANTS_NUMBER.search(wanted) else days_in if _WANTS_DATE.search(wanted) else None
    scored = [(_score(candidate, rarity, kind), candidate) for candidate in candidates]
    best = max(score for score, _ in scored)
    newest = max(
        (item for item in scored if item[0] >= _NEAR * best),
        key=lambda item: (_age(item[1].date), -item[1].hit, item[0]),
    )[1]
    covered = _covered(newest, rarity)
    if covered < LEAST_COVERED:
        return Extract(REFUSAL, None, covered)
    return Extract(_told(newest, wanted, as_of), newest.hit, covered)


def n_read(hits: Sequence[HitLike]) -> int:
    """How many hits, from the first on, are read at least in part."""
    before = accumulate((len(hit.content) for hit in hits), initial=0)
    return sum(start < READ_CHARS for start, _ in zip(before, hits, strict=False))


def _read(asked: Sequence[str], hits: Sequence[HitLike]) -> tuple[list[_Candidate], int]:
    """Sentences that hold a word of the question, of the characters that are read; and how many sentences those are."""
    # Only words that begin like one that is asked for are looked at: most do not.
    begins = re.compile(rf"\b(?:{'|'.join(sorted({re.escape(word[:4]) for word in asked}))})[\w']*")
    found: list[_Candidate] = []
    left, n_sentences = READ_CHARS, 0
    for place, hit in enumerate(hits):
        parts = sentences(hit.content[:left])
        left -= min(left, len(hit.content))
        n_sentences += len(parts)
        shared = [[word for word in map(stem, begins.findall(folded(part))) if word in asked] for part in parts]
        for number, own in enumerate(shared):
            if own:
                around = chain(*shared[max(0, number - 1) : number], *shared[number + 1 : number + 2])
                part, near = parts[number], frozenset(around) - set(own)
                found.append(_Candidate(part, place, hit.date, 1 + part.count(" "), Counter(own), near))
    return found, n_sentences


def _score(candidate: _Candidate, rarity: dict[str, float], kind: Callable[[str], object] | None) -> float:
    norm = _K1 * (1 - _B + _B * candidate.length / _LENGTH)
    score = sum(rarity[word] * n * (_K1 + 1) / (n + norm) for word, n in candidate.own.items())
    score += _NEIGHBOUR * sum(rarity[word] for word in candidate.near)
    if kind is not None and kind(candidate.text):
        score *= _KIND
    # What is asked again is no answer.
    return score * (0.5 if candidate.text.endswith("?") else 1.0) / (1 + 0.01 * candidate.hit)


def _has_number(text: str) -> bool:
    return _DIGIT.search(text) is not None or not NUMBERS.keys().isdisjoint(text.lower().split())


def _covered(candidate: _Candidate, rarity: dict[str, float]) -> float:
    return sum(rarity[word] for word in (*candidate.own, *candidate.near)) / sum(rarity.values())


def _age(date: datetime | None) -> float:
    return float("-inf") if date is None else in_utc(date).timestamp()


def _told(candidate: _Candidate, wanted: str, as_of: datetime | None) -> str:
    text = candidate.text.removeprefix("user: ").removeprefix("assistant: ")
    if candidate.date is None:
        return text
    day = in_utc(candidate.date).date()
    elapsed = _ELAPSED.search(wanted)
    if elapsed and as_of is not None:
        unit = elapsed[1] or "day"
        n = round(abs((in_utc(as_of).date() - day).days) / _SIZES[unit])
        return f"{n} {unit}{'' if n == 1 else 's'}: {text} ({day.isoformat()})"
    if _WANTS_DATE.search(wanted) and not days_in(text):
        return f"{text} ({day.isoformat()})"
    return text
