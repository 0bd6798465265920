"""Verdicts in words: one word, a line ``Verdict: ...``, or a sentence."""

from __future__ import annotations

import re
from typing import Any, Final

from judges.judging.verdict import Unreadable
from judges.words import folded

_RIGHT: Final = """correct right yes true accurate pass passed accepted y
    ja jawohl richtig korrekt stimmt oui correcte vrai juste sí sì correcto cierto corretto giusto vero sim certo
    да верно правильно так evet doğru tak poprawne ano správně igen helyes kyllä oikein 是 是的 对 對 正确 正確
    はい 正解 正しい 예 네 맞음 정답 ναι σωστό نعم صحيح हाँ सही כן נכון có đúng""".split()  # noqa: SIM905 - a list of words
_WRONG: Final = """incorrect wrong no false inaccurate fail failed rejected n
    nein falsch inkorrekt non incorrecte faux incorrecto falso sbagliato errato scorretto não errado incorreto nee nej
    нет неверно неправильно ні hayır yanlış nie niepoprawne nem helytelen 否 不 不是 不对 不對 错误 錯誤 不正确 不正確
    いいえ 不正解 間違い 아니오 아니요 틀림 오답 όχι λάθος لا خطأ नहीं गलत לא không sai""".split()  # noqa: SIM905
_IN_PROSE: Final = {"correct": True, "accurate": True, "incorrect": False, "inaccurate": False, "wrong": False}
_NOT: Final = frozenset({"not", "never", "isn't", "wasn't", "aren't", "doesn't", "neither", "nor", "no"})
_HEDGES: Final = frozenset(
    """if whether cannot can't unable may might maybe perhaps possibly partially partly partial mostly largely somewhat
    nearly almost hardly unclear unsure uncertain depends either would could should""".split()  # noqa: SIM905
)
# "The correct date" says what the reference is, not what the answer is.
_NAMED: Final = re.compile(r"\b(?:the|any) (?:in)?correct \w+|\bcorrect (?:answer|response|value|date|reference|one)\b")
_TOKEN: Final = re.compile(r"[a-z]+(?:'[a-z]+)?")
_MARKS: Final = re.compile(r"[^\w\s']|_")


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub(" ", folded(text)).split())


_ALONE: Final = {
    **{_plain(word): True for word in _RIGHT},
    **{_plain(word): False for word in _WRONG},
    **{f"not {word}": False for word in ("correct", "right", "true", "accurate")},
}


def read_label(value: Any) -> bool:
    """A verdict in a field of its own: a word that stands alone, true or false, 1 or 0.

    Raises:
        Unreadable: it is something else, "partially correct" for instance.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in {0, 1}:
        return bool(value)
    known = alone(value) if isinstance(value, str) else None
    if known is None and isinstance(value, str) and value.strip() in {"0", "1"}:
        return value.strip() == "1"
    if known is None:
        raise Unreadable("the label is neither correct nor incorrect")
    return known


def alone(text: str) -> bool | None:
    """The verdict of a text that is one word of a known language, whatever marks are around it; None if it is not."""
    return _ALONE.get(_plain(text))


def said_in(text: str) -> set[bool]:
    """The verdicts that a text pronounces with exact words, "not correct" and "isn't wrong" turned round."""
    tokens = _TOKEN.findall(_NAMED.sub(" ", folded(text)))
    said = set()
    for place, token in enumerate(tokens):
        if token in _IN_PROSE:
            turned = sum(word in _NOT for word in tokens[max(0, place - 3) : place]) % 2
            said.add(_IN_PROSE[token] ^ bool(turned))
    return said


def prose(text: str) -> bool:
    """The verdict of a reply in sentences; "yes" and "no" count as its first word only.

    Raises:
        Unreadable: it pronounces none, or both, or hedges.
    """
    tokens = _TOKEN.findall(folded(text))
    if not _HEDGES.isdisjoint(tokens):
        raise Unreadable("the reply hedges")
    said = said_in(text)
    if tokens[:1] == ["yes"]:
        said.add(True)
    elif tokens[:1] == ["no"]:
        # "No, the answer is not correct": the first word turns nothing round.
        said = said_in(text[text.lower().find("no") + 2 :]) | {False}
    if len(said) != 1:
        raise Unreadable("the reply says both correct and incorrect" if said else "the reply says no verdict")
    return said.pop()
