"""From a project's settings to its assets and checks."""

from __future__ import annotations

import warnings
from typing import Any

import dagster as dg

from eval_assets.assets.corpus import corpus
from eval_assets.assets.leaderboard import leaderboard
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

# Checks on partitions and data versions on outputs are marked as new in Dagster; the contract tests hold them still.
for _kind in (dg.PreviewWarning, dg.BetaWarning):
    warnings.simplefilter("ignore", _kind)


def build_graph(project: Project) -> Graph:
    """Read the settings; raises ``BadInput``."""
    return Graph(project, load_settings(project))


def build_definitions(graph: Graph, **more: Any) -> dg.Definitions:
    """The Dagster definitions of a project; ``more`` adds jobs and sensors."""
    systems = graph.settings.systems.items()
    return dg.Definitions(
        assets=[
            benchmark_source(graph),
            corpus(graph),
            *(store_asset(graph, name, store) for name, store in graph.settings.stores.items()),
            *(
                make(graph, name, system)
                for name, system in systems
                for make in (search_asset, scores_asset, report_asset)
            ),
            leaderboard(graph),
        ],
        asset_checks=all_checks(graph),
        resources={"io_manager": ParquetIOManager(graph.shelf)},
        executor=dg.in_process_executor,
        **more,
    )
