"""Splitting loses nothing, keeps to the limit, and knows which turns a piece holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from providers.remote.pieces import measured, parts, pieces
from providers.remote.service import Document, Measure, Message

MEASURES: list[Measure] = ["characters", "utf16", "bytes"]
texts = st.text(st.characters(codec="utf-8"), max_size=120)
messages = st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), texts), max_size=8)


@given(texts, st.integers(4, 40), st.sampled_from(MEASURES))
def test_parts_are_the_text_and_fit(text: str, longest: int, measure: Measure) -> None:
    found = list(parts(text, longest, measure))
    assert "".join(found) == text
    assert all(measured(measure, part) <= longest for part in found)


@given(messages, st.integers(20, 200), st.sampled_from(MEASURES))
def test_pieces_hold_every_turn_in_order_and_fit(turns: list[Message], longest: int, measure: Measure) -> None:
    document = Document("d", turns)
    found = pieces(document, longest, measure)
    said: dict[int, str] = {}
    for piece in found:
        assert measured(measure, piece.document.text) <= longest
        assert piece.first_turn <= piece.last_turn
        turn = piece.first_turn
        for index, message in enumerate(piece.document.messages):
            # Within a piece a turn has one part; only its first turn may go on from the piece before.
            turn = piece.first_turn + index
            said[turn] = said.get(turn, "") + message.content
            assert message.role == turns[turn].role
        assert turn == piece.last_turn or not turns
    assert [said.get(index, "") for index in range(len(turns))] == [message.content for message in turns]
    assert len({piece.document.id for piece in found}) == len(found)


def test_a_document_that_fits_stays_itself() -> None:
    document = Document("d", [Message("user", "hello")])
    (piece,) = pieces(document, 11, "characters")
    assert (piece.document, piece.first_turn, piece.last_turn) == (document, 0, 0)
    assert len(pieces(document, None, "characters")) == 1


def test_cuts_are_between_words() -> None:
    assert list(parts("one two three", 9, "characters")) == ["one two ", "three"]
