"""What a plan or a refresh looks at, and what of it may be created."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import dagster as dg

from converters.errors import BadInput
from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.sources import where_to_put


@dataclass(frozen=True, order=True)
class Part:
    """One partition of one asset; ``partition`` is None for an asset without."""

    key: dg.AssetKey
    partition: str | None

    def __str__(self) -> str:
        return self.key.to_user_string() + (f" [{self.partition}]" if self.partition else "")


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
        """Raise ``BadInput`` for an unknown name, or for a named benchmark whose file is missing."""
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
        if self.to is not None and self.to not in keys.STAGES:
            raise BadInput("--to", f"unknown stage {self.to!r}", f"known are: {', '.join(keys.STAGES)}")

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

        Naming both sides names their pairs; naming one side names its pairs with whatever the targets use on the other.
        """
        targets = self.graph.settings.pairs
        if self.systems and self.benchmarks:
            return [(system, benchmark) for benchmark in self.chosen_benchmarks for system in self.chosen_systems]
        if self.systems:
            others = list(dict.fromkeys(benchmark for _, benchmark in targets))
            return [(system, benchmark) for benchmark in others for system in self.chosen_systems]
        if self.benchmarks:
            others = list(dict.fromkeys(system for system, _ in targets))
            return [(system, benchmark) for benchmark in self.chosen_benchmarks for system in others]
        return targets

    @cached_property
    def creatable(self) -> set[Part]:
        """The parts that may be created."""
        return {part for system, benchmark in self.pairs for part in self._chain(system, benchmark)} | {
            part for part in [Part(keys.LEADERBOARD, None)] if self._reaches(part.key)
        }

    @cached_property
    def parts(self) -> list[Part]:
        """All parts that are looked at, upstream first; whether one exists is another question."""
        chosen = [(system, benchmark) for benchmark in self.chosen_benchmarks for system in self.chosen_systems]
        found = [part for system, benchmark in chosen for part in self._chain(system, benchmark)]
        order = {part: index for index, part in enumerate(dict.fromkeys(found))}
        ranked = sorted(order, key=lambda part: (keys.STAGES.index(keys.stage_of(part.key)), order[part]))
        return ranked + [part for part in [Part(keys.LEADERBOARD, None)] if self._reaches(part.key)]

    def _chain(self, system: str, benchmark: str) -> list[Part]:
        store = self.graph.settings.systems[system].store
        return [Part(key, benchmark) for key in keys.chain(system, store) if self._reaches(key)]

    def _reaches(self, key: dg.AssetKey) -> bool:
        return self.to is None or keys.STAGES.index(keys.stage_of(key)) <= keys.STAGES.index(self.to)
