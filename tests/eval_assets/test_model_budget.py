"""A limit of money is kept before it is passed, whatever the endpoint says of its use, and what is done is kept."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from asking import answered, asks, chat, judged, model_of
from fakes.faults import Faults
from fakes.openai import FakeOpenAI, Say, usual
from hypothesis import given, settings
from hypothesis import strategies as st

from converters.errors import BadInput
from eval_assets.ledger.tables import CALLS
from eval_assets.models.budget import VARIABLE, Budget, OverBudget, limit_of_environment
from eval_assets.models.wire import most_usd

PRICES: dict[str, Any] = {"input_usd": 100.0, "output_usd": 400.0, "max_output_tokens": 20}


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_run_stops_before_the_limit_and_goes_on_from_there(concurrency: int, tmp_path: Path) -> None:
    made = asks(12)
    with FakeOpenAI(prices=(100.0, 400.0)) as fake:
        with chat(fake, tmp_path, **PRICES) as asked:
            whole = answered(made, asked)["cost_usd"].sum()
        fake.spent_usd, before = 0.0, len(fake.seen)
        (tmp_path / "limited").mkdir()
        limit = float(whole) * 0.7
        made_calls = []
        for more in (limit, limit):
            budget = Budget(more)
            given_up = None
            with chat(fake, tmp_path / "limited", budget=budget, concurrency=concurrency, **PRICES) as asked:
                try:
                    rows = answered(made, asked)
                except OverBudget as error:
                    given_up = str(error)
            made_calls.append((len(fake.seen) - before, given_up))
            assert budget.spent_usd <= more
        assert fake.spent_usd == pytest.approx(float(whole)), "nothing was paid for twice"
    stopped, finished = made_calls
    assert 0 < stopped[0] < 12 and stopped[1] and "stopped before the limit of" in stopped[1]
    assert finished == (12, None)
    assert rows["status"].to_list() == ["ok"] * 12


def test_calls_under_way_are_waited_for_rather_than_the_limit_called_reached(tmp_path: Path) -> None:
    made = asks(12)
    with FakeOpenAI(prices=(100.0, 400.0)) as fake:
        with chat(fake, tmp_path, **PRICES) as asked:
            whole = float(answered(made, asked)["cost_usd"].sum())
            most = max(most_usd(asked.model, one.body) for one in fake.asked)
        (tmp_path / "few").mkdir()
        budget = Budget(whole + most)
        # All at once, they might cost more than the limit.
        assert 8 * most > whole + most
        with chat(fake, tmp_path / "few", budget=budget, concurrency=8, **PRICES) as few:
            assert answered(made, few)["status"].to_list() == ["ok"] * 12


def test_a_limit_of_nothing_asks_nothing(tmp_path: Path) -> None:
    with FakeOpenAI() as fake, chat(fake, tmp_path, budget=Budget(0.0)) as asked:
        with pytest.raises(OverBudget):
            answered(asks(3), asked)
        assert not fake.seen
        with asked.ledger.reading() as connection:
            assert not connection.execute(CALLS.select()).all(), "what was not asked is no call"


def test_replayed_calls_cost_nothing(tmp_path: Path) -> None:
    made = asks(3)
    with FakeOpenAI() as fake:
        with chat(fake, tmp_path) as asked:
            answers = answered(made, asked)
        with chat(fake, tmp_path, budget=Budget(0.0)) as asked:
            assert answered(made, asked).equals(answers)


@pytest.mark.parametrize("kind", ["lost", "cut", "silent usage"])
def test_what_may_have_been_billed_counts_against_a_limit(kind: Any, tmp_path: Path) -> None:
    made = asks(1)
    faults = Faults(1.0, kinds=[kind]) if kind != "silent usage" else None
    budget = Budget(100.0)
    say = Say("Code 0 is amber0.", usage=False)
    with FakeOpenAI(lambda _: say, faults=faults) as fake, chat(fake, tmp_path, budget=budget) as asked:
        answered(made, asked)
        most = most_usd(asked.model, fake.seen[0].body)
        assert budget.spent_usd == pytest.approx(most * len(fake.seen))


@pytest.mark.parametrize("kind", ["busy", "500", "refused"])
def test_what_was_not_answered_costs_nothing(kind: Any, tmp_path: Path) -> None:
    budget = Budget(100.0)
    with FakeOpenAI(faults=Faults(1.0, kinds=[kind])) as fake:
        url = "http://127.0.0.1:9" if kind == "refused" else fake.url
        with chat(url, tmp_path, budget=budget, concurrency=1) as asked:
            try:
                answered(asks(1), asked)
            except Exception as error:
                assert "is it running there?" in str(error)
    assert budget.spent_usd == 0.0


@settings(max_examples=40, deadline=None)
@given(
    limit=st.floats(0, 3),
    calls=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=12),
    threads=st.integers(1, 6),
)
def test_no_order_of_calls_passes_the_limit(limit: float, calls: list[tuple[float, float]], threads: int) -> None:
    budget = Budget(limit)
    turned_away = []
    together = threading.Barrier(min(threads, max(len(calls), 1)), timeout=5)

    def one(call: tuple[int, tuple[float, float]]) -> None:
        number, (most, share) = call
        if number < together.parties:
            together.wait()
        try:
            with budget.reserving(most):
                budget.pay(most * share)
        except OverBudget:
            turned_away.append(most)

    with ThreadPoolExecutor(together.parties) as pool:
        list(pool.map(one, enumerate(calls)))
    assert budget.spent_usd <= limit
    assert all(budget.spent_usd + most > limit or len(calls) > 1 for most in turned_away)
    with budget.reserving(0.0):
        pass


def test_judges_are_paid_from_the_same_purse(tmp_path: Path) -> None:
    made, budget = asks(4), Budget(1.0)
    with FakeOpenAI(usual) as fake, chat(fake, tmp_path, budget=budget) as asked:
        answers = answered(made, asked)
        judgments = judged(made, asked, answers)
        assert len(fake.seen) == 8
    assert budget.spent_usd == pytest.approx(sum([*answers["cost_usd"], *judgments["cost_usd"]]))


def test_the_environment_sets_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limit_of_environment() is None
    monkeypatch.setenv(VARIABLE, " 2.5 ")
    assert limit_of_environment() == 2.5
    for wrong in ("much", "-1", "nan"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(BadInput, match="not a sum of money"):
            limit_of_environment()


def test_a_prompt_of_numbers_is_not_taken_for_cheap() -> None:
    model = model_of("http://nowhere", "gpt_4o")
    body = {"messages": [{"role": "user", "content": "7" * 4000}], "max_tokens": 10}
    # Three digits are a token to OpenAI's tokenizers.
    assert most_usd(model, body) > (4000 / 3 * 2.5 + 10 * 10) / 1e6
