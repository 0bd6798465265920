"""Which inspector reads which format. A new format is one line here; without one its converter does the reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from converters.detect import sniff_format
from converters.inspect.report import Inspection

if TYPE_CHECKING:
    Progress = Callable[[int], None]


class Inspector(Protocol):
    """Reads a file of its format; raises ``BadInput`` where it is not."""

    def __call__(self, path: Path, progress: Progress | None = None, /) -> Inspection:
        """What the file holds; ``progress`` is told how many of its bytes are read."""


def _longmemeval() -> Inspector:
    from converters.inspect.longmemeval import inspect_longmemeval

    return inspect_longmemeval


def _fixture() -> Inspector:
    from converters.inspect.fixture import inspect_fixture

    return inspect_fixture


INSPECTORS: Final[Mapping[str, Callable[[], Inspector]]] = {"longmemeval": _longmemeval, "fixture": _fixture}


def inspect_source(path: Path, progress: Progress | None = None) -> Inspection:
    """Inspect a file in any known format, or a folder of corpus tables.

    Args:
        path: the file (plain or gzipped, any name), or the folder.
        progress: told how many bytes of the file are read.

    Raises:
        BadInput: it cannot be read, or is not as its format says: names the record and the field.
    """
    if path.is_dir():
        from converters.inspect.corpus import inspect_corpus

        return inspect_corpus(path)
    format = sniff_format(path)
    if format in INSPECTORS:
        return INSPECTORS[format]()(path, progress)
    from converters.inspect.converted import inspect_converted

    return partial(inspect_converted, format=format)(path, progress=progress)
