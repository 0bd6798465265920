"""The YAML settings: benchmarks, stores, systems, targets. Everything that changes a score is in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from converters.datasets_mapping import DatasetMapping
from converters.errors import BadInput
from converters.published import PUBLISHED, Published
from converters.tables import BASE_OVERLAY
from eval_assets.models.settings import EXTRACTIVE, LEXICAL, JudgeSettings, Model, Reader
from eval_assets.project import Project
from eval_assets.settings_comparisons import Comparison, Gate, Pair, expanded
from eval_assets.settings_corrections import CorrectionsFile, Overlay
from eval_assets.settings_systems import AnySystem, ImportedSystem, Store, System
from eval_assets.strict import Name, Strict
from eval_assets.yaml_files import bad_setting, read_yaml
from providers.registry import PROVIDERS

_PUBLISHED: Final = ", ".join(PUBLISHED)
RESERVED: Final = {"corpus", "stores", "benchmark_source", "corrections", "leaderboard", "comparison"}


class HubFile(Strict):
    """A file of a data set on the hub, pinned: the commit (40 hex digits), and the digest of the content if known."""

    repo: Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*/\w[\w.-]*$")]
    file: Annotated[str, StringConstraints(min_length=1)]
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    licence: str = "not known: look at the data set's card"

    @property
    def published(self) -> Published:
        """The file as ``fetch`` takes it."""
        name = f"{self.repo}/{self.file}"
        return Published(name, name, "hub", self.repo, self.revision, self.file, self.sha256, None, self.licence)


class Benchmark(Strict):
    """One benchmark: its format, the names its file may have, and which published file it is, or where to get it."""

    description: str = ""
    format: Literal["fixture", "longmemeval", "locomo", "datasets"]
    files: tuple[str, ...]
    fetch: str | None = None
    published: str | None = None
    hub: HubFile | None = None
    mapping: DatasetMapping | None = None

    @model_validator(mode="after")
    def _mapped(self) -> Self:
        if self.mapping is not None and self.format != "datasets":
            raise PydanticCustomError("mapping", "a mapping has a meaning for format datasets alone")
        if self.published is not None and self.hub is not None:
            raise PydanticCustomError("hub", "a file is either one of the published ones or one of the hub")
        return self

    @field_validator("published")
    @classmethod
    def _is_published(cls, value: str | None) -> str | None:
        if value is not None and value not in PUBLISHED:
            raise PydanticCustomError("published", "not a published file; known are: {names}", {"names": _PUBLISHED})
        return value

    @property
    def origin(self) -> str | None:
        """Where a person gets the file."""
        return self.published_file.label if self.published_file else self.fetch

    @property
    def published_file(self) -> Published | None:
        """What ``eval-assets fetch`` gets."""
        if self.published is not None:
            return PUBLISHED[self.published]
        return self.hub.published if self.hub else None

    def candidates(self, project: Project) -> list[Path]:
        """Where the file may be, in order of preference."""
        return [folder / name for name in self.files for folder in (project.data, project.sources)]

    def file(self, project: Project) -> Path | None:
        """The file, or for a data set perhaps the folder, or None where there is none."""
        return next((path for path in self.candidates(project) if path.is_file() or self._is_folder(path)), None)

    def _is_folder(self, path: Path) -> bool:
        return self.format == "datasets" and path.is_dir()


class Target(Strict):
    """Pairs that a refresh creates: each of the systems on each of the benchmarks."""

    systems: tuple[str, ...]
    benchmarks: tuple[str, ...]


class Settings(Strict):
    """All settings, sweeps expanded, every name known and every provider's settings valid."""

    benchmarks: dict[Name, Benchmark]
    stores: dict[Name, Store]
    systems: dict[Name, AnySystem]
    sweeps: dict[str, tuple[str, ...]]
    targets: tuple[Target, ...]
    models: dict[Name, Model]
    readers: dict[Name, Reader]
    judges: dict[Name, JudgeSettings]
    comparisons: tuple[Comparison, ...] | None = None
    gates: tuple[Gate, ...] = ()
    corrections: dict[Name, Overlay] = Field(default_factory=dict)

    def corrections_of(self, benchmark: str) -> dict[str, Overlay]:
        """The overlays of a benchmark's labels, by name."""
        return {name: one for name, one in self.corrections.items() if one.benchmark == benchmark}

    @property
    def compared(self) -> list[Pair]:
        """Pairs to compare; where none are written, each system with the first of the targets."""
        if self.comparisons is not None:
            return expanded(self.comparisons, self.sweeps)
        first = next((system for system, _ in self.pairs), None)
        return [Pair(first, system) for system in self.systems if system != first] if first else []

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(system, benchmark) of all targets; the name of a sweep stands for all its systems.

        An imported system makes pairs with the benchmarks that it has files for.
        """
        return [
            (system, benchmark)
            for target in self.targets
            for name in target.systems
            for system in self.sweeps.get(name, (name,))
            for benchmark in target.benchmarks
            if self.is_pair(system, benchmark)
        ]

    def clearing(self) -> Settings:
        """The same, but all stores empty containers that hold what the ledger did not put there."""
        stores = {
            name: store.model_copy(update={"service": store.service.model_copy(update={"clear_foreign": True})})
            for name, store in self.stores.items()
        }
        return self.model_copy(update={"stores": stores})

    def is_pair(self, system: str, benchmark: str) -> bool:
        """Whether the system can have a report on the benchmark."""
        found = self.systems[system]
        return not isinstance(found, ImportedSystem) or benchmark in found.benchmarks


class _SystemsFile(Strict):
    """As written; a dotted name (``retrieval.rrf_k``) is the same as a nested one."""

    stores: dict[Name, Store]
    systems: dict[Name, AnySystem]
    readers: dict[Name, Reader] = Field(default_factory=dict)
    judges: dict[Name, JudgeSettings] = Field(default_factory=dict)
    targets: tuple[Target, ...] = ()
    comparisons: tuple[Comparison, ...] | None = None
    gates: tuple[Gate, ...] = ()

    @property
    def all_readers(self) -> dict[str, Reader]:
        """Those that need no model are always there."""
        return {EXTRACTIVE: Reader(kind="extractive"), **self.readers}

    @property
    def all_judges(self) -> dict[str, JudgeSettings]:
        """Those that need no model are always there."""
        return {LEXICAL: JudgeSettings(kind="lexical"), **self.judges}

    @field_validator("stores", "systems", mode="before")
    @classmethod
    def _dotted(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {name: nest(flatten(one)) if isinstance(one, Mapping) else one for name, one in value.items()}


class _ModelsFile(Strict):
    models: dict[Name, Model]


class _BenchmarksFile(Strict):
    benchmarks: dict[Name, Benchmark]


def load_settings(project: Project) -> Settings:
    """Read the files.

    Raises:
        BadInput: a file is missing or not YAML, or names an unknown setting, provider, store, system, benchmark, model,
            reader or judge.
    """
    benchmarks = read_yaml(project.benchmarks_file, _BenchmarksFile).benchmarks
    models = read_yaml(project.models_file, _ModelsFile).models if project.models_file.exists() else {}
    source = project.systems_file
    read = read_yaml(source, _SystemsFile)
    for name, store in read.stores.items():
        _known(source, f"stores.{name}.provider", store.provider, PROVIDERS)
        _provider_settings(source, f"stores.{name}.ingest", store.provider, "ingest", store.ingest)
    for group, members in (("readers", read.readers), ("judges", read.judges)):
        for name, member in members.items():
            if member.kind == "model":
                _known(source, f"{group}.{name}.model", member.model or "(none)", models)
    systems: dict[str, System | ImportedSystem] = {}
    sweeps: dict[str, tuple[str, ...]] = {}
    for name, system in read.systems.items():
        expanded = _checked_system(source, name, system, read, benchmarks)
        for one in expanded:
            if one in systems or (one != name and one in read.systems):
                raise BadInput(source, f"two systems are called {one}", "rename one", field=f"systems.{name}")
        systems |= expanded
        if list(expanded) != [name]:
            sweeps[name] = tuple(expanded)
    for index, target in enumerate(read.targets):
        for name in target.systems:
            _known(source, f"targets.{index}.systems", name, {**systems, **sweeps})
        for name in target.benchmarks:
            _known(source, f"targets.{index}.benchmarks", name, benchmarks)
    _check_compared(source, read, {**systems, **sweeps}, benchmarks)
    return Settings(
        benchmarks=benchmarks,
        stores=read.stores,
        systems=systems,
        sweeps=sweeps,
        targets=read.targets,
        models=models,
        readers=read.all_readers,
        judges=read.all_judges,
        comparisons=read.comparisons,
        gates=read.gates,
        corrections=_corrections(project.corrections_file, benchmarks),
    )


def _corrections(source: Path, benchmarks: Mapping[str, Benchmark]) -> dict[str, Overlay]:
    """Overlays by name; whether their questions exist is known once the benchmark is read."""
    found = read_yaml(source, CorrectionsFile).corrections or {} if source.exists() else {}
    for name, overlay in found.items():
        _known(source, f"corrections.{name}.benchmark", overlay.benchmark, benchmarks)
        if name == BASE_OVERLAY:
            raise BadInput(
                source, "this name stands for the source's own labels", "choose another", field=f"corrections.{name}"
            )
    return found


def _check_compared(
    source: Path, read: _SystemsFile, systems: Mapping[str, object], benchmarks: Mapping[str, Benchmark]
) -> None:
    for index, comparison in enumerate(read.comparisons or ()):
        for side in ("left", "right"):
            _known(source, f"comparisons.{index}.{side}", getattr(comparison, side), systems)
    for index, gate in enumerate(read.gates):
        for name in gate.systems:
            _known(source, f"gates.{index}.systems", name, systems)
        for name in gate.benchmarks:
            _known(source, f"gates.{index}.benchmarks", name, benchmarks)


def _checked_system(
    source: Path, name: str, system: System | ImportedSystem, read: _SystemsFile, benchmarks: Mapping[str, Benchmark]
) -> Mapping[str, System | ImportedSystem]:
    """The systems that a name stands for: one, or those of a sweep; raises ``BadInput``."""
    if name in RESERVED:
        raise BadInput(source, "this name is taken by an asset", "choose another", field=f"systems.{name}")
    if isinstance(system, ImportedSystem):
        for role in ("results", "answers", "judgments"):
            for benchmark in getattr(system, role):
                _known(source, f"systems.{name}.{role}", benchmark, benchmarks)
        return {name: system}
    _known(source, f"systems.{name}.store", system.store, read.stores)
    if system.reader is not None:
        _known(source, f"systems.{name}.reader", system.reader, read.all_readers)
    for judge in system.judges:
        _known(source, f"systems.{name}.judges", judge, read.all_judges)
    if system.relevance is not None:
        field = f"systems.{name}.relevance"
        _known(source, field, system.relevance, read.all_judges)
        if read.all_judges[system.relevance].kind != "model":
            raise BadInput(source, f"{system.relevance} asks no model", "name a judge of kind model", field=field)
    if sum(read.all_judges[judge].kind == "lexical" for judge in system.judges) > 1:
        problem = "two judges without a model, which say the same"
        raise BadInput(source, problem, "name one of them", field=f"systems.{name}.judges")
    expanded = _expanded(source, name, system)
    for values in expanded.values():
        provider = read.stores[values.store].provider
        _provider_settings(source, f"systems.{name}.retrieval", provider, "retrieval", values.retrieval)
    return expanded


def _expanded(source: Path, name: str, system: System) -> dict[str, System]:
    found = list(_sweep(name, system))
    expanded = dict(found)
    if not found:
        raise BadInput(source, "a sweep over no values", "list at least one", field=f"systems.{name}.retrieval")
    if len(expanded) < len(found):
        raise BadInput(source, "a sweep has one value twice", "list each value once", field=f"systems.{name}.retrieval")
    return expanded


def _sweep(name: str, system: System) -> Iterator[tuple[str, System]]:
    flat = flatten(system.retrieval)
    axes = {key: value for key, value in flat.items() if isinstance(value, list)}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        words = [f"{key.replace('.', '_')}_{_word(value)}" for key, value in chosen.items()]
        retrieval = nest({**flat, **chosen})
        yield "__".join([name, *words]), system.model_copy(update={"retrieval": retrieval})


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as one level, with dotted names; raises ``PydanticCustomError`` if one is given twice."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        found = flatten(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
        for name in flat.keys() & found.keys():
            raise PydanticCustomError("twice", "{name} is given twice", {"name": name})
        flat |= found
    return flat


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of ``flatten``; raises ``PydanticCustomError`` if a name is both a value and a group of values."""
    nested: dict[str, Any] = {}
    for dotted, value in flat.items():
        *folders, leaf = dotted.split(".")
        place = nested
        for folder in folders:
            place = place.setdefault(folder, {})
            if not isinstance(place, dict):
                raise PydanticCustomError("twice", "{name} is given twice", {"name": folder})
        if isinstance(place.get(leaf), dict):
            raise PydanticCustomError("twice", "{name} is given twice", {"name": leaf})
        place[leaf] = value
    return nested


def _word(value: object) -> str:
    return re.sub(r"[^a-z0-9_]+", "p", str(value).lower())


def _provider_settings(source: Path, field: str, provider: str, kind: str, values: Mapping[str, object]) -> None:
    entry = PROVIDERS[provider]
    try:
        (entry.ingest_settings if kind == "ingest" else entry.retrieval_settings)(values)
    except ValidationError as error:
        raise bad_setting(source, field, error) from None


def _known(source: object, field: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        remedy = f"known are: {', '.join(sorted(known))}" if known else "there are none yet: add it"
        raise BadInput(source, f"unknown name {name!r}", remedy, field=field)
