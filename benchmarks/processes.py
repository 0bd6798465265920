"""Measures a piece of code in a fresh process: its seconds, and the peak memory of the process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_START = "import sys, time; from pathlib import Path; {imports}; started = time.perf_counter()"
# A child's own peak as the kernel counts it starts from what it was forked from; this is counted after its exec.
_END = """
print(time.perf_counter() - started)
import re; print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])
"""


@dataclass(frozen=True)
class Measured:
    """What one process took.

    Attributes:
        seconds: of the code, imports aside.
        process: seconds of the whole process, with its start and its imports.
        megabytes: peak resident memory of the process.
    """

    seconds: float
    process: float
    megabytes: float


def measure(imports: str, code: str, *arguments: str) -> Measured:
    """Run the code, which finds its arguments in ``sys.argv``."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", f"{_START.format(imports=imports)}\n{code}\n{_END}", *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )
    seconds, peak = done.stdout.split()[-2:]
    return Measured(float(seconds), time.perf_counter() - started, int(peak) * 1024 / 1e6)


def best(runs: list[Measured]) -> Measured:
    """The least of each."""
    return Measured(
        min(run.seconds for run in runs), min(run.process for run in runs), min(run.megabytes for run in runs)
    )


def line(name: str, measured: Measured) -> str:
    """A line for a reader."""
    return (
        f"{name:<28}{measured.seconds:>8.2f} s   process {measured.process:>6.2f} s{measured.megabytes:>9.0f} MB memory"
    )
