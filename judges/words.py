"""Words as the offline reader and judge compare them: folded, without endings, numbers as digits. English."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

STOPWORDS: Final = frozenset(
    """a about after all also am an and any are as at be been before being but by can conversation could did do does
    doing for from get got had has have having he her hers him his how i if in into is it its just let like made make
    many me mine more most much my myself no not of off on one or our ours out over own please previous remember
    remind said say she should so some such tell than that the their them then there these they this those through to
    told too up us very was we were what when where which while who whom whose why will with wondering would you your
    yours yourself d ll m re s t ve""".split()  # noqa: SIM905 - a list of words
)
_UNITS: Final = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen""".split()  # noqa: SIM905
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
NUMBERS: Final = {
    **{word: str(value) for value, word in enumerate(_UNITS)},
    **{word: str(value) for value, word in zip(range(20, 100, 10), _TENS, strict=True)},
    **{
        f"{ten}-{unit}": str(tens + units)
        for tens, ten in zip(range(20, 100, 10), _TENS, strict=True)
        for units, unit in enumerate(_UNITS[1:10], start=1)
    },
    "once": "1",
    "twice": "2",
    "thrice": "3",
    "hundred": "100",
    "dozen": "12",
}
_WORD: Final = re.compile(
    # A number may hold separators; a word may hold an apostrophe; a hyphen counts within number words alone.
    rf"\d+(?:[,.:]\d+)*|(?:{'|'.join(_TENS)})-(?:{'|'.join(_UNITS[1:10])})\b|[^\W\d_]+(?:'[^\W\d_]+)?|\d+"
)
_CLOCK: Final = re.compile(r"(\d{1,2}(?::\d{2})?)\s*([ap])\.?m\b\.?")
_ORDINAL: Final = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_TRAILING_ZEROS: Final = re.compile(r"\.0+$")


def folded(text: str) -> str:
    """One spelling for what looks alike: NFKC, case folded, curly quotes and accents straightened."""
    if text.isascii():
        return text.lower()
    marks = unicodedata.normalize("NFKD", text.replace("\u2019", "'").replace("\u2018", "'")).casefold()
    return unicodedata.normalize("NFC", "".join(mark for mark in marks if not 0x300 <= ord(mark) <= 0x36F))


def words(text: str) -> list[str]:
    """The words and numbers of a text, folded, in order: ``Twenty-one, $3,750.00 and 6 PM`` is 21, 3750, and, 6pm."""
    plain = _ORDINAL.sub("", folded(text))
    plain = _CLOCK.sub(lambda match: f"{match[1].removesuffix(':00').replace(':', '')} {match[2]}m", plain)
    return [_number(word) if word[0].isdigit() else NUMBERS.get(word, word) for word in _WORD.findall(plain)]


def _number(digits: str) -> str:
    whole = digits.replace(",", "")
    return _TRAILING_ZEROS.sub("", whole).lstrip("0") or "0"


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word without its commonest English endings: equal for most forms of one word, and no word of its own."""
    base = word.removesuffix("'s").replace("'", "")
    for ending, instead in _ENDINGS:
        if base.endswith(ending) and len(base) - len(ending) >= 3:
            base = base[: -len(ending)] + instead
            break
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls":
        base = base[:-1]
    return base[:-1] if len(base) > 3 and base[-1] == "e" else base


_ENDINGS: Final = (
    ("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("ied", "y"), ("ss", "ss"),
    ("us", "us"), ("ing", ""), ("ed", ""), ("ly", ""), ("s", ""),
)  # fmt: skip


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, repeats included."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]
