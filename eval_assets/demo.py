"""The demonstration: three systems on the bundled benchmark, then one constant changes and what is stale re-runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import dagster as dg
import yaml

from eval_assets import keys
from eval_assets.build import build_definitions, build_graph
from eval_assets.graph import Graph
from eval_assets.plan import Plan, make_plan
from eval_assets.refresh import Refresh, refresh
from eval_assets.scope import Part, Scope
from eval_assets.stored import last_event
from judges.report_text import aggregate_line

BENCHMARK: Final = "smoke"
SYSTEMS: Final = ("bm25", "dense", "hybrid")
CHANGED: Final = "hybrid"
SETTING: Final = "rrf_k"
VALUE: Final = 1


@dataclass(frozen=True)
class Step:
    """A refresh and what it left behind.

    Attributes:
        plan: what was to be done.
        done: what ran.
        lines: system to its aggregate line.
        kept: stored parts that no run touched.
    """

    plan: Plan
    done: Refresh
    lines: dict[str, str]
    kept: Sequence[Part]


def with_change(graph: Graph) -> Graph:
    """The project with one constant changed.

    The change is written to a copy, data/demo/systems.yaml; the project's own settings stay as they are, so afterwards
    the changed system is out of date there, and the UI shows it as such.
    """
    settings: dict[str, Any] = yaml.safe_load(graph.project.systems_file.read_text("utf-8"))
    settings["systems"][CHANGED]["retrieval"][SETTING] = VALUE
    path = graph.project.data / "demo" / "systems.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# systems.yaml with {CHANGED}'s {SETTING} = {VALUE}\n{yaml.safe_dump(settings)}", "utf-8")
    return build_graph(replace(graph.project, systems_file=path))


def step(graph: Graph, instance: dg.DagsterInstance) -> Step:
    """Plan and refresh the three systems on the bundled benchmark. The caller holds the data directory's lock."""
    definitions = build_definitions(graph)
    scope = Scope(graph, SYSTEMS, (BENCHMARK,))
    plan = make_plan(instance, definitions, scope)
    done = refresh(instance, definitions, scope)
    # Where something failed there may be no report, and what failed is what the reader needs.
    systems = () if done.failures else SYSTEMS
    reports = {system: graph.shelf.frame(instance, keys.report_key(system), BENCHMARK) for system in systems}
    lines = {system: aggregate_line(report) for system, report in reports.items()}
    ran = {one.part for wave in done.waves for one in wave.ran}
    kept = [part for part in scope.parts if part not in ran and last_event(instance, part.key, part.partition)]
    return Step(plan, done, lines, kept)
