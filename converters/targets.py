"""What a corpus can become: a line each, whose code is loaded when it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import polars as pl

from converters.formats.files import Progress


@dataclass(frozen=True)
class Target:
    """A format that is written from corpus tables.

    Attributes:
        writer: ``module:function`` that takes tables, a place, ``force`` and ``progress`` (how many parts are written,
            and of how many), and says what it wrote in lines.
        about: what it makes, for a reader.
    """

    writer: str
    about: str

    def write(
        self, tables: Mapping[str, pl.DataFrame], out: Path, *, force: bool, progress: Progress | None
    ) -> Sequence[str]:
        """Write the tables; raises ``BadInput`` where they cannot become this, or the place cannot be written to."""
        module, function = self.writer.split(":")
        writer: Any = getattr(import_module(module), function)
        lines: Sequence[str] = writer(tables, out, force=force, progress=progress)
        return lines


TARGETS: Final[Mapping[str, Target]] = {
    "longmemeval": Target("converters.formats.longmemeval:write", "a LongMemEval JSON file"),
    "beir": Target("converters.formats.beir:write", "a BEIR folder: corpus, queries, judgments"),
    "trec-qrels": Target("converters.formats.trec:write", "a TREC file of relevance judgments"),
    "datasets": Target("converters.formats.datasets:write", "a folder for datasets.load_dataset, with its card"),
}
