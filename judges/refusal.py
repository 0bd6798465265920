"""Whether a text says that the answer is not known. English, by its turns of phrase."""

from __future__ import annotations

import re
from typing import Final

from judges.words import folded

REFUSAL: Final = "I don't know."
"""What the offline reader says."""

_FEW: Final = r"(?:\w+ ){0,3}"
_KNOWING: Final = (
    "(?:know|known|sure|certain|clear|determined?|tell|told|find|found|recall|answer(?:ed)?|say|said|confirm(?:ed)?"
    "|mention(?:ed)?|specif(?:y|ied)|provided?|stated?|discuss(?:ed)?|contain|include|shared?|available|recorded)"
)
_INFO: Final = "(?:information|info|details?|data|context|evidence|records?|mentions?|memor(?:y|ies)|notes?|indication)"
_REFUSAL: Final = re.compile(
    "|".join(
        [
            rf"\b(?:not|never) {_FEW}{_KNOWING}\b",
            rf"\b(?:no|not|insufficient|lacks?|without|missing) (?:of )?{_FEW}{_INFO}\b",
            rf"\b{_INFO} {_FEW}(?:is|are) (?:insufficient|incomplete|missing|unavailable|not enough)\b",
            rf"\b(?:unable|impossible) to {_FEW}{_KNOWING}\b",
            r"\b(?:unanswerable|unknown|no idea|not enough to)\b",
        ]
    )
)


def is_refusal(text: str) -> bool:
    """Whether the text says, anywhere, that the answer is not known or was not told."""
    plain = " ".join(folded(text).split())
    plain = plain.replace("cannot", "can not").replace("can't", "can not").replace("n't", " not")
    return _REFUSAL.search(plain) is not None
