"""Whatever an input holds, what is said of it is one line of bounded length that a terminal shows as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.errors import BadInput

HOSTILE = "a\x1b[31m\u202eb\u2028c\0d\ufeff\udcff\U0001f600"
_text = st.text(st.characters(exclude_categories=()), max_size=40) | st.sampled_from(
    [HOSTILE, "x" * 5_000, "\n" * 5_000]
)


@given(_text, _text, _text, st.none() | _text, st.none() | _text)
def test_one_printable_line(source: str, problem: str, remedy: str, record: str | None, field: str | None) -> None:
    error = BadInput(source, problem, remedy, record=record, field=field)
    assert error.line.isprintable()
    assert error.line.encode()
    assert len(error.line) <= 10 * len(source) + 10 * (3 * 310 + 1_510)
    assert (error.source, error.problem, error.remedy) == (source, problem, remedy)


def test_what_would_not_show_is_an_escape() -> None:
    line = BadInput("f.json", f"{HOSTILE}\n is wrong", "mend it").line
    assert line == "f.json: a\\x1b[31m\\u202eb c\\x00d\\ufeff\\udcff\U0001f600 is wrong; mend it"


@pytest.mark.parametrize("part", ["record", "field", "problem", "remedy"])
def test_a_long_part_keeps_its_beginning_and_its_end(part: str) -> None:
    parts = {"problem": "is wrong", "remedy": "mend it", part: "begin" + "i" * 5_000 + "end"}
    line = BadInput("s" * 400, **parts).line  # type: ignore[arg-type]
    assert line.startswith("s" * 400)
    assert "begin" in line
    assert "end" in line
    assert len(line) < 400 + (1_550 if part == "remedy" else 350)
