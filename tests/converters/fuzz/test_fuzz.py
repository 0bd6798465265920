"""Each reader with damaged inputs: see ``law``. ``FUZZ_INPUTS`` says how many a format; ``make soak`` takes 2,000."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
from pathlib import Path

import pytest

from .formats import FORMATS
from .law import GROWTH_BYTES, check, peak

INPUTS = int(os.environ.get("FUZZ_INPUTS", "100"))
# A part is a test of its own, so that the formats that take long are spread over the workers of a long run.
PART = 500
# The library that reads Parquet and CSV (which damaged lines of JSON may pass for) leaves a file it stops in to the
# collector, which closes it.
LEFT_OPEN = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore:unclosed file:ResourceWarning"
)
LEAVES_OPEN = ("datasets_jsonl", "datasets_csv", "datasets_parquet")
LABELS = [pytest.param(label, marks=LEFT_OPEN if label in LEAVES_OPEN else ()) for label in FORMATS]


@pytest.mark.parametrize("first", range(0, INPUTS, PART))
@pytest.mark.parametrize("label", LABELS)
def test_every_input_is_read_whole_or_refused_in_one_line(label: str, first: int, tmp_path: Path) -> None:
    form = FORMATS[label]
    before = peak()
    ends = set()
    for seed in range(first, min(first + PART, INPUTS)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        ends.add(check(label, form, form.damaged(label, seed), seed, folder) == "read")
        shutil.rmtree(folder)
    gc.collect()
    assert ends == {True, False}, "all of them ended alike: the damage is no damage, or the sound source is none"
    assert peak() - before < GROWTH_BYTES, f"{label}: the memory of the process grew by {peak() - before:,} bytes"


@pytest.mark.parametrize("label", FORMATS)
def test_the_sound_source_is_read(label: str, tmp_path: Path) -> None:
    sound = FORMATS[label].damaged(label, 0)
    assert sound.kind == "sound"
    assert check(label, FORMATS[label], sound, 0, tmp_path) == "read"


def test_inputs_are_the_same_in_every_process() -> None:
    for (label, form), seed in itertools.product(FORMATS.items(), (0, 7, 17)):
        assert form.damaged(label, seed).files == form.damaged(label, seed).files
