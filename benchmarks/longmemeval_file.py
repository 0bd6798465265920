"""Writes a LongMemEval file of a wanted size: S- or M-shaped records of made-up text, the same for the same seed.

As in the published files: ASCII with escapes (a line break in about 120 characters, a quote in about 1,000), indent 4,
38 to 62 sessions a question (M: 460 to 490) of about 10 turns each, 0.5 MB a question (M: 5.7 MB). Sessions are drawn
from a pool, so that some texts appear in several haystacks; the share of distinct texts is printed.

    python -m benchmarks.longmemeval_file OUT.json --megabytes 260
    python -m benchmarks.longmemeval_file OUT.json --megabytes 2600 --shape m
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from converters.dates import format_date

TYPES = (
    "single-session-user",
    "multi-session",
    "single-session-preference",
    "temporal-reasoning",
    "knowledge-update",
    "single-session-assistant",
)
START = datetime(2023, 5, 1, tzinfo=UTC)
# 84 in 100 texts are then distinct, whatever the size. Real text repeats less: 97 in 100 of 59 questions of S.
POOL_SESSIONS_PER_BYTE = 61_000 / 260e6
SHAPES = {"s": (38, 62), "m": (460, 490)}
SYLLABLES = ("ka", "lo", "mer", "tin", "os", "ve", "ra", "shu", "dal", "pe", "nor", "qui", "za", "bel", "fro", "gan")
RARE = ("naïve", "café", "“quoted”", "— so", "🙂", "über", "日本")


@dataclass(frozen=True)
class Made:
    """A written file: its size, its questions and haystack rows, and the share of texts that are distinct."""

    n_bytes: int
    n_questions: int
    n_sessions: int
    distinct_share: float


def words() -> list[str]:
    """A vocabulary of 4,000 made-up words."""
    rng = random.Random("words")
    return ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(4_000)]


def session(number: int, vocabulary: list[str]) -> list[dict[str, Any]]:
    """The pool's session of that number: 8 to 12 turns, 10,000 characters on average."""
    rng = random.Random(f"session {number}")
    turns = []
    for index in range(rng.randint(8, 12)):
        user = index % 2 == 0
        chosen = rng.choices(vocabulary, k=rng.randint(10, 60) if user else rng.randint(120, 420))
        if rng.random() < 0.1:
            chosen.append(rng.choice(RARE))
        lines = [" ".join(chosen[start : start + 20]) for start in range(0, len(chosen), 20)]
        if rng.random() < 0.4:
            lines[0] = f'"{lines[0]}"'
        turns.append({"role": "user" if user else "assistant", "content": ".\n".join(lines)})
    return turns


def record(number: int, pool: list[int], vocabulary: list[str]) -> dict[str, Any]:
    """Question ``number``, with the pool's sessions of these numbers as its haystack."""
    rng = random.Random(f"record {number}")
    dates = sorted(START + timedelta(minutes=rng.randrange(40_000)) for _ in pool)
    sessions = [session(item, vocabulary) for item in pool]
    gold = rng.randrange(len(pool))
    ids = [f"filler_{item}" for item in pool]
    ids[gold] = f"answer_{number:08x}"
    for index, turn in enumerate(sessions[gold]):
        turn["has_answer"] = index == 0
    return {
        "question_id": f"{number:08x}" + ("_abs" if number % 17 == 16 else ""),
        "question_type": TYPES[number % len(TYPES)],
        "question": f"What did I say of {rng.choice(vocabulary)}?",
        "answer": number if number % 15 == 0 else rng.choice(vocabulary),
        "question_date": format_date(dates[-1] + timedelta(minutes=5)),
        "haystack_dates": [format_date(date) for date in dates],
        "haystack_session_ids": ids,
        "haystack_sessions": sessions,
        "answer_session_ids": [ids[gold]],
    }


def _records(seed: int, shape: str, pool_sessions: int, chosen: list[int]) -> Iterator[str]:
    vocabulary = words()
    rng = random.Random(f"haystacks {seed}")
    number = 0
    while True:
        pool = rng.sample(range(pool_sessions), k=rng.randint(*SHAPES[shape]))
        chosen += pool
        text = json.dumps(record(number, pool, vocabulary), indent=4)
        yield "\n".join(f"    {line}" for line in text.split("\n"))
        number += 1


def write(path: Path, n_bytes: int, seed: int = 0, shape: str = "s") -> Made:
    """Write records until the file has at least ``n_bytes``."""
    chosen: list[int] = []
    n_questions = 0
    with path.open("w", encoding="ascii", newline="\n") as handle:
        handle.write("[")
        for text in _records(seed, shape, max(SHAPES[shape][1], int(n_bytes * POOL_SESSIONS_PER_BYTE)), chosen):
            handle.write(f"{',' if n_questions else ''}\n{text}")
            n_questions += 1
            if handle.tell() >= n_bytes:
                break
        handle.write("\n]\n")
    return Made(path.stat().st_size, n_questions, len(chosen), len(set(chosen)) / len(chosen))


def main() -> None:
    """Write one file and say what it is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("path", type=Path)
    parser.add_argument("--megabytes", type=float, default=260)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="s")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    made = write(arguments.path, int(arguments.megabytes * 1e6), arguments.seed, arguments.shape)
    print(
        f"{arguments.path}: {made.n_bytes:,} bytes, {made.n_questions} questions, {made.n_sessions} sessions, "
        f"{made.distinct_share:.0%} of them distinct"
    )


if __name__ == "__main__":
    main()
