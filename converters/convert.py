"""A source in a known format to corpus tables, in one pass over its bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from converters.errors import BadInput

if TYPE_CHECKING:
    from converters.conversion import Conversion
    from converters.datasets_mapping import DatasetMapping

FORMATS: Final = ("longmemeval", "locomo", "datasets", "fixture")


def convert_corpus(
    source: Path,
    format: str,
    folder: Path,
    provenance: Mapping[str, object] | None = None,
    progress: Callable[[int], None] | None = None,
    mapping: DatasetMapping | None = None,
) -> Conversion:
    """Convert a source to corpus tables in ``folder``, which appears when all of it is written.

    Args:
        source: plain or gzipped, whatever its name; for ``datasets`` a folder as well.
        format: one of ``FORMATS``; ``converters.detect.sniff_format`` tells.
        folder: where the tables go; replaced if it holds Parquet files alone.
        provenance: facts for each file's footer, JSON-able, beside the source's own.
        progress: told how many bytes of the file are read.
        mapping: for ``datasets``, which columns hold what; by default they are named as LongMemEval's.

    Raises:
        BadInput: the source is not as its format says, or the folder cannot be written to. Nothing is left behind.
    """
    if format == "longmemeval":
        from converters.longmemeval_corpus import convert_longmemeval

        return convert_longmemeval(source, folder, provenance, progress)
    if format == "locomo":
        from converters.locomo_corpus import convert_locomo

        return convert_locomo(source, folder, provenance, progress)
    if format == "datasets":
        from converters.datasets_corpus import convert_datasets

        return convert_datasets(source, folder, provenance, progress, mapping)
    if format == "fixture":
        from converters.fixture.read import convert_fixture

        return convert_fixture(source, folder, provenance)
    raise BadInput(source, f"unknown format {format!r}", f"choose one of {', '.join(FORMATS)}")
