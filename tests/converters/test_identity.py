from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.identity import EncodedSessions, content_hash, encode, session_key

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
    numbers = [number.to_bytes(8, "little") for number in (2, 4, 9, 10, 0)]
    written = b"".join([*numbers[:3], b"userassistant", *numbers[3:], "Ünï 🙂".encode()])
    assert content_hash([("user", "Ünï 🙂"), ("assistant", "")]) == hashlib.sha256(written).hexdigest()


def _alone(turns: list[tuple[str, str]]) -> EncodedSessions:
    return encode([len(turns)], [role for role, _ in turns], [text for _, text in turns])


@given(st.lists(TURNS, max_size=5), st.data())
def test_sessions_are_hashed_and_chosen_together_as_each_alone(
    sessions: list[list[tuple[str, str]]], data: st.DataObject
) -> None:
    together = encode(
        [len(turns) for turns in sessions],
        [role for turns in sessions for role, _ in turns],
        [text for turns in sessions for _, text in turns],
    )
    assert together.hashes == [content_hash(turns) for turns in sessions]
    assert together.n_chars == [sum(len(text) for _, text in turns) for turns in sessions]
    chosen = data.draw(st.lists(st.sampled_from(range(len(sessions))), unique=True) if sessions else st.just([]))
    alone = [_alone(sessions[at]) for at in sorted(chosen)]
    some = together.only(sorted(chosen))
    assert list(some.hashes) == [one.hashes[0] for one in alone]
    assert some.contents == b"".join(one.contents for one in alone)
    assert list(some.roles) == [role for one in alone for role in one.roles]
    assert list(some.lengths) == [length for one in alone for length in one.lengths]


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
