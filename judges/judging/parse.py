"""From a judge's reply to a verdict, or to the statement that there is none. Nothing is guessed."""

from __future__ import annotations

import re
from typing import Any, Final

from judges.judging.build import SetName
from judges.judging.json_in_text import CUT, objects_in
from judges.judging.labels import alone, prose, read_label, said_in
from judges.judging.numbers import read_score
from judges.judging.verdict import RIGHT_ABOVE, Unreadable, Verdict

_LABELS: Final = ("label", "verdict", "judgment", "judgement", "correct", "is_correct")
_SCORES: Final = ("score", "rating")
_REASONS: Final = ("explanation", "reason", "reasoning", "rationale")
_LINE: Final = re.compile(
    r"^[^\w\n]*(?:(?:the|my|final|overall) )*(label|verdict|judge?ment|score|rating|answer)(?: is)?\s*[:=]\s*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD: Final = re.compile(r"\s+[-–—(]|[;:]|[.,](?!\d)")
_BARE: Final = re.compile(r"[01]|[01]?\.\d+|1\.0+|\d+(?:\.\d+)?\s*%")
_DEPTH: Final = 3


def parse_verdict(reply: str, set_name: SetName) -> Verdict:
    """Read a reply.

    In the official set, as LongMemEval's ``evaluate_qa.py`` does: right if "yes" occurs in it, in any case, else wrong.

    In the default set, the first of these that the reply has: JSON with a label, a score or both, alone, in a code
    fence, in prose or cut off after the verdict; one word, in one of the languages of ``labels``; a bare score; lines
    ``Verdict: ...`` or ``Score: ...``; prose with exactly one verdict. Words are compared whole: "incorrect" is not
    "correct". A label without a score is 1 or 0; a score without a label is right above 0.5. For scores such as 85 or
    "85%" see ``numbers.read_score``.

    Raises:
        Unreadable: the reply is empty (in either set: the repository would count that as wrong), has no verdict, or has
            two that differ, a label and a score that contradict each other among them.
    """
    text = reply.replace("\ufeff", "").replace("\u200b", "").strip()
    if not text:
        raise Unreadable("the reply is empty")
    if set_name == "official":
        label = "yes" in text.lower()
        return Verdict(float(label), label, text)
    return _from_json(text) or _from_words(text)


def _from_json(text: str) -> Verdict | None:
    found = objects_in(text.rstrip("`\n "))
    read = [(verdict, one) for one in found for verdict in _verdicts(one.fields)]
    if not read:
        if found and found[0].start == 0 and found[-1].end >= len(text):
            raise Unreadable("the JSON holds no verdict")
        return None
    verdict, last = read[-1]
    if any((other.label, other.score) != (verdict.label, verdict.score) for other, _ in read):
        raise Unreadable("the reply holds several verdicts")
    if (not verdict.label) in said_in(text[last.end :]):
        raise Unreadable("the text after the JSON contradicts it")
    return verdict


def _verdicts(fields: dict[str, Any], depth: int = 0) -> list[Verdict]:
    """The verdict of an object, or those of the objects in it."""
    plain = {str(key).strip().lower(): value for key, value in fields.items()}
    labels = [plain[key] for key in _LABELS if plain.get(key) is not None]
    scores = [plain[key] for key in _SCORES if plain.get(key) is not None]
    if not labels and not scores:
        inner = [value for value in plain.values() if isinstance(value, dict)] if depth < _DEPTH else []
        return [verdict for value in inner for verdict in _verdicts(value, depth + 1)]
    if any(value is CUT for value in (*labels, *scores)):
        raise Unreadable("the reply ends within its verdict")
    reasons = [plain[key] for key in _REASONS if isinstance(plain.get(key), str)]
    return [_agreed([read_label(value) for value in labels], [read_score(value) for value in scores], "".join(reasons))]


def _agreed(labels: list[bool], scores: list[float], explanation: str) -> Verdict:
    if len({*labels, *(score > RIGHT_ABOVE for score in scores)}) != 1 or len(set(scores)) > 1:
        raise Unreadable("label and score contradict each other")
    label = labels[0] if labels else scores[0] > RIGHT_ABOVE
    return Verdict(scores[0] if scores else float(label), label, explanation.strip())


def _from_words(text: str) -> Verdict:
    plain = re.sub(r"^```\w*$|[*`#>\"]", "", text, flags=re.MULTILINE).strip()
    label = alone(plain)
    if label is not None:
        return Verdict(float(label), label)
    if _BARE.fullmatch(plain):
        return _agreed([], [read_score(plain)], "")
    lines = list(_LINE.finditer(plain))
    labels = [_label(line[2]) for line in lines if line[1].lower() not in _SCORES]
    scores = [read_score(_HEAD.split(line[2], maxsplit=1)[0]) for line in lines if line[1].lower() in _SCORES]
    if not labels and not scores:
        label = prose(plain)
        return Verdict(float(label), label, text)
    verdict = _agreed(labels, scores, text)
    if (not verdict.label) in said_in(plain[lines[-1].end() :]):
        raise Unreadable("the text after the verdict contradicts it")
    return verdict


def _label(text: str) -> bool:
    """Of a line: all of it, or what stands before a dash, a bracket or the end of a clause."""
    known = alone(text)
    return read_label(_HEAD.split(text, maxsplit=1)[0]) if known is None else known
