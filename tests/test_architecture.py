"""Which way the arrows point, how long a file may be, and what a lock file may say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("converters", "providers", "judges", "eval_assets")
LONGEST = 400
MEDIAN = 120


def test_arrows_point_one_way() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert " 0 broken" in done.stdout


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in (ROOT / folder).rglob("*.py")]


def test_no_file_is_long() -> None:
    lines = {path: path.read_text("utf-8").count("\n") for path in python_files(*PACKAGES, "tests", "benchmarks")}
    assert [str(path.relative_to(ROOT)) for path, count in lines.items() if count > LONGEST] == []
    assert median(count for path, count in lines.items() if path.relative_to(ROOT).parts[0] in PACKAGES) <= MEDIAN


def test_importing_a_package_does_no_work() -> None:
    """A package's ``__init__`` loads nothing of ours and nothing of others."""
    code = f"import sys; before = set(sys.modules); import {', '.join(PACKAGES)}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == set(PACKAGES)


def test_the_lock_file_names_no_host() -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    assert re.findall(r"https?://|--(?:extra-)?index-url|--find-links|@ file:", text) == []
    pinned = re.findall(r"^[A-Za-z0-9_.\[\]-]+==", text, re.MULTILINE)
    assert len(pinned) > 50
    assert text.count("--hash=sha256:") >= len(pinned)


@pytest.mark.parametrize("folder", PACKAGES)
def test_nothing_is_left_to_do(folder: str) -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
    assert [str(path) for path in python_files(folder) if marks.search(path.read_text("utf-8"))] == []
