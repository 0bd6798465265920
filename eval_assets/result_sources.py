"""The result files of an imported system on a benchmark, and where they belong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

import dagster as dg

from converters.errors import BadInput
from eval_assets.keys import results_source_key
from eval_assets.project import Project
from eval_assets.settings import Settings
from eval_assets.settings_systems import ImportedSystem, ResultFile, Role
from eval_assets.sources import FORMAT, SHA256, fingerprint_now, stats_of
from eval_assets.stored import last_event

ROLES: Final[tuple[Role, ...]] = get_args(Role)


@dataclass(frozen=True)
class ResultSource:
    """Files by what they are: results, answers, judgments."""

    paths: Mapping[Role, Path]
    formats: Mapping[Role, str]

    def stat(self) -> dict[str, Any]:
        """What is compared before anything is hashed again: place, size and time of the files."""
        return stats_of(dict.fromkeys(self.paths.values()))

    @property
    def settings(self) -> Mapping[str, str | None]:
        """The format of each file; None where there is no such file."""
        return {f"{role} {FORMAT}": self.formats.get(role) for role in ROLES}

    def facts(self) -> dict[str, Any]:
        """Format and digest of the unpacked bytes of each file; reads them."""
        digests = {f"{role} {SHA256}": fingerprint_now(path).sha256 for role, path in self.paths.items()}
        return digests | {name: value for name, value in self.settings.items() if value is not None}

    def versioned(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the facts that are part of the data version."""
        names = (f"{role} {kind}" for role in ROLES for kind in (FORMAT, SHA256))
        return {name: facts[name] for name in names if name in facts}

    def data_version(self, facts: Mapping[str, Any]) -> str:
        """Which files there are, how they are read, and their sha256."""
        return "; ".join(f"{name} {value}" for name, value in self.versioned(facts).items())


def result_files(settings: Settings, system: str, benchmark: str) -> Mapping[Role, ResultFile]:
    """The files that the settings name; none for a system that is not imported."""
    found = settings.systems[system]
    return found.files(benchmark) if isinstance(found, ImportedSystem) else {}


def results_lacking(project: Project, settings: Settings, system: str, benchmark: str) -> str | None:
    """What a person can do about result files that are missing; None where all are there."""
    files = result_files(settings, system, benchmark).values()
    targets = [project.shown(file.target(project)) for file in files if file.find(project) is None]
    return f"put it at {' and '.join(dict.fromkeys(targets))}" if targets else None


def result_source_of(project: Project, settings: Settings, system: str, benchmark: str) -> ResultSource:
    """An imported system's files on a benchmark; raises ``BadInput`` that says where to put a missing one."""
    files = result_files(settings, system, benchmark)
    found = {role: file.find(project) for role, file in files.items()}
    paths = {role: path for role, path in found.items() if path is not None}
    lacking = results_lacking(project, settings, system, benchmark)
    if lacking:
        raise BadInput(f"system {system} on {benchmark}", "its result file is missing", lacking)
    if not paths:
        known = settings.systems[system]
        others = ", ".join(known.benchmarks) if isinstance(known, ImportedSystem) else "none"
        raise BadInput(f"system {system} on {benchmark}", "it has no results there", f"it has results on: {others}")
    return ResultSource(paths, {role: file.format for role, file in files.items()})


@contextmanager
def unchanged(instance: dg.DagsterInstance, source: ResultSource, system: str, benchmark: str) -> Iterator[None]:
    """Read the files inside; raises ``BadInput`` where they are not those that ``results_source`` saw."""
    event = last_event(instance, results_source_key(system), benchmark)
    yield
    if event and event.data_version != source.data_version(source.facts()):
        path = next(iter(source.paths.values()))
        raise BadInput(path, "it changed since it was looked at", "refresh again")
