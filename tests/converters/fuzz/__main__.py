"""Runs one input again, or many: ``python -m tests.converters.fuzz FORMAT SEED [LAST_SEED]``."""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from .formats import FORMATS
from .law import Broken, check


def main() -> int:
    """Say how each input ended; 1 where the law is broken."""
    label, first = sys.argv[1], int(sys.argv[2])
    last = int(sys.argv[3]) if len(sys.argv) > 3 else first
    ends: Counter[str] = Counter()
    for seed in range(first, last + 1):
        damaged = FORMATS[label].damaged(label, seed)
        with tempfile.TemporaryDirectory() as place:
            if first == last:
                for name, data in damaged.files.items():
                    print(f"{name} ({damaged.kind}): {data[:2_000]!r}")
            started = time.monotonic()
            try:
                end = check(label, FORMATS[label], damaged, seed, Path(place))
            except Broken as error:
                end = "BROKEN"
                print(error)
                if first == last:
                    traceback.print_exception(error.__cause__)
            ends[end if end in ("read", "BROKEN") else "refused"] += 1
            print(f"{label} {seed} {damaged.kind} {time.monotonic() - started:.3f} s: {end}")
    print(dict(ends))
    return 1 if ends["BROKEN"] else 0


if __name__ == "__main__":
    sys.exit(main())
