"""Our conversion to corpus tables, against what ijson can do.

- ``pass``: a bare ``ijson.items`` pass over an M-shaped file, which keeps nothing. Must hold: at most twice its time,
  less than 500 MB.
- ``loop``: a plain loop in one thread over real text: records from ``ijson.items``, their turns in lists, a row
  group of the same codec whenever those hold two million characters; no hashes, nothing stored once. Must hold: we
  are at least 1.5 times as fast, in less than 250 MB.

Each runs in a fresh process, in turn; the best of the rounds counts. Measure on an idle machine.

    python -m benchmarks.convert_vs_ijson pass [--megabytes 2600] [--file FILE]
    python -m benchmarks.convert_vs_ijson loop --real longmemeval_s.json [--megabytes 270] [--file FILE]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import longmemeval_file, repeated
from benchmarks.convert_vs_json_load import OURS
from benchmarks.processes import best, line, measure

PASS = (
    "import ijson",
    """
with open(sys.argv[1], 'rb') as source:
    for record in ijson.items(source, 'item', use_float=True):
        pass
""",
)
LOOP = (
    "import ijson, pyarrow as pa, pyarrow.parquet as pq",
    """
NAMES = ['question_id', 'date', 'session_id', 'turn_index', 'role', 'content']
TYPES = [pa.string()] * 3 + [pa.int64()] + [pa.string()] * 2
schema = pa.schema(list(zip(NAMES, TYPES)))
columns, held = [[] for _ in NAMES], 0
with open(sys.argv[1], 'rb') as source, pq.ParquetWriter(sys.argv[2], schema, compression='snappy') as writer:
    def flush():
        writer.write_table(pa.table([pa.array(values, type) for values, type in zip(columns, TYPES)], schema=schema))
        for values in columns:
            values.clear()
    for record in ijson.items(source, 'item', use_float=True):
        haystack = zip(record['haystack_dates'], record['haystack_session_ids'], record['haystack_sessions'])
        for date, session_id, session in haystack:
            for index, turn in enumerate(session):
                row = (record['question_id'], date, session_id, index, turn['role'], turn['content'])
                for values, value in zip(columns, row):
                    values.append(value)
                held += len(turn['content'])
        if held >= 2_000_000:
            flush()
            held = 0
    flush()
""",
)
# Rival, the time of ours in terms of its own at most, megabytes of ours at most.
KINDS = {"pass": (PASS, 2.0, 500), "loop": (LOOP, 1 / 1.5, 250)}


def compare(kind: str, source: Path, rounds: int) -> bool:
    """Print both and their ratio; whether the bounds hold."""
    code, max_ratio, max_megabytes = KINDS[kind]
    rivals, own = [], []
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        for number in range(rounds):
            rivals.append(measure(*code, str(source), str(Path(folder) / f"rival{number}.parquet")))
            own.append(measure(*OURS, str(source), str(Path(folder) / f"corpus{number}")))
    rival, ours = best(rivals), best(own)
    print(line(f"ijson, {kind}", rival))
    print(line("conversion", ours))
    ratio = ours.seconds / rival.seconds
    rate = source.stat().st_size / ours.seconds / 1e6
    print(f"time ratio {ratio:.2f} (at most {max_ratio:.2f}), {1 / ratio:.2f} times as fast; {rate:.0f} MB/s")
    print(f"memory {ours.megabytes:.0f} MB (less than {max_megabytes})")
    return ratio <= max_ratio and ours.megabytes < max_megabytes


def main() -> int:
    """Make the file unless one is given, compare, and say by the exit status whether the bounds hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--megabytes", type=float)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--real", type=Path, help="real records to repeat, for loop")
    parser.add_argument("--file", type=Path, help="a file to use instead of a made one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = arguments.file or Path(folder) / "made.json"
        if arguments.file is None and arguments.kind == "pass":
            made = longmemeval_file.write(source, int((arguments.megabytes or 2600) * 1e6), shape="m")
            print(f"{made.n_bytes:,} bytes, {made.n_questions} questions, {made.distinct_share:.0%} distinct texts")
        elif arguments.file is None:
            if arguments.real is None:
                parser.error("loop needs real records: --real FILE, or --file FILE")
            n_bytes = repeated.write(arguments.real, source, int((arguments.megabytes or 270) * 1e6))
            print(f"{n_bytes:,} bytes, {arguments.real.name} repeated")
        return 0 if compare(arguments.kind, source, arguments.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
