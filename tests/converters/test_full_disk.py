"""A disk that is full in the middle of a conversion: one line, nothing left behind. On real file systems."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from records import record, turn, write

ROOT = Path(__file__).resolve().parents[2]
CONVERT = """
import pathlib, sys
from converters.convert import convert_corpus
from converters.errors import BadInput
source, out = map(pathlib.Path, sys.argv[1:])
try:
    convert_corpus(source, "longmemeval", out / "corpus")
except BadInput as error:
    print(error.line)
print(sorted(path.name for path in out.iterdir()))
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source of 8 MB that hardly compresses."""
    rng = random.Random(0)
    sessions = [[turn("user", rng.randbytes(250_000).hex())] for _ in range(16)]
    made = record(
        haystack_dates=["2023/05/20 (Sat) 08:05"] * 16,
        haystack_session_ids=[f"s{number}" for number in range(16)],
        haystack_sessions=sessions,
        answer_session_ids=["s3"],
    )
    return write(tmp_path_factory.mktemp("large") / "s.json", made)


def _run(room: list[str], source: Path, out: Path) -> list[str]:
    """What the conversion prints; ``room`` is a command that runs another with little room to write."""
    command = [*room, sys.executable, "-c", CONVERT, str(source), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_file_that_may_not_grow(large: Path, tmp_path: Path) -> None:
    line, left = _run(["sh", "-c", 'ulimit -f 1000; exec "$@"', "sh"], large, tmp_path)
    assert line == (
        f"{tmp_path / 'corpus'}: cannot be written (File too large); "
        "raise the limit on file sizes (ulimit -f), or choose another place, and run it again"
    )
    assert left == "[]"


def test_a_file_system_without_room(large: Path, tmp_path: Path) -> None:
    room = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"', str(tmp_path)]
    if shutil.which("unshare") is None or subprocess.run([*room, "true"], check=False).returncode:
        pytest.skip("no small file system: a mount of one's own (unshare -rm) is not allowed here")
    line, left = _run(room, large, tmp_path)
    assert line == (
        f"{tmp_path / 'corpus'}: cannot be written (No space left on device); "
        "free some space, or choose another place, and run it again"
    )
    assert left == "[]"
