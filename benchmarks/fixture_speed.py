"""Corpus tables of a 260 MB S-shaped file to a fixture of turns, against a plain loop of ``json.dumps``.

The rival is told the same memories, read and prepared beforehand, and writes each of them to a file: no tables are
read, no ids made, no sidecar, no digest, no batches. Each runs in a fresh process, in turn. Time is the wall clock of
the call, memory the peak resident set of the whole process, and a megabyte is 10^6 bytes of output: of the fixture, and
of the batches where they are written too. The best of the rounds counts. Must hold: 100 MB/s, with and without batches.

    python -m benchmarks.fixture_speed [--megabytes 260] [--rounds 3] [--corpus FOLDER]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks import longmemeval_file
from benchmarks.processes import Measured, best, line, measure
from converters.convert import convert_corpus

MIN_SPEED = 100.0
RIVAL = (
    "import json; memories = json.load(open(sys.argv[1], encoding='utf-8'))['memories']",
    """
with open(sys.argv[2], 'w', encoding='utf-8') as file:
    file.write('{"memories": [')
    for memory in memories:
        file.write(json.dumps(memory, ensure_ascii=False) + ',\\n')
    file.write(']}')
""",
)
OURS = (
    "from converters.between import Request, to_fixture; from converters.fixture.write import FixtureSettings",
    """
settings = FixtureSettings('turn', batches=sys.argv[3] == 'batches')
request = Request([], [], None, 0, False, lambda *_: None, lambda *_: None)
to_fixture(Path(sys.argv[1]), Path(sys.argv[2]), settings, request)
""",
)


def compare(corpus: Path, folder: Path, rounds: int) -> bool:
    """Print the speeds, peak memories and ratios; whether the bound holds."""
    fixture, rival = folder / "fixture.json", folder / "rival.json"
    runs: dict[str, list[Measured]] = {"fixture and batches": [], "fixture alone": [], "json.dumps": []}
    megabytes: dict[str, float] = {}
    for _ in range(rounds):
        for name, kind in (("fixture and batches", "batches"), ("fixture alone", "alone")):
            for old in (fixture.with_name("fixture.sidecar.json"), fixture, rival):
                old.unlink(missing_ok=True)
            shutil.rmtree(fixture.with_name("fixture.batches"), ignore_errors=True)
            runs[name].append(measure(*OURS, str(corpus), str(fixture), kind))
            batches = list(fixture.with_name("fixture.batches").glob("*"))
            megabytes[name] = sum(path.stat().st_size for path in (fixture, *batches)) / 1e6
        runs["json.dumps"].append(measure(*RIVAL, str(fixture), str(rival)))
        megabytes["json.dumps"] = rival.stat().st_size / 1e6
    speeds = {name: megabytes[name] / best(measured).seconds for name, measured in runs.items()}
    for name, speed in speeds.items():
        print(f"{line(name, best(runs[name]))}{speed:>7.0f} MB/s: {speed / speeds['json.dumps']:.2f} of json.dumps")
    print(f"at least {MIN_SPEED:.0f} MB/s must hold")
    return min(speed for name, speed in speeds.items() if name != "json.dumps") >= MIN_SPEED


def main() -> int:
    """Make the corpus unless one is given, compare, and say by the exit status whether the bound holds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=float, default=260)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--corpus", type=Path, help="a folder of corpus tables to use instead of a made one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = arguments.corpus
        if corpus is None:
            source, corpus = folder / "s_shaped.json", folder / "corpus"
            made = longmemeval_file.write(source, int(arguments.megabytes * 1e6))
            convert_corpus(source, "longmemeval", corpus)
            source.unlink()
            print(f"{made.n_bytes:,} bytes, {made.n_questions} questions, {made.distinct_share:.0%} distinct texts")
        return 0 if compare(corpus.resolve(), folder, arguments.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
