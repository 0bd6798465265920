"""What our loop adds to calls of models: 500 questions, a reader and two judges, 100 ms a call, 20 at a time.

    python -m benchmarks.model_calls
    python -m benchmarks.model_calls --profile      where the time goes, one call at a time

The server is the tests' OpenAI in a process of its own. The rival is a bare loop over the openai client, which makes
the same calls in as many threads and keeps nothing. Ours includes prompts, the ledger, verdicts and tables; imports and
the start of a step are in neither. The runs alternate; asserted: every question is answered and judged twice.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "eval_assets")]

from asking import Asks, answered, asks, chat, judged  # noqa: E402
from fakes.openai import FakeOpenAI  # noqa: E402
from openai import OpenAI  # noqa: E402

from eval_assets.ledger.tables import CALLS  # noqa: E402

_SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
from fakes.openai import FakeOpenAI
class Quick(FakeOpenAI):
    def handle(self, seen):
        self.seen.clear()
        return super().handle(seen)
with Quick(latency_s=float(sys.argv[2])) as fake:
    print(fake.url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def server(latency_s: float) -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-c", _SERVER, str(_TESTS), str(latency_s)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdin is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


def ours(url: str, made: Asks, concurrency: int) -> tuple[float, Sequence[Sequence[Mapping[str, Any]]]]:
    """Seconds, and the bodies that were sent: answers, judgments, judgments."""
    manners: dict[str, Any] = {"concurrency": concurrency, "timeout_s": 60.0, "deadline_s": 300.0}
    with (
        tempfile.TemporaryDirectory() as folder,
        chat(url, Path(folder), "gpt_4o", **manners) as reader,
        chat(url, Path(folder), "gpt_5_mini", **manners) as other,
    ):
        started = time.perf_counter()
        answers = answered(made, reader)
        first = judged(made, reader, answers)
        second = judged(made, other, answers)
        took = time.perf_counter() - started
        number = made.questions.height
        assert [frame["status"].to_list() for frame in (answers, first, second)] == [["ok"] * number] * 3
        with reader.ledger.reading() as connection:
            kept = connection.execute(CALLS.select().order_by(CALLS.c.id)).mappings().all()
    bodies = [json.loads(row["request"])["body"] for row in kept]
    return took, [bodies[start : start + number] for start in range(0, 3 * number, number)]


def bare(url: str, phases: Sequence[Sequence[Mapping[str, Any]]], concurrency: int) -> float:
    """Seconds for the same calls, one phase after the other."""
    with OpenAI(api_key=FakeOpenAI.key, base_url=f"{url}/v1", max_retries=0, timeout=60) as client:
        started = time.perf_counter()
        for bodies in phases:
            with ThreadPoolExecutor(concurrency) as threads:

                def ask(body: Mapping[str, Any]) -> str | None:
                    return client.chat.completions.create(**body).choices[0].message.content  # type: ignore[no-any-return]

                assert all(threads.map(ask, bodies))
        return time.perf_counter() - started


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--concurrency", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="where the time goes, one call at a time")
    arguments = parser.parse_args()
    made = asks(arguments.questions)
    if arguments.profile:
        with server(0.0) as url, cProfile.Profile() as profile:
            # One at a time is done in this thread, and a profile sees no other.
            ours(url, made, 1)
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)
        return
    with server(arguments.latency) as url:
        ours(url, asks(20), arguments.concurrency)
        pairs = []
        for _ in range(arguments.runs):
            mine, phases = ours(url, made, arguments.concurrency)
            pairs.append((mine, bare(url, phases, arguments.concurrency)))
    ideal = 3 * arguments.questions * arguments.latency / arguments.concurrency
    for mine, rival in pairs:
        print(f"ours {mine:.2f} s, bare loop {rival:.2f} s: {mine / rival:.3f} of it (ideal {ideal:.2f} s)")


if __name__ == "__main__":
    main()
