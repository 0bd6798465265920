"""What a plan or a refresh looks at, and what of it may be created."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import dagster as dg

from converters.errors import BadInput
from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.result_sources import results_lacking
from eval_assets.settings import Settings
from eval_assets.settings_systems import ImportedSystem, System
from eval_assets.sources import where_to_put


@dataclass(frozen=True, order=True)
class Part:
    """One partition of one asset; ``partition`` is None for an asset without."""

    key: dg.AssetKey
    partition: str | None

    def __str__(self) -> str:
        return self.key.to_user_string() + (f" [{self.partition}]" if self.partition else "")


def parts_of(settings: Settings, system: str, benchmark: str) -> list[Part]:
    """All parts that a system's report on a benchmark is made of, upstream first; none where it cannot have one."""
    found = settings.systems[system]
    if isinstance(found, System):
        reads, judged = found.reader is not None, found.relevance is not None
        chain = keys.chain(system, found.store, reads=reads, judges=found.judges, relevance=judged)
        if settings.corrections_of(benchmark):
            chain += keys.corrected(system, results=True, judges=found.judges)
        return [Part(key, benchmark) for key in chain]
    roles = found.files(benchmark)
    if not roles:
        return []
    chain = keys.imported_chain(system, results="results" in roles, answers=bool(roles.keys() - {"results"}))
    if settings.corrections_of(benchmark) and "results" in roles:
        chain += keys.corrected(system, results=True)
    return [Part(key, benchmark) for key in chain]


@dataclass(frozen=True)
class Scope:
    """A choice of systems, benchmarks and stages.

    Attributes:
        graph: the project.
        systems: only these (a sweep's name stands for its systems); all if empty.
        benchmarks: only these; all if empty.
        to: up to this stage; all if None.
    """

    graph: Graph
    systems: Sequence[str] = field(default=())
    benchmarks: Sequence[str] = field(default=())
    to: str | None = None

    def check(self) -> None:
        """Raise ``BadInput`` for an unknown name, or for a named benchmark or pair whose file is missing."""
        settings = self.graph.settings
        for name in self.systems:
            if name not in settings.systems and name not in settings.sweeps:
                raise BadInput("--system", f"unknown system {name!r}", f"known are: {', '.join(settings.systems)}")
        for name in self.benchmarks:
            self.check_benchmark(name)
            if not self.available(name):
                raise BadInput(
                    f"benchmark {name}", "its file is missing", where_to_put(self.graph.project, settings, name)
                )
        for name in self.systems:
            self._check_results(name)
        if self.to is not None and self.to not in keys.STAGES:
            raise BadInput("--to", f"unknown stage {self.to!r}", f"known are: {', '.join(keys.STAGES)}")

    def _check_results(self, name: str) -> None:
        """What was named and cannot be made is an error: no results on these benchmarks, or their file is missing."""
        settings = self.graph.settings
        found = settings.systems.get(name)
        if not isinstance(found, ImportedSystem) or not self.benchmarks:
            return
        on = [benchmark for benchmark in self.benchmarks if benchmark in found.benchmarks]
        if not on:
            known = ", ".join(found.benchmarks)
            raise BadInput(f"system {name}", "it has no results there", f"it has results on: {known}")
        for benchmark in on:
            lacking = results_lacking(self.graph.project, settings, name, benchmark)
            if lacking:
                raise BadInput(f"system {name} on {benchmark}", "its result file is missing", lacking)

    def check_one(self, system: str, benchmark: str) -> None:
        """Raise ``BadInput`` for an unknown name, or for the name of a sweep, which is several systems."""
        self.check()
        self.check_benchmark(benchmark)
        self.check_system(system)

    def check_system(self, name: str) -> None:
        """Raise ``BadInput`` for what is not the name of one system."""
        settings = self.graph.settings
        sweep = settings.sweeps.get(name)
        if sweep:
            raise BadInput("SYSTEM", f"{name} is a sweep", f"name one of its systems: {', '.join(sweep)}")
        if name not in settings.systems:
            raise BadInput("SYSTEM", f"unknown system {name!r}", f"known are: {', '.join(settings.systems)}")

    def check_benchmark(self, name: str) -> None:
        """Raise ``BadInput`` for an unknown benchmark."""
        known = self.graph.settings.benchmarks
        if name not in known:
            raise BadInput("--benchmark", f"unknown benchmark {name!r}", f"known are: {', '.join(known)}")

    def available(self, benchmark: str) -> bool:
        """Whether a benchmark's file is there."""
        return self.graph.settings.benchmarks[benchmark].file(self.graph.project) is not None

    @cached_property
    def chosen_systems(self) -> list[str]:
        """The systems that are looked at, in the order of the settings."""
        settings = self.graph.settings
        named = {one for name in self.systems for one in settings.sweeps.get(name, (name,))}
        return [name for name in settings.systems if not named or name in named]

    @cached_property
    def chosen_benchmarks(self) -> list[str]:
        """The benchmarks that are looked at, in the order of the settings."""
        return [name for name in self.graph.settings.benchmarks if not self.benchmarks or name in self.benchmarks]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """(system, benchmark) pairs that may be created: the targets, and what was named.

        Naming both sides names their pairs; naming one side names its pairs with whatever the targets use on the other,
        and an imported system with all benchmarks that it has files for.
        """
        targets = self.graph.settings.pairs
        if self.systems and self.benchmarks:
            return [(system, benchmark) for benchmark in self.chosen_benchmarks for system in self.chosen_systems]
        if self.systems:
            others = list(dict.fromkeys(benchmark for _, benchmark in targets))
            imported = {
                name: found.benchmarks
                for name, found in self.graph.settings.systems.items()
                if isinstance(found, ImportedSystem)
            }
            return [(system, benchmark) for system in self.chosen_systems for benchmark in imported.get(system, others)]
        if self.benchmarks:
            others = list(dict.fromkeys(system for system, _ in targets))
            return [(system, benchmark) for benchmark in self.chosen_benchmarks for system in others]
        return targets

    @cached_property
    def creatable(self) -> set[Part]:
        """The parts that may be created."""
        of_systems = {part for system, benchmark in self.pairs for part in self._chain(system, benchmark)}
        return of_systems | set(self._over_systems(dict.fromkeys(benchmark for _, benchmark in self.pairs)))

    @cached_property
    def parts(self) -> list[Part]:
        """All parts that are looked at, upstream first; whether one exists is another question."""
        chosen = [(system, benchmark) for benchmark in self.chosen_benchmarks for system in self.chosen_systems]
        found = [part for system, benchmark in chosen for part in self._chain(system, benchmark)]
        order = {part: index for index, part in enumerate(dict.fromkeys(found))}
        ranked = sorted(order, key=lambda part: (keys.STAGES.index(keys.stage_of(part.key)), order[part]))
        return [*ranked, *self._over_systems(self.chosen_benchmarks)]

    def _over_systems(self, benchmarks: Iterable[str]) -> list[Part]:
        """A comparison a benchmark, where the settings name any, and the leaderboard."""
        compared = [Part(keys.COMPARISON, name) for name in benchmarks] if self.graph.settings.compared else []
        return [part for part in [*compared, Part(keys.LEADERBOARD, None)] if self._reaches(part.key)]

    def _chain(self, system: str, benchmark: str) -> list[Part]:
        return [part for part in parts_of(self.graph.settings, system, benchmark) if self._reaches(part.key)]

    def _reaches(self, key: dg.AssetKey) -> bool:
        return self.to is None or keys.STAGES.index(keys.stage_of(key)) <= keys.STAGES.index(self.to)
