from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from providers.local.chunking import Turn, cut, pieces

CONTENT = st.one_of(st.text(max_size=40), st.sampled_from(["", " ", "\n\t", "\u200b", "word " * 60]))
SESSIONS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), CONTENT), max_size=8).map(
    lambda turns: [Turn(index, role, content) for index, (role, content) in enumerate(turns)]
)


@given(SESSIONS)
def test_at_turn_granularity_every_turn_with_text_is_one_piece_with_its_content(turns: list[Turn]) -> None:
    found = pieces(turns, "turn", 10_000)
    assert [(piece.turns, piece.text) for piece in found] == [
        ((turn.index,), turn.content) for turn in turns if turn.content.strip()
    ]


@given(SESSIONS)
def test_rounds_partition_the_turns_with_text_and_start_with_each_user_turn(turns: list[Turn]) -> None:
    found = pieces(turns, "round", 10_000)
    texts = {turn.index for turn in turns if turn.content.strip()}
    assert [index for piece in found for index in piece.turns] == sorted(texts)
    for piece in found:
        first = turns.index(turns[piece.turns[0]])
        assert all(turns[index].role == "assistant" for index in range(first + 1, piece.turns[-1] + 1))


@given(SESSIONS)
def test_a_session_is_one_piece_that_names_every_speaker(turns: list[Turn]) -> None:
    found = pieces(turns, "session", 10_000)
    texts = [turn for turn in turns if turn.content.strip()]
    assert [piece.text for piece in found] == (
        ["\n".join(f"{turn.role}: {turn.content}" for turn in texts)] if texts else []
    )


@given(st.text(alphabet="ab \n\u200bé🎉", max_size=400), st.integers(1, 60))
def test_parts_join_back_and_none_is_too_long(text: str, size: int) -> None:
    parts = cut(text, size)
    assert "".join(parts) == text
    assert all(len(part) <= size for part in parts)
    assert all(len(part) >= size // 2 for part in parts[:-1])


def test_a_cut_falls_on_white_space_where_there_is_some() -> None:
    assert cut("one two three four", 10) == ["one two ", "three four"]
    assert cut("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]


@given(SESSIONS, st.integers(1, 50))
def test_each_part_of_a_long_session_names_the_turns_that_it_holds(turns: list[Turn], size: int) -> None:
    whole = pieces(turns, "session", 1_000_000)
    parts = pieces(turns, "session", size)
    covered = [index for piece in parts for index in piece.turns]
    assert covered == sorted(covered)
    assert set(covered) == {index for piece in whole for index in piece.turns}


def test_a_session_that_starts_with_the_assistant_or_repeats_a_role_keeps_all_its_turns() -> None:
    roles = ["assistant", "user", "user", "assistant", "assistant"]
    turns = [Turn(index, role, f"text {index}") for index, role in enumerate(roles)]
    assert [piece.turns for piece in pieces(turns, "round", 1000)] == [(0,), (1,), (2, 3, 4)]


def test_the_answer_to_a_blank_user_turn_stays_out_of_the_round_before() -> None:
    turns = [Turn(0, "user", "hi"), Turn(1, "assistant", "hello"), Turn(2, "user", " "), Turn(3, "assistant", "yes?")]
    assert [piece.turns for piece in pieces(turns, "round", 1000)] == [(0, 1), (3,)]


def test_a_memory_is_its_content_at_every_granularity() -> None:
    for granularity in ("session", "round", "turn"):
        assert [piece.text for piece in pieces([Turn(0, "memory", "a fact")], granularity, 1000)] == ["a fact"]
