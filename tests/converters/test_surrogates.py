from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from converters.surrogates import SurrogateFilter

PARTS = st.lists(
    st.sampled_from(
        [r"\ud83d", r"\ude00", r"\uD800", r"\uDFFF", r"\ud83d\ude00", "\\\\", r"\n", "ud83d", "a", r"\u00e9", "é"]
    ),
    max_size=12,
).map("".join)


def _filtered(data: bytes, sizes: list[int]) -> tuple[bytes, int]:
    surrogates = SurrogateFilter()
    out, start = b"", 0
    for size in sizes:
        out += surrogates.feed(data[start : start + size], last=False)
        start += size
    out += surrogates.feed(data[start:], last=True)
    return out, surrogates.n_lone


@given(PARTS, st.lists(st.integers(0, 9), max_size=20))
def test_lone_halves_are_marked_wherever_the_stream_is_cut(text: str, sizes: list[int]) -> None:
    out, n_lone = _filtered(f'"{text}"'.encode(), sizes)
    expected = json.loads(f'"{text}"')
    lone = [character for character in expected if "\ud800" <= character <= "\udfff"]
    marked = "".join("\0" if character in lone else character for character in expected)
    assert json.loads(out) == marked
    assert n_lone == len(lone)


def test_a_run_of_backslashes_longer_than_a_piece() -> None:
    text = '"' + "\\\\" * 50 + r"\ud800" + '"'
    assert _filtered(text.encode(), [3] * 30) == (text.replace(r"\ud800", r"\u0000").encode(), 1)
