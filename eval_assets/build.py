"""From a project's settings to its assets and checks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import dagster as dg

from eval_assets import keys
from eval_assets.assets.answers import answers_asset
from eval_assets.assets.comparison import comparison
from eval_assets.assets.corpus import corpus
from eval_assets.assets.corrected import corrected_judgments_asset, corrected_scores_asset, corrections_asset
from eval_assets.assets.imported import imported_assets
from eval_assets.assets.judgments import agreement_asset, judgments_asset
from eval_assets.assets.leaderboard import leaderboard
from eval_assets.assets.relevance import relevance_asset
from eval_assets.assets.report import report_asset
from eval_assets.assets.scores import scores_asset
from eval_assets.assets.search import search_asset
from eval_assets.assets.source import benchmark_source
from eval_assets.assets.store import store_asset
from eval_assets.checks import all_checks
from eval_assets.graph import Graph
from eval_assets.io_manager import ParquetIOManager
from eval_assets.project import Project
from eval_assets.settings import load_settings
from eval_assets.settings_systems import ImportedSystem, System

# Checks on partitions and data versions on outputs are marked as new in Dagster; the contract tests hold them still.
for _kind in (dg.PreviewWarning, dg.BetaWarning):
    warnings.simplefilter("ignore", _kind)


def build_graph(project: Project) -> Graph:
    """Read the settings; raises ``BadInput``."""
    return Graph(project, load_settings(project))


def build_definitions(graph: Graph, **more: Any) -> dg.Definitions:
    """The Dagster definitions of a project; ``more`` adds jobs and sensors."""
    return dg.Definitions(
        assets=[
            benchmark_source(graph),
            corpus(graph),
            *([corrections_asset(graph)] if graph.settings.corrections else []),
            *(store_asset(graph, name, store) for name, store in graph.settings.stores.items()),
            *(
                asset
                for name, system in graph.settings.systems.items()
                for asset in _system_assets(graph, name, system)
            ),
            *([comparison(graph)] if graph.settings.compared else []),
            leaderboard(graph),
        ],
        asset_checks=all_checks(graph),
        resources={"io_manager": ParquetIOManager(graph.shelf)},
        executor=dg.in_process_executor,
        **more,
    )


def _system_assets(graph: Graph, name: str, system: System | ImportedSystem) -> Iterator[dg.AssetsDefinition]:
    if isinstance(system, ImportedSystem):
        yield from imported_assets(graph, name, system)
    else:
        yield search_asset(graph, name, system)
        if system.reader is not None:
            yield answers_asset(graph, name, system)
        for judge in system.judges:
            yield judgments_asset(graph, name, system, judge)
        if len(system.judges) > 1:
            yield agreement_asset(graph, name, system)
        if system.relevance is not None:
            yield relevance_asset(graph, name, system)
    if keys.scores_key(name) in graph.shelf.layout:
        yield scores_asset(graph, name, system)
    if keys.corrected_scores_key(name) in graph.shelf.layout:
        yield corrected_scores_asset(graph, name, system)
    for judge in getattr(system, "judges", ()):
        if keys.corrected_judgments_key(name, judge) in graph.shelf.layout and isinstance(system, System):
            yield corrected_judgments_asset(graph, name, system, judge)
    yield report_asset(graph, name, system)
