from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.identity import content_hash, session_key

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
# Roles and texts that look like the encoding's own heads are the ones that could collide.
TRICKY = st.one_of(TEXT, st.from_regex(r"[0-9]{1,2}[,;:][0-9a]{0,2}:?[a-z]{0,2}", fullmatch=True))
TURNS = st.lists(st.tuples(TRICKY, TRICKY), max_size=4)
DATES = st.datetimes(timezones=st.just(UTC))


@given(TURNS, TURNS)
def test_two_sessions_share_a_hash_only_if_they_are_equal(
    first: list[tuple[str, str]], second: list[tuple[str, str]]
) -> None:
    assert (content_hash(first) == content_hash(second)) == (first == second)


@given(TURNS, st.integers(0, 3), TRICKY)
def test_moving_text_between_turns_changes_the_hash(turns: list[tuple[str, str]], index: int, text: str) -> None:
    joined = [*turns[:index], ("user", text + "b"), *turns[index:]]
    split = [*turns[:index], ("user", text), ("user", "b"), *turns[index:]]
    assert content_hash(joined) != content_hash(split)


def test_the_encoding_is_pinned() -> None:
    written = "[4, 9, 5, 0]userassistantÜnï 🙂"
    assert content_hash([("user", "Ünï 🙂"), ("assistant", "")]) == hashlib.sha256(written.encode()).hexdigest()


@given(TURNS)
def test_a_hash_is_64_hex_digits(turns: list[tuple[str, str]]) -> None:
    digest = content_hash(turns)
    assert len(digest) == 64
    assert set(digest) <= set("0123456789abcdef")


def test_a_lone_surrogate_has_no_hash() -> None:
    with pytest.raises(UnicodeEncodeError):
        content_hash([("user", "\ud800")])


@given(DATES, DATES)
def test_a_key_tells_dates_apart(first: datetime, second: datetime) -> None:
    assert (session_key("ab", first) == session_key("ab", second)) == (first == second)
    assert session_key("ab", None) != session_key("ab", first)
    assert session_key("ac", first) != session_key("ab", first)


@given(DATES.filter(lambda date: 1 < date.year < 9999), st.integers(-12, 12))
def test_a_key_is_of_the_moment_not_of_its_zone(date: datetime, hours: int) -> None:
    elsewhere = date.astimezone(timezone(timedelta(hours=hours)))
    assert session_key("ab", elsewhere) == session_key("ab", date)


def test_a_date_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a zone"):
        session_key("ab", datetime(2023, 5, 20))
