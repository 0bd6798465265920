"""How many tokens a text has, estimated: no model's own tokenizer is loaded.

A token is four bytes of UTF-8, or one character of Chinese, Japanese or Korean, which the bytes would count low. For a
haystack of LongMemEval's S file that says some 5 % more than was counted for it (489,000 characters; 116,000 tokens by
Gemini's count). Long numbers, code and rare scripts have more tokens than it says: leave a margin where a limit is
hard. What was really used is in the reply's usage figures.
"""

from __future__ import annotations

import re
from typing import Final

BYTES_PER_TOKEN: Final = 4
_CJK: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


def estimate_tokens(text: str) -> int:
    """Tokens of ``text``, rounded up: 0 for the empty text alone.

    Never lower for a longer text, and for two texts joined never higher than for the two apart.
    """
    if text.isascii():
        return -(-len(text) // BYTES_PER_TOKEN)
    rest, n_cjk = _CJK.subn("", text)
    return n_cjk - (-len(rest.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
