"""Sources of hostile sizes, converted in a fresh process each: every one must be read, in less than 500 MB.

    python -m tests.converters.hostile [NAME ...] [--folder FOLDER]

Memory is the peak resident set of the whole process after its exec, with the interpreter and its libraries.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
MAX_MEGABYTES: Final = 500
TURN_BYTES: Final = 50_000_000
SESSIONS: Final = 100_000
EMPTY: Final = 1_000_000
DATE: Final = '"2023/05/20 (Sat) 08:05"'
_BLOCK: Final = 10_000

# A child's own peak as the kernel counts it starts from what it was forked from; this is counted after its exec.
CONVERT: Final = r"""
import re, sys
from pathlib import Path
from converters.convert import convert_corpus
from converters.errors import BadInput
try:
    print(convert_corpus(Path(sys.argv[1]), "longmemeval", Path(sys.argv[2])).counts["haystack_rows"])
except BadInput as error:
    print(error.line)
print(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])
"""


class Measured(NamedTuple):
    """The sessions that were read, or the line of a refusal; peak megabytes and seconds of the process."""

    told: str
    megabytes: float
    seconds: float


def one_turn() -> Iterator[str]:
    """A record with a turn of 50 MB."""
    yield from _record("1", _repeated(DATE, 1), _repeated('"answer_1"', 1), _turn("x" * 999 + " ", TURN_BYTES // 1_000))


def one_turn_of_escapes() -> Iterator[str]:
    """As ``one_turn``, each character as an escape of six bytes, and wide where it is read: text of 25 MB."""
    escapes = r"\u4e2d" * 999 + r"\n"
    yield from _record("1", _repeated(DATE, 1), _repeated('"answer_1"', 1), _turn(escapes, TURN_BYTES // len(escapes)))


def many_sessions() -> Iterator[str]:
    """A haystack of 100,000 sessions of one short turn, all distinct."""
    sessions = (f'[{{"role": "user", "content": "I saw {number} owls."}}]' for number in range(SESSIONS))
    ids = (f'"answer_{number}"' for number in range(SESSIONS))
    yield from _record("1", _repeated(DATE, SESSIONS), _joined(ids), _joined(sessions))


def empty_sessions() -> Iterator[str]:
    """A haystack of 1,000,000 sessions without a turn."""
    ids = (f'"answer_{number}"' for number in range(EMPTY))
    yield from _record("1", _repeated(DATE, EMPTY), _joined(ids), _repeated("[]", EMPTY))


def empty_sessions_of_many() -> Iterator[str]:
    """1,000,000 sessions without a turn, 1,000 in each of 1,000 haystacks."""
    for number in range(1_000):
        ids = (f'"answer_{place}"' for place in range(1_000))
        yield ", " if number else ""
        yield from _record(str(number), _repeated(DATE, 1_000), _joined(ids), _repeated("[]", 1_000))


SOURCES: Final[Mapping[str, tuple[Callable[[], Iterator[str]], int]]] = {
    "one_turn": (one_turn, 1),
    "one_turn_of_escapes": (one_turn_of_escapes, 1),
    "many_sessions": (many_sessions, SESSIONS),
    "empty_sessions": (empty_sessions, EMPTY),
    "empty_sessions_of_many": (empty_sessions_of_many, EMPTY),
}
"""By name: what writes it, and the sessions it holds."""


def _record(name: str, dates: Iterator[str], ids: Iterator[str], sessions: Iterator[str]) -> Iterator[str]:
    outside = {"question_id": name, "question_type": "multi-session", "question": "How many?", "answer": "all"}
    yield json.dumps(outside)[:-1] + f', "question_date": {DATE}, "answer_session_ids": ["answer_1"]'
    for key, parts in (("haystack_dates", dates), ("haystack_session_ids", ids), ("haystack_sessions", sessions)):
        yield f', "{key}": ['
        yield from parts
        yield "]"
    yield "}"


def _turn(text: str, n: int) -> Iterator[str]:
    yield '[{"role": "user", "content": "'
    for _ in range(n):
        yield text
    yield '"}]'


def _repeated(part: str, n: int) -> Iterator[str]:
    for first in range(0, n, _BLOCK):
        yield ("," if first else "") + ",".join([part] * min(_BLOCK, n - first))


def _joined(parts: Iterator[str]) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield f",{part}" if number else part


def write(name: str, path: Path) -> None:
    """Write a source, a part at a time."""
    with path.open("w", encoding="ascii") as handle:
        handle.write("[")
        handle.writelines(SOURCES[name][0]())
        handle.write("]")


def measure(source: Path, out: Path) -> Measured:
    """Convert a source in a process of its own."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", CONVERT, str(source), str(out)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    told, peak = done.stdout.splitlines()
    return Measured(told, int(peak) * 1024 / 1e6, time.monotonic() - started)


def main() -> int:
    """Print a line a source; 1 where one is not read, or takes more memory."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SOURCES))
    parser.add_argument("--folder", type=Path, help="where sources are written for the while")
    arguments = parser.parse_args()
    failed = 0
    for name in arguments.names or SOURCES:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            source = Path(folder) / "source.json"
            write(name, source)
            found = measure(source, Path(folder) / "corpus")
            holds = found.told == str(SOURCES[name][1]) and found.megabytes < MAX_MEGABYTES
            size = source.stat().st_size / 1e6
        failed += not holds
        print(
            f"{'ok' if holds else 'FAILED':<8}{name:<24}{size:>6.0f} MB read{found.megabytes:>6.0f} MB held"
            f"{found.seconds:>6.1f} s  {found.told}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
