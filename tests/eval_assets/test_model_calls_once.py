"""What was answered is never asked again: not by another system, not after a crash, not elsewhere."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from asking import answered, asks, chat, judged
from fakes.openai import Asked, FakeOpenAI, Say, usual
from fakes.server import Answer, Seen

from converters.tables import ANSWERS
from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.tables import CALLS

POINTS = int(os.environ.get("KILL_POINTS", "2"))
QUESTIONS = 8
HERE = Path(__file__).resolve().parent


def talkative(asked: Asked) -> Say:
    """A reader whose answer has something of every memory."""
    return usual(asked) if asked.judges else Say(" ".join(asked.fenced("memory")))


@pytest.mark.parametrize("script", [usual, talkative], ids=["same answers", "other answers"])
def test_three_questions_whose_hits_changed_are_three_questions_asked(script: object, tmp_path: Path) -> None:
    made = asks(10)
    with (
        FakeOpenAI(script) as fake,  # type: ignore[arg-type]
        chat(fake, tmp_path) as asked,
        chat(fake, tmp_path, "gpt_5_mini") as other,
    ):
        answers = answered(made, asked)
        for judge in (asked, other):
            judged(made, judge, answers)
        assert (len(fake.readers), len(fake.judges)) == (10, 20)
        again = answered(made, asked, results=made.changed([2, 5, 7]))
        for judge in (asked, other):
            judged(made, judge, again)
        readers = fake.readers[10:]
        assert sorted(one.question for one in readers) == [f"What is code {index}?" for index in (2, 5, 7)]
        # An answer that came out the same is judged already.
        assert len(fake.judges) - 20 == (0 if script is usual else 6)


def test_two_systems_with_the_same_hits_pay_once(tmp_path: Path) -> None:
    made = asks(5)
    with FakeOpenAI() as fake:
        for name, requests in (("first", 10), ("second", 10)):
            with chat(fake, tmp_path) as asked:
                # Another name for the same model, in another system's settings.
                same = type(asked)(name, asked.model, asked.wire, asked.ledger, asked.mode)
                judged(made, same, answered(made, same))
            assert len(fake.seen) == requests
        with chat(fake, tmp_path, revision=2) as changed:
            answered(made, changed)
        assert len(fake.seen) == 15, "a model that changed behind its name is another model"


def test_a_recorded_run_replays_without_key_or_model(tmp_path: Path) -> None:
    made = asks(5, wrong=[2])
    with FakeOpenAI() as fake:
        with chat(fake, tmp_path) as asked:
            first = answered(made, asked)
            judgments = judged(made, asked, first)
        url, requests = fake.url, len(fake.seen)
    with chat(url, tmp_path, mode="replay", key="") as replayed:
        again = answered(made, replayed)
        assert again.equals(first), "latency, tokens and cost are those of the real calls"
        assert judged(made, replayed, again).equals(judgments)
        unknown = answered(made, replayed, results=made.changed([3]))
    assert requests == 10
    assert unknown["status"].to_list() == ["ok", "ok", "ok", "not_run", "ok"]
    assert "is not in the ledger, to be replayed" in unknown["error"][3]


class Killing(FakeOpenAI):
    """Kills its client when its request number ``at`` was answered, before the answer goes out."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at
        self.victim: subprocess.Popen[bytes] | None = None
        self.started = threading.Event()

    def handle(self, seen: Seen) -> tuple[Answer | None, object]:  # type: ignore[override]
        number = len(self.seen)
        found = super().handle(seen)
        if number == self.at:
            self.started.wait()
            assert self.victim is not None
            self.victim.send_signal(signal.SIGKILL)
        return found


def run(fake: FakeOpenAI, folder: Path, concurrency: int) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent), str(HERE.parents[1])])}
    arguments = [fake.url, str(folder), str(QUESTIONS), str(concurrency)]
    return subprocess.Popen([sys.executable, str(HERE / "model_run.py"), *arguments], env=environment)


def usable(folder: Path) -> int:
    """Answered calls that the ledger holds."""
    ledger = Ledger(f"sqlite:///{folder / 'ledger.sqlite'}")
    with ledger.reading() as connection:
        kept = connection.execute(CALLS.select().where(CALLS.c.status == "usable")).all()
    ledger.close()
    return len(kept)


@pytest.mark.parametrize("point", range(POINTS))
def test_a_killed_run_repeats_nothing_that_was_answered(point: int, tmp_path: Path) -> None:
    chance = random.Random(point)
    concurrency = (1, 4)[point % 2]
    with Killing(chance.randrange(1, 3 * QUESTIONS)) as fake:
        fake.victim = run(fake, tmp_path, concurrency)
        fake.started.set()
        assert fake.victim.wait() == -signal.SIGKILL
        before, kept = len(fake.seen), usable(tmp_path)
        fake.at = -1
        assert run(fake, tmp_path, concurrency).wait() == 0
        assert len(fake.seen) - before == 3 * QUESTIONS - kept
        # Twice is only what was on its way when the process died.
        assert before - kept <= concurrency
        assert max(Counter(one.raw for one in fake.seen).values()) <= 2
    answers = ANSWERS.validate(pl.read_parquet(tmp_path / "answers.parquet"))
    assert answers["status"].to_list() == ["ok"] * QUESTIONS
    labels = pl.read_parquet(tmp_path / "judgments.parquet")["label"].to_list()
    assert labels == [index % 3 != 0 for index in range(QUESTIONS)] * 2
