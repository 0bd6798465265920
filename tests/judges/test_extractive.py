"""The reader without a model."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from judges.hits import Memory
from judges.judging.lexical import lexical_verdict
from judges.readers.extractive import READ_CHARS, extract, n_read
from judges.readers.sentences import LONGEST, sentences
from judges.refusal import REFUSAL, is_refusal

DAY = datetime(2024, 3, 10, 9, 0, tzinfo=UTC)
NOISE = [
    Memory("user: What is the weather like? assistant: I cannot see the weather.", DAY),
    Memory("user: Write me a poem about rivers.\nassistant: The river runs to the sea. It never sleeps.", DAY),
]


def answer(question: str, *hits: Memory, as_of: datetime | None = None) -> str:
    return extract(question, as_of, [*hits, *NOISE]).answer


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        ("What is the name of my cat?", "Long day. By the way, my cat's name is Luna. She sleeps.", "Luna"),
        ("Where did I buy the bookshelf?", "I went out. I bought a bookshelf from Nordhaus!\nIt is oak.", "Nordhaus"),
        ("How many bicycles do I own?", "I love cycling. I own three bicycles. Do I own many bicycles?", "three"),
        ("Wie heißt das Café?", "Das Café heißt Sperl. Gut.", "Sperl"),
    ],
    ids=["name", "place", "number", "German"],
)
def test_the_sentence_that_answers_is_given(question: str, text: str, wanted: str) -> None:
    assert wanted in answer(question, Memory(text, DAY))


def test_who_said_it_is_not_part_of_the_answer() -> None:
    assert answer("Which cat is mine?", Memory("user: My cat is Luna.\nassistant: Lovely.", DAY)) == "My cat is Luna."


@pytest.mark.parametrize(
    ("sizes", "read"),
    [([], 0), ([0, 5], 2), ([READ_CHARS, 1], 1), ([READ_CHARS - 1, 2, 1], 2), ([READ_CHARS + 9], 1), ([9] * 50, 50)],
)
def test_hits_beyond_what_is_read_are_counted_as_cut_and_are_not_read(sizes: list[int], read: int) -> None:
    hits = [Memory("x" * size) for size in sizes]
    assert n_read(hits) == read
    unread = [*hits, Memory("The zebra is called Zoe.")]
    found = extract("What is the zebra called?", None, unread)
    assert (found.hit == len(hits)) == (n_read(unread) == len(unread) and sum(sizes) < READ_CHARS - 24)


def test_nothing_that_matches_is_a_refusal() -> None:
    for hits in ([], NOISE):
        found = extract("What is the name of my cat?", None, hits)
        assert (found.answer, found.hit) == (REFUSAL, None)
    assert is_refusal(REFUSAL)
    assert extract("Who am I?", None, NOISE).answer == REFUSAL


def test_the_newest_of_two_like_sentences_is_given_whatever_its_rank() -> None:
    old, new = Memory("My gym is Ironworks.", DAY), Memory("My gym is Pulse.", DAY + timedelta(days=40))
    assert "Pulse" in answer("What is my gym?", old, new)
    assert "Pulse" in answer("What is my gym?", new, old)


def test_when_is_answered_with_the_date_of_the_memory() -> None:
    assert answer("When did I adopt the dog?", Memory("I adopted the dog today.", DAY)).endswith("(2024-03-10)")
    dated = Memory("I adopted the dog on May 3rd.", DAY)
    assert answer("When did I adopt the dog?", dated) == "I adopted the dog on May 3rd."


@pytest.mark.parametrize(("unit", "told"), [("days", "21 days"), ("weeks", "3 weeks"), ("months", "1 month")])
def test_what_has_passed_counts_to_today(unit: str, told: str) -> None:
    question = f"How many {unit} ago did I adopt the dog?"
    memory = Memory("I adopted the dog today.", DAY)
    assert answer(question, memory, as_of=DAY + timedelta(days=21, hours=-3)).startswith(f"{told}: ")
    assert answer(question, memory) == "I adopted the dog today."


pieces = st.lists(st.sampled_from(["My cat is Luna.", "The dog ran.", "Rivers run.", "猫は。", "?", ""]), max_size=6)
found = st.lists(st.builds(Memory, pieces.map(" ".join), st.sampled_from([None, DAY, DAY + timedelta(days=1)])))


@given(st.sampled_from(["What is my cat?", "", "How many days ago did the dog run?", "猫?"]), found)
def test_an_answer_is_from_a_hit_and_always_the_same(question: str, hits: list[Memory]) -> None:
    first = extract(question, DAY, hits)
    assert first == extract(question, DAY, list(hits))
    assert 0 <= first.covered <= 1 + 1e-9
    if first.hit is None:
        assert first.answer == REFUSAL
    else:
        assert any(part in first.answer for part in sentences(hits[first.hit].content))


@given(st.text(max_size=3000))
def test_sentences_keep_every_character_but_blanks_in_order(text: str) -> None:
    parts = sentences(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(part.strip() and len(part) <= LONGEST for part in parts)


@pytest.mark.real_data
def test_on_real_evidence_it_beats_refusing_always(real_oracle: Path, tmp_path: Path) -> None:
    convert_corpus(real_oracle, "longmemeval", tmp_path / "corpus")
    tables = read_corpus(tmp_path / "corpus")
    texts: dict[str, str] = {}
    for turn in tables["turns"].sort("content_hash", "turn_index").iter_rows(named=True):
        key = turn["content_hash"]
        texts[key] = f"{texts.get(key, '')}{turn['role']}: {turn['content']}\n"
    haystacks: dict[str, list[Memory]] = {}
    for session in tables["haystacks"].sort("haystack_id", "position").iter_rows(named=True):
        hits = haystacks.setdefault(session["haystack_id"], [])
        hits.append(Memory(texts[session["content_hash"]], session["session_date"]))
    truth = {row["question_id"]: row for row in tables["ground_truth"].iter_rows(named=True)}
    right = 0
    for question in tables["questions"].iter_rows(named=True):
        hits = haystacks[question["haystack_id"]]
        random.Random(0).shuffle(hits)
        told = extract(question["question"], question["as_of"], hits).answer
        gold = truth[question["question_id"]]
        verdict = lexical_verdict(
            question["question"], gold["answer"], told, gold["question_type"], gold["is_abstention"]
        )
        right += verdict.label
    # Refusing always is right on the 30 abstention questions.
    assert right > 90
