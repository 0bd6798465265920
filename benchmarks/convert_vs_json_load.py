"""Our conversion of a 260 MB S-shaped file to Parquet, against a whole-file ``json.load`` of it.

Each runs in a fresh process, in turn. Time is the wall clock of the call (what a process takes in all, with its start
and its imports, stands beside it), memory the peak resident set of the whole process. The best of the rounds counts.
Must hold: at most twice the time, at most a third of the memory. The conversion uses two cores: measure on an idle
machine.

    python -m benchmarks.convert_vs_json_load [--megabytes 260] [--rounds 3] [--file FILE]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import longmemeval_file

MAX_TIME_RATIO = 2.0
MAX_MEMORY_RATIO = 1 / 3
# A child's own peak as the kernel counts it starts from what it was forked from; this is counted after its exec.
PEAK = "import re; print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
CLOCK = "import sys, time; from pathlib import Path; {imports}; started = time.perf_counter()"
TOLD = "print(time.perf_counter() - started)"
RIVAL = f"""
{CLOCK.format(imports="import json")}
records = json.load(open(sys.argv[1], encoding='utf-8'))
{TOLD}
"""
OURS = f"""
{CLOCK.format(imports="from converters.longmemeval_corpus import convert_longmemeval")}
convert_longmemeval(Path(sys.argv[1]), Path(sys.argv[2]))
{TOLD}
"""


def measure(code: str, *arguments: str) -> tuple[float, float, float]:
    """Seconds of the call, of the whole process, and its peak megabytes."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{PEAK}", *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    seconds, peak = done.stdout.split()
    return float(seconds), time.perf_counter() - started, int(peak) * 1024 / 1e6


def compare(source: Path, rounds: int) -> bool:
    """Print both and their ratios; whether they hold."""
    rival, ours = [], []
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        for number in range(rounds):
            rival.append(measure(RIVAL, str(source)))
            ours.append(measure(OURS, str(source), str(Path(folder) / f"corpus{number}")))
    rows = {"json.load": rival, "conversion": ours}
    best = {name: tuple(min(values) for values in zip(*runs, strict=True)) for name, runs in rows.items()}
    for name, (seconds, process, megabytes) in best.items():
        print(f"{name:<12}{seconds:>8.2f} s   process {process:>6.2f} s{megabytes:>9.0f} MB")
    time_ratio, process_ratio, memory_ratio = (best["conversion"][item] / best["json.load"][item] for item in range(3))
    print(f"time ratio {time_ratio:.2f} (at most {MAX_TIME_RATIO}); of whole processes {process_ratio:.2f}")
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
