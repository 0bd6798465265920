"""Vectors from an endpoint: what is asked, what is kept, and what is made of replies that hold no vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding_projects import embedder
from fakes.embeddings import MOST_TOKENS, FakeEmbeddings, bag_of_words
from fakes.faults import ALL, Faults
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.tables import CALLS
from eval_assets.models.budget import Budget, OverBudget
from eval_assets.remote.embedding_wire import WrongDimensions, cut, shares
from judges.tokens import estimate_tokens
from providers.remote.errors import Stop
from providers.remote.pace import threads

TEXTS = [f"text number {index} of a {'very ' * index}small collection" for index in range(10)]


def expected(texts: list[str], dimensions: int = 64) -> np.ndarray:
    made = np.stack([bag_of_words(text, dimensions) for text in texts])
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.mark.parametrize("form", ["base64", "float"])
def test_vectors_are_in_the_order_of_the_texts_and_of_length_1(form: str, tmp_path: Path) -> None:
    with FakeEmbeddings() as fake, embedder(fake, tmp_path, format=form) as made:
        twice = made.embed([*TEXTS, TEXTS[0]])
        assert np.allclose(twice.vectors, expected([*TEXTS, TEXTS[0]]), atol=1e-6)
        assert not twice.errors
        assert set(fake.embedded.values()) == {1}
        again = made.embed(TEXTS)
        assert (again.vectors == twice.vectors[:10]).all()
        assert again.notes == {"texts cut": 0, "texts from the ledger": 10, "embedding requests": 0}
        asked = made.embed_questions(["a question", TEXTS[0]])
        assert asked.latency_ms and asked.latency_ms[0] > 0
    assert len(fake.seen) == 4 + 1


def test_shortened_vectors_are_asked_for_by_name_and_are_others(tmp_path: Path) -> None:
    with FakeEmbeddings() as fake:
        with embedder(fake, tmp_path, dimensions=16, shorten=True) as made:
            assert np.allclose(made.embed(TEXTS).vectors, expected(TEXTS, 16), atol=1e-6)
            assert made.name == "bag 16"
        assert {one.body["dimensions"] for one in fake.seen} == {16}
        with embedder(fake, tmp_path) as made:
            made.embed(TEXTS)
        assert set(fake.embedded.values()) == {2}


def test_under_faults_every_vector_comes_and_a_crash_repeats_nothing_answered(tmp_path: Path) -> None:
    kinds = [kind for kind in ALL if kind != "late"]
    with FakeEmbeddings(faults=Faults(0.3, kinds, seed=3)) as fake, embedder(fake, tmp_path, batch=1) as made:
        assert np.allclose(made.embed(TEXTS * 2).vectors, expected(TEXTS * 2), atol=1e-6)
        assert fake.faults.happened.total() > 2
    with FakeEmbeddings() as fake, embedder(fake, tmp_path / "..", batch=1) as made:

        def dies(what: str, done: int, total: int) -> None:
            if done >= 5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            made.embed([f"other {text}" for text in TEXTS], dies)
        made.embed([f"other {text}" for text in TEXTS])
        assert set(fake.embedded.values()) == {1}


def test_refresh_asks_again_and_the_newest_answers(tmp_path: Path) -> None:
    with FakeEmbeddings() as fake:
        for mode in ("record", "refresh", "replay"):
            with embedder(fake, tmp_path, mode=mode) as made:  # type: ignore[arg-type]
                made.embed(TEXTS)
        assert set(fake.embedded.values()) == {2}
        with embedder(fake, tmp_path, mode="replay") as made:
            with pytest.raises(Stop, match="the vectors of 1 texts are not in the ledger"):
                made.embed([*TEXTS, "new"])
            asked = made.embed_questions(["new", TEXTS[0]])
        assert [(row, one.status, one.retryable) for row, one in asked.errors.items()] == [(0, "not_run", True)]
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    with ledger.reading() as connection:
        attempts = connection.execute(select(CALLS.c.attempt, func.count()).group_by(CALLS.c.attempt)).all()
        assert sorted(tuple(row) for row in attempts) == [(1, 10), (2, 10)]
        assert connection.scalar(select(func.sum(CALLS.c.input_tokens))) == fake.spent
    ledger.close()


def test_long_texts_are_cut_and_counted_and_refused_ones_found(tmp_path: Path) -> None:
    long = "word " * MOST_TOKENS
    with FakeEmbeddings() as fake:
        with embedder(fake, tmp_path, batch=8) as made:
            found = made.embed([*TEXTS, long])
            assert found.notes["texts cut"] == 1
            assert not found.errors
            assert max(len(text) for text in fake.embedded) == 8_000 * 4
        with embedder(fake, tmp_path, batch=8, max_tokens=100_000) as made:
            found = made.embed([*TEXTS, "fine", long, "", "as well"])
            assert {row: one.retryable for row, one in found.errors.items()} == {11: False, 12: False}
            assert "maximum context length" in found.errors[11].why
            assert not found.vectors[[11, 12]].any()
        alone = tmp_path / "alone"
        alone.mkdir()
        with (
            embedder(fake, alone, batch=8, max_tokens=100_000) as made,
            pytest.raises(Stop, match="every text was refused"),
        ):
            made.embed([long, long + "er"])


Data = list[dict[str, Any]]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (lambda data: data[1:], "2 vectors for 3 texts"),
        (lambda data: [data[0], *data[:2]], "place"),
        (lambda data: [{**one, "index": one["index"] + 1} for one in data], "place 3 of 3"),
        (lambda data: [{**one, "embedding": "?"} for one in data], "no base64"),
        (lambda data: [{**one, "embedding": "AAA="} for one in data], "2 bytes"),
        (lambda data: [{**one, "embedding": [0.0] * 64} for one in data], "zeros"),
        (lambda data: [{**one, "embedding": [1e300] * 64} for one in data], "finite"),
        (lambda data: [{**one, "embedding": [float("nan")] * 64} for one in data], "finite"),
        (lambda data: [{**one, "embedding": ["1"] * 64} for one in data], "neither numbers nor base64"),
        (lambda data: [{**one, "embedding": [10**400] * 64} for one in data], "too large"),
        (lambda data: {"no": "list"}, "no list"),
    ],
    ids=["fewer", "twice", "place", "base64", "bytes", "zeros", "large", "nan", "strings", "whole", "list"],
)
def test_what_is_no_vector_is_not_taken_for_one(broken: Callable[[Data], Any], why: str, tmp_path: Path) -> None:
    budget = Budget()
    with FakeEmbeddings() as fake:
        fake.broken = broken
        with embedder(fake, tmp_path, budget=budget) as made:
            found = made.embed(TEXTS[:3])
            assert [one.retryable for one in found.errors.values()] == [True] * 3
            assert why in found.errors[0].why
            assert len(fake.seen) == 3, "each is paid for"
            assert budget.spent_usd == pytest.approx(fake.spent / 1000)
            fake.broken = lambda data: data
            assert not made.embed(TEXTS[:3]).errors


def test_vectors_of_another_length_end_the_step(tmp_path: Path) -> None:
    with FakeEmbeddings(dimensions=48) as fake, embedder(fake, tmp_path, batch=1) as made:
        with pytest.raises(WrongDimensions, match=r"set embedding\.dimensions to 48"):
            made.embed(TEXTS)
        assert len(fake.seen) <= threads(made.concurrency), "no thread begins another request"


@pytest.mark.parametrize("usage", [True, False])
def test_a_limit_of_money_is_kept(usage: bool, tmp_path: Path) -> None:
    budget = Budget(0.1)
    with FakeEmbeddings(usage=usage) as fake, embedder(fake, tmp_path, budget=budget, batch=1) as made:
        with pytest.raises(OverBudget):
            made.embed(TEXTS)
        assert 0 < fake.spent / 1000 <= 0.1
        assert budget.spent_usd <= 0.1
        budget.limit_usd = 100
        made.embed(TEXTS)
        assert set(fake.embedded.values()) == {1}


@given(st.text(max_size=200), st.integers(1, 60))
def test_a_cut_text_is_the_longest_that_fits(text: str, most: int) -> None:
    begun = cut(text, most)
    assert text.startswith(begun)
    assert estimate_tokens(begun) <= most
    assert begun == text or estimate_tokens(text[: len(begun) + 1]) > most


@given(st.integers(0, 10**6), st.lists(st.integers(1, 10**4), min_size=1, max_size=50))
def test_shares_add_up(total: int, weights: list[int]) -> None:
    parts = shares(total, weights)
    assert sum(parts) == total
    assert min(parts) >= 0
