"""A run that is killed at any point, on a service that loses replies, and resumed: nothing twice, nothing lost."""

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
from fakes.faults import Faults
from fakes.server import Answer, Seen
from fakes.zengram import FakeZengram

from providers.protocol import REPLIES
from providers.remote.idmap import RECEIPTS
from providers.remote.pace import threads

POINTS = int(os.environ.get("KILL_POINTS", "3"))
CONTAINERS, SESSIONS = 6, 4
HERE = Path(__file__).resolve().parent


class Killing(FakeZengram):
    """Kills the client when its request number ``at`` arrives, before or after answering."""

    def __init__(self, at: int, **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
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


def run(fake: FakeZengram, folder: Path) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    arguments = ["zengram", fake.url, fake.key, str(folder), str(CONTAINERS), str(SESSIONS)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent), str(HERE.parents[1])])}
    return subprocess.Popen([sys.executable, str(HERE / "remote_run.py"), *arguments], env=environment)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """What an uninterrupted run gives, and how many requests it makes."""
    folder = tmp_path_factory.mktemp("whole")
    with FakeZengram() as fake:
        assert run(fake, folder).wait() == 0
        return folder, len(fake.seen)


def meaning(folder: Path) -> tuple[str, str]:
    receipts = pl.read_parquet(folder / "receipts.parquet")
    replies = pl.read_parquet(folder / "replies.parquet")
    return RECEIPTS.digest(receipts), REPLIES.digest(replies)


@pytest.mark.parametrize("point", range(POINTS))
def test_a_killed_run_is_resumed(whole: tuple[Path, int], tmp_path: Path, point: int) -> None:
    folder, requests = whole
    chance = random.Random(point)
    faults = Faults(0.1, kinds=["lost", "reset"], seed=point)
    with Killing(chance.randrange(requests), faults=faults) as fake:
        fake.victim = run(fake, tmp_path / "run")
        fake.started.set()
        assert fake.victim.wait() == -signal.SIGKILL
        before = Counter(str(one) + str(one.params) for one in fake.seen if one.path == "/memory/search")
        fake.at = -1
        assert run(fake, tmp_path / "run").wait() == 0
        assert meaning(tmp_path / "run") == meaning(folder)
        assert fake.stored_twice == 0
        live = [one for one in fake.records.values() if one["active"]]
        assert len(live) == CONTAINERS * SESSIONS
        # A search may be asked again where its answer was lost, or was on its way when the process died.
        asked = Counter(str(one) + str(one.params) for one in fake.seen if one.path == "/memory/search")
        again = sum(asked.values()) - len(asked)
        assert again <= faults.happened.total() + threads(8)
        assert len(before) <= len(asked) == CONTAINERS
