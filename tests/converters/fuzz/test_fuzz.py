"""Each reader with damaged inputs: see ``law``. ``FUZZ_INPUTS`` says how many a format; ``make soak`` takes 2,000."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
from pathlib import Path

import pytest

from .formats import FORMATS
from .law import GROWTH_BYTES, Broken, check, peak

# A reader that stops in the middle leaves its file to the collector, which closes it.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore:unclosed file:ResourceWarning"
)
INPUTS = int(os.environ.get("FUZZ_INPUTS", "100"))
# A part is a test of its own, so that the formats that take long are spread over the workers of a long run.
PART = 500
# Faults that are known and not mended yet: a fixture's metadata nested too deeply, a date beyond the year 9999 in UTC,
# a sidecar whose numbers name no memory or session. Nothing else may go wrong.
KNOWN: dict[str, tuple[type[Exception], ...]] = dict.fromkeys(
    [label for label in FORMATS if label.startswith(("fixture", "sidecar"))],
    (RecursionError, OverflowError, IndexError),
)


@pytest.mark.parametrize("first", range(0, INPUTS, PART))
@pytest.mark.parametrize("label", FORMATS)
def test_every_input_is_read_whole_or_refused_in_one_line(label: str, first: int, tmp_path: Path) -> None:
    form = FORMATS[label]
    before = peak()
    ends = set()
    for seed in range(first, min(first + PART, INPUTS)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            ends.add(check(label, form, form.damaged(label, seed), seed, folder) == "read")
        except Broken as error:
            if not isinstance(error.__cause__, KNOWN.get(label, ())):
                raise
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
