"""Our conversion of a 260 MB S-shaped file to Parquet, against a whole-file ``json.load`` of it.

Each runs in a fresh process, in turn. Time is the wall clock of the call (what a process takes in all, with its start
and its imports, stands beside it), memory the peak resident set of the whole process. The best of the rounds counts.
Must hold: at most twice the time, at most a third of the memory. The conversion uses two cores: measure on an idle
machine.

    python -m benchmarks.convert_vs_json_load [--megabytes 260] [--rounds 3] [--file FILE]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import longmemeval_file
from benchmarks.processes import best, line, measure

MAX_TIME_RATIO = 2.0
MAX_MEMORY_RATIO = 1 / 3
RIVAL = ("import json", "records = json.load(open(sys.argv[1], encoding='utf-8'))")
OURS = (
    "from converters.longmemeval_corpus import convert_longmemeval",
    "convert_longmemeval(Path(sys.argv[1]), Path(sys.argv[2]))",
)


def compare(source: Path, rounds: int) -> bool:
    """Print both and their ratios; whether they hold."""
    rivals, own = [], []
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        for number in range(rounds):
            rivals.append(measure(*RIVAL, str(source)))
            own.append(measure(*OURS, str(source), str(Path(folder) / f"corpus{number}")))
    rival, ours = best(rivals), best(own)
    print(line("json.load", rival))
    print(line("conversion", ours))
    time_ratio, memory_ratio = ours.seconds / rival.seconds, ours.megabytes / rival.megabytes
    print(f"time ratio {time_ratio:.2f} (at most {MAX_TIME_RATIO}); processes {ours.process / rival.process:.2f}")
    print(f"memory ratio {memory_ratio:.2f} (at most {MAX_MEMORY_RATIO:.2f})")
    return time_ratio <= MAX_TIME_RATIO and memory_ratio <= MAX_MEMORY_RATIO


def main() -> int:
    """Make the file unless one is given, compare, and say by the exit status whether the bounds hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=float, default=260)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--file", type=Path, help="a file to use instead of a made one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = arguments.file
        if source is None:
            source = Path(folder) / "s_shaped.json"
            made = longmemeval_file.write(source, int(arguments.megabytes * 1e6))
            print(f"{made.n_bytes:,} bytes, {made.n_questions} questions, {made.distinct_share:.0%} distinct texts")
        return 0 if compare(source, arguments.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
