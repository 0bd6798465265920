"""The rows of a data set on this disk, one after the other.

Parquet, CSV and saved data sets are read by Hugging Face ``datasets``, streamed or mapped into memory: nothing is
copied into a cache, nothing in the home folder is touched, and no network is needed. The library takes seconds to load,
and so is imported where it is used. JSON is read without it, see ``converters.json_rows``.
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from converters.errors import BadInput
from converters.folder_digest import source_files
from converters.json_rows import read_json_rows
from converters.source import open_source

_BEGINNINGS: Final = {b"PAR1": "Parquet", b"[": "JSON", b"{": "JSON lines"}
_KNOWN: Final = "give Parquet, JSON, JSON lines or CSV, or a folder written by save_to_disk"
_SAVED: Final = ("state.json", "dataset_dict.json")
_ASIDE: Final = (".md", ".txt")
_SHOWN_CHARACTERS: Final = 200


def read_rows(path: Path, split: str | None) -> Generator[Mapping[str, Any]]:
    """The rows in order, as Python values; labels (``ClassLabel``) by their names.

    A reader that may stop before the end closes the generator, and with it the files.

    Args:
        path: a file of Parquet, JSON (an array of objects), JSON lines or CSV, plain or gzipped, whatever its name; a
            folder of such files of one kind, read in the order of their names (.md and .txt are left aside); or a
            folder that ``save_to_disk`` wrote.
        split: which split of a folder that holds several.

    Raises:
        BadInput: it cannot be read as what it is, or has no such split.
    """
    if path.is_dir() and any((path / name).is_file() for name in _SAVED):
        yield from _told(path, lambda _: _saved(path, split))
        return
    if split is not None:
        raise BadInput(path, "has no splits", "leave split out of the mapping", field="split")
    files = [file for file in source_files(path) if file == path or file.suffix not in _ASIDE]
    kinds = {_kind(file) for file in files}
    if len(kinds) != 1:
        found = " and ".join(sorted(kinds)) or "nothing"
        raise BadInput(path, f"should hold files of one kind, holds {found}", _KNOWN)
    kind = kinds.pop()
    if kind in {"JSON", "JSON lines"}:
        for file in files:
            yield from read_json_rows(file, lines=kind == "JSON lines")
    else:
        yield from _told(path, lambda cache: _streamed(files, kind, cache))


def _told(path: Path, open_rows: Callable[[str], Any]) -> Generator[Mapping[str, Any]]:
    """The rows that the library gives, and what it raises as ``BadInput``."""
    with tempfile.TemporaryDirectory(prefix="eval-assets-") as cache:
        try:
            opened = open_rows(cache)
            named = _labels(opened)
            with closing(iter(opened)) as rows:
                for row in rows:
                    yield {
                        name: named[name](value) if name in named and value is not None else value
                        for name, value in row.items()
                    }
        except BadInput:
            raise
        except Exception as error:
            cause = error.__cause__ or error
            said = f"{type(cause).__name__}: {str(cause)[:_SHOWN_CHARACTERS]}"
            raise BadInput(path, f"cannot be read ({said})", _KNOWN) from None


def _labels(opened: Any) -> dict[str, Callable[[int], str]]:
    import datasets

    features = opened.features or {}
    return {name: feature.int2str for name, feature in features.items() if isinstance(feature, datasets.ClassLabel)}


def _streamed(files: list[Path], kind: str, cache: str) -> Any:
    import datasets

    # Not load_dataset: it tells a server what is loaded, even from a local file.
    names = [str(file) for file in files]
    if kind == "Parquet":
        return datasets.IterableDataset.from_parquet(names, cache_dir=cache)
    # Texts all, else "007" becomes a number and "None" nothing.
    columns = dict.fromkeys(column for file in files for column in _header(file))
    features = datasets.Features(dict.fromkeys(columns, datasets.Value("string")))
    return datasets.IterableDataset.from_csv(names, features=features, cache_dir=cache, keep_default_na=False)


def _saved(path: Path, split: str | None) -> Any:
    import datasets

    saved = datasets.load_from_disk(str(path))
    if not isinstance(saved, datasets.DatasetDict):
        if split is not None:
            raise BadInput(path, "has no splits", "leave split out of the mapping", field="split")
        return saved
    chosen = split or (next(iter(saved)) if len(saved) == 1 else None)
    if chosen in saved:
        return saved[chosen]
    problem = f"has no split {split!r}" if split else "has several splits"
    raise BadInput(path, problem, f"name one of {', '.join(sorted(saved))} as split in the mapping", field="split")


def _kind(path: Path) -> str:
    with open_source(path, mark_surrogates=False) as reader:
        data = reader.read(1)
        while data and not data.strip():
            data = reader.read(1)
    kind = next((kind for begin, kind in _BEGINNINGS.items() if data.lstrip().startswith(begin)), "CSV")
    if kind == "CSV" and b"\0" in data:
        raise BadInput(path, "is of no known kind", _KNOWN)
    return kind


def _header(path: Path) -> list[str]:
    with open_source(path, mark_surrogates=False) as reader:
        beginning = reader.read(1).decode(errors="replace")
    return next(csv.reader(io.StringIO(beginning, newline="")), [])
