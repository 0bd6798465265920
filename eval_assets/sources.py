"""The file of a benchmark, and whether it is still the one that a materialization saw."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from converters.datasets_mapping import DatasetMapping
from converters.errors import BadInput
from converters.folder_digest import source_files, source_fingerprint
from converters.source import SourceFingerprint
from eval_assets.project import Project
from eval_assets.settings import Settings

FILE: Final = "file"
SHA256: Final = "sha256"
SIDECAR: Final = "sidecar sha256"
FORMAT: Final = "format"
MAPPING: Final = "mapping sha256"
STAT: Final = "eval_assets/source_stat"
_VERSIONED: Final = (FORMAT, SHA256, SIDECAR, MAPPING)


@dataclass(frozen=True)
class Source:
    """A benchmark's file; a fixture's sidecar, which holds labels, and a data set's column mapping belong to it."""

    path: Path
    format: str
    mapping: DatasetMapping | None = None

    @property
    def sidecar(self) -> Path | None:
        """The sidecar, if there is one."""
        if self.format != "fixture":
            return None
        from converters.fixture.sidecar import sidecar_path

        path = sidecar_path(self.path)
        return path if path.is_file() else None

    def stat(self) -> dict[str, Any]:
        """What is compared before anything is hashed again: place, size and time of the files."""
        files = [*source_files(self.path), *([self.sidecar] if self.sidecar else [])]
        return {str(path): list(_stat(path)) for path in files}

    def facts(self) -> dict[str, Any]:
        """Digest and size of the unpacked bytes, and the format; reads the files. See ``data_version``."""
        found = _fingerprint(self.path, _stats(self.path))
        facts = {SHA256: found.sha256, "bytes": found.n_bytes, **self.settings}
        return facts | ({SIDECAR: _fingerprint(self.sidecar, _stats(self.sidecar)).sha256} if self.sidecar else {})

    @property
    def settings(self) -> dict[str, str]:
        """The facts that no file has to be read for: the format, and the digest of a data set's mapping."""
        if self.format != "datasets":
            return {FORMAT: self.format}
        mapping = self.mapping or DatasetMapping()
        return {FORMAT: self.format, MAPPING: hashlib.sha256(mapping.text.encode()).hexdigest()}


def _stat(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _stats(path: Path) -> tuple[tuple[str, int, int], ...]:
    return tuple((str(file), *_stat(file)) for file in source_files(path))


@cache
def _fingerprint(path: Path, _stats: tuple[tuple[str, int, int], ...]) -> SourceFingerprint:
    return source_fingerprint(path)


def data_version(facts: Mapping[str, Any]) -> str:
    """The data version of a benchmark: how to read its file, the file's sha256, its sidecar's and its mapping's."""
    return ":".join(str(facts[name]) for name in _VERSIONED if name in facts)


def source_of(project: Project, settings: Settings, name: str) -> Source:
    """A benchmark's file; raises ``BadInput`` that says where to put it and where it comes from."""
    benchmark = settings.benchmarks[name]
    path = benchmark.file(project)
    if path is None:
        raise BadInput(f"benchmark {name}", "its file is missing", where_to_put(project, settings, name))
    return Source(path, benchmark.format, benchmark.mapping)


def where_to_put(project: Project, settings: Settings, name: str) -> str:
    """What a person can do about a missing file."""
    benchmark = settings.benchmarks[name]
    by_command = f"run eval-assets fetch {name}, or " if benchmark.published else ""
    origin = f" (it is {benchmark.origin})" if benchmark.origin else ""
    return f"{by_command}put it at {project.shown(target_of(project, settings, name))}{origin}"


def target_of(project: Project, settings: Settings, name: str) -> Path:
    """Where a benchmark's file is put: in the sources folder, under the first of its names."""
    return project.sources / settings.benchmarks[name].files[0]


def change_since(source: Source, seen: Mapping[str, Any]) -> str | None:
    """In words, how a source differs from the metadata of a materialization; None where it does not.

    Its files are hashed only where their place, size or time differ.
    """
    if seen.get(STAT) == source.stat() and all(seen.get(name) == value for name, value in source.settings.items()):
        return None
    facts = source.facts()
    if data_version(facts) == data_version(seen):
        return None
    changed = [name for name in _VERSIONED if seen.get(name) != facts.get(name)]
    what = "the file" if {SHA256, SIDECAR} & set(changed) else "how it is read"
    return f"{what} changed: " + ", ".join(
        f"{name} {_short(seen.get(name))} -> {_short(facts.get(name))}" for name in changed
    )


def _short(value: object) -> str:
    return "(none)" if value is None else str(value)[:12]
