"""Readers and judges that are models, through the graph: money, keys, replay, and what two systems share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from fakes.openai import Asked, Fail, FakeOpenAI, Say, usual
from model_projects import KEYS, model_project, records
from projects import Box, part
from sqlalchemy import select

from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.tables import CALLS
from eval_assets.models.budget import VARIABLE
from judges.judging.cases import bundled_cases

TRIAL = len(bundled_cases())
"""Calls by which each judge is tried, once."""


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, FakeOpenAI.key)


def lines(found: Result) -> list[str]:
    return [line for line in found.stderr.splitlines() if line.strip()]


def everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def test_two_equal_systems_are_paid_for_once_and_replay_elsewhere_without_a_key(
    tmp_path: Path, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "recorded.parquet"
    with FakeOpenAI() as fake:
        box = model_project(tmp_path / "here", fake, number=2)
        done = box.refresh(systems=("one",))
        assert not done.failures
        assert (len(fake.readers), len(fake.judges)) == (2, 2 * (2 + TRIAL))
        asked = len(fake.seen)
        box.refresh()
        assert len(fake.seen) == asked, "the second system has the prompts of the first"
        assert not box.plan().work
        there = model_project(tmp_path / "there", fake, number=2)
    recorded = {name: version for name, version in box.versions().items() if name.startswith("one/")}
    assert command(box, "ledger", "export", "--out", str(file)).exit_code == 0
    for name in KEYS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EVAL_ASSETS_LEDGER_MODE", "replay")
    assert command(there, "ledger", "import", str(file)).exit_code == 0
    assert not there.refresh(systems=("one",)).failures
    assert {name: there.versions()[name] for name in recorded} == recorded
    key = FakeOpenAI.key.encode()
    assert key not in everything(tmp_path), "no key in the ledger, the tables, the logs of the instance, the export"


def test_money_ends_a_refresh_in_one_line_and_more_of_it_goes_on(
    tmp_path: Path, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeOpenAI() as fake:
        box = model_project(tmp_path, fake)
        early = command(box, "plan").stdout
        assert "model: one/answers [chats]: calls of gpt_4o are not known before the corpus is made" in early
        box.refresh(to="search")
        told = command(box, "plan")
        assert "model: one/answers [chats]: at most 4 calls of gpt_4o, " in told.stdout
        planned = json.loads(command(box, "plan", "--json").stdout)
        assert planned["tokens"] == sum(one["input_tokens"] + one["output_tokens"] for one in planned["models"])
        assert planned["cost_usd"] == pytest.approx(sum(one["cost_usd"] for one in planned["models"]))
        calls = {one["asset"]: (one["calls"], one["basis"]) for one in planned["models"]}
        assert calls["one/answers"] == (4, "prompts")
        assert calls["one/judgments/strict"] == (4 + TRIAL, "limits")

        stopped = command(box, "refresh", "--system", "one", "--max-cost-usd", "0.02")
        assert stopped.exit_code == 1
        assert len(lines(stopped)) == 1
        assert ": stopped before the limit of 0.02 USD: " in lines(stopped)[0]
        assert 0 < spent(box) <= 0.02
        monkeypatch.setenv(VARIABLE, "much")
        assert command(box, "refresh", "--system", "one").exit_code == 2
        monkeypatch.setenv(VARIABLE, "5")
        done = command(box, "refresh", "--system", "one")
        assert (done.exit_code, lines(done)) == (0, [])
        assert max(Counter(one.raw for one in fake.seen).values()) == 1, "nothing was asked twice, whatever stopped it"
        assert "models: " in done.stdout
        assert spent(box) <= planned["cost_usd"]

        left = json.loads(command(box, "plan", "--json").stdout)["models"]
        assert [one["calls"] for one in left if one["asset"] == "two/answers"] == [0], "they are in the ledger"


def test_a_model_without_a_price_has_no_limit_to_keep(tmp_path: Path, command: Callable[..., Result]) -> None:
    with FakeOpenAI() as fake:
        box = model_project(tmp_path, fake, number=1)
        file = tmp_path / "data" / "models.yaml"
        file.write_text(file.read_text().replace("input_usd: 2.5", "input_usd: null"))
        done = command(box, "refresh", "--system", "one", "--max-cost-usd", "1")
        assert done.exit_code == 2
        assert lines(done)[-1].startswith("models.gpt_4o: without a price no limit of money can be kept;")
        assert not fake.seen


def test_a_judge_that_fails_two_of_ten_prints_both_accuracies_with_both_n(
    tmp_path: Path, command: Callable[..., Result]
) -> None:
    asked = {record["question"]: index for index, record in enumerate(records(10))}

    def script(one: Asked) -> Say | Fail:
        number = next((index for text, index in asked.items() if text in one.text), None)
        if number is None or not one.judges:
            return usual(one)
        return Fail(500, None, "down") if number in (2, 5) else Say("no" if number in (3, 8) else "yes")

    system = {"store": "turns", "reader": "extractive", "judges": ["other"], "retrieval": {"mode": "lexical"}}
    with FakeOpenAI(script) as fake:
        box = model_project(tmp_path, fake, number=10, systems={"one": system})
        assert not box.refresh().failures
        said = command(box, "report", "one", "chats")
    assert said.exit_code == 0, said.stderr
    report = frame(box, "one/report")
    row = next(one for one in report if one["metric"] == "accuracy" and one["slice"] == "all")
    assert (row["value"], row["strict"], row["n"], row["n_failed"]) == (6 / 8, 6 / 10, 8, 2)
    assert any(line.startswith("ANSWERS") and "accuracy=0.750" in line for line in said.stdout.splitlines())


def spent(box: Box) -> float:
    """By all calls of the ledger."""
    ledger = Ledger(f"sqlite:///{box.root / 'data' / 'ledger.sqlite'}")
    with ledger.reading() as connection:
        costs = connection.execute(select(CALLS.c.cost_usd)).scalars().all()
    ledger.close()
    return sum(cost or 0.0 for cost in costs)


def frame(box: Box, name: str) -> list[dict[str, object]]:
    with box.open() as session:
        rows: list[dict[str, object]] = session.graph.shelf.frame(session.instance, part(name).key, "chats").to_dicts()
    return rows
