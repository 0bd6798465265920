"""The file of a benchmark, and whether it is still the one that a materialization saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from converters.errors import BadInput
from converters.source import SourceFingerprint, fingerprint
from eval_assets.project import Project
from eval_assets.settings import Settings

FILE: Final = "file"
SHA256: Final = "sha256"
SIDECAR: Final = "sidecar sha256"
FORMAT: Final = "format"
STAT: Final = "eval_assets/source_stat"


@dataclass(frozen=True)
class Source:
    """A benchmark's file; a fixture's sidecar, which holds labels, belongs to it."""

    path: Path
    format: str

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
        files = [self.path, self.sidecar] if self.sidecar else [self.path]
        return {str(path): list(_stat(path)) for path in files}

    def facts(self) -> dict[str, Any]:
        """Digest and size of the unpacked bytes, and the format; reads the files. See ``data_version``."""
        found = _fingerprint(self.path, *_stat(self.path))
        facts = {SHA256: found.sha256, "bytes": found.n_bytes, FORMAT: self.format}
        return facts | ({SIDECAR: _fingerprint(self.sidecar, *_stat(self.sidecar)).sha256} if self.sidecar else {})


def _stat(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


@cache
def _fingerprint(path: Path, _size: int, _mtime_ns: int) -> SourceFingerprint:
    return fingerprint(path)


def data_version(facts: Mapping[str, Any]) -> str:
    """The data version of a benchmark: how to read its file, the file's sha256, and its sidecar's if it has one."""
    return ":".join(str(facts[name]) for name in (FORMAT, SHA256, SIDECAR) if name in facts)


def source_of(project: Project, settings: Settings, name: str) -> Source:
    """A benchmark's file; raises ``BadInput`` that says where to put it and where it comes from."""
    benchmark = settings.benchmarks[name]
    path = benchmark.file(project)
    if path is None:
        raise BadInput(f"benchmark {name}", "its file is missing", where_to_put(project, settings, name))
    return Source(path, benchmark.format)


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
    if seen.get(STAT) == source.stat() and seen.get(FORMAT) == source.format:
        return None
    facts = source.facts()
    if data_version(facts) == data_version(seen):
        return None
    names = (FORMAT, SHA256, SIDECAR)
    changed = [
        f"{name} {_short(seen.get(name))} -> {_short(facts.get(name))}"
        for name in names
        if seen.get(name) != facts.get(name)
    ]
    return f"the file changed: {', '.join(changed)}"


def _short(value: object) -> str:
    return "(none)" if value is None else str(value)[:12]
