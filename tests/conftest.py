"""Where the real benchmark files are, for the tests that read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast an example runs says how busy the machine is, and nothing of the code.
settings.register_profile(
    "ours",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "25")),
)
settings.load_profile("ours")

ROOT = Path(__file__).resolve().parent.parent


def _real(name: str) -> Path:
    folder = Path(os.environ.get("LONGMEMEVAL_DATA") or ROOT.parent / "shared" / "data")
    path = folder / name
    if not path.is_file():
        pytest.skip(f"no {name} in {folder}: set LONGMEMEVAL_DATA to the folder that holds the real benchmark files")
    return path


@pytest.fixture(scope="session")
def real_oracle() -> Path:
    """The official oracle file, gzipped: 500 questions."""
    return _real("longmemeval_oracle.json.gz")


@pytest.fixture(scope="session")
def real_s59() -> Path:
    """59 real records of the cleaned S file with full haystacks, gzipped."""
    return _real("longmemeval_s_real59.json.gz")


@pytest.fixture(scope="session")
def real_locomo() -> Path:
    """The published LoCoMo file: ten conversations."""
    return _real("locomo10.json")
