"""The files that the graph begins with, and whether they are still those that a materialization saw."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

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


class Watched(Protocol):
    """Files and how they are read."""

    @property
    def settings(self) -> Mapping[str, str | None]:
        """The facts that no file has to be read for; None for those that a materialization must not have."""
        ...

    def stat(self) -> dict[str, Any]:
        """What is compared before anything is hashed again: place, size and time of the files."""
        ...

    def facts(self) -> dict[str, Any]:
        """What a materialization says of them; reads the files."""
        ...

    def versioned(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the facts that decide a result."""
        ...


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
        return stats_of([*source_files(self.path), *([self.sidecar] if self.sidecar else [])])

    def facts(self) -> dict[str, Any]:
        """Digest and size of the unpacked bytes, and the format; reads the files. See ``data_version``."""
        found = fingerprint_now(self.path)
        facts = {SHA256: found.sha256, "bytes": found.n_bytes, **self.settings}
        return facts | ({SIDECAR: fingerprint_now(self.sidecar).sha256} if self.sidecar else {})

    def versioned(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the facts that are part of the data version."""
        return {name: facts[name] for name in _VERSIONED if name in facts}

    @property
    def settings(self) -> Mapping[str, str | None]:
        """The facts that no file has to be read for: the format, and the digest of a data set's mapping."""
        if self.format != "datasets":
            return {FORMAT: self.format}
        mapping = self.mapping or DatasetMapping()
        return {FORMAT: self.format, MAPPING: hashlib.sha256(mapping.text.encode()).hexdigest()}


def stats_of(paths: Iterable[Path]) -> dict[str, Any]:
    """Size and time of each file."""
    return {str(path): list(_stat(path)) for path in paths}


def _stat(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _stats(path: Path) -> tuple[tuple[str, int, int], ...]:
    return tuple((str(file), *_stat(file)) for file in source_files(path))


def fingerprint_now(path: Path) -> SourceFingerprint:
    """Which bytes a file or folder holds; hashed again only where place, size or time differ."""
    return _fingerprint(path, _stats(path))


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
    by_command = f"run eval-assets fetch {name}, or " if benchmark.published_file else ""
    origin = f" (it is {benchmark.origin})" if benchmark.origin else ""
    return f"{by_command}put it at {project.shown(target_of(project, settings, name))}{origin}"


def target_of(project: Project, settings: Settings, name: str) -> Path:
    """Where a benchmark's file is put: in the sources folder, under the first of its names."""
    return project.sources / settings.benchmarks[name].files[0]


def change_since(source: Watched, seen: Mapping[str, Any]) -> str | None:
    """In words, how a source differs from the metadata of a materialization; None where it does not.

    Its files are hashed only where their place, size or time differ.
    """
    if seen.get(STAT) == source.stat() and all(seen.get(name) == value for name, value in source.settings.items()):
        return None
    now, then = source.versioned(source.facts()), source.versioned(seen)
    changed = [name for name in dict.fromkeys([*now, *then]) if now.get(name) != then.get(name)]
    if not changed:
        return None
    what = "the file" if any(name.endswith(SHA256) for name in changed if name != MAPPING) else "how it is read"
    return f"{what} changed: " + ", ".join(
        f"{name} {_short(then.get(name))} -> {_short(now.get(name))}" for name in changed
    )


def _short(value: object) -> str:
    return "(none)" if value is None else str(value)[:12]
