"""What every command that needs Dagster opens: the project, its graph, its definitions and its instance."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import dagster as dg

from eval_assets.build import build_definitions, build_graph
from eval_assets.graph import Graph
from eval_assets.project import Project
from eval_assets.storage import kept_engines


@dataclass(frozen=True)
class Session:
    """An open project."""

    graph: Graph
    definitions: dg.Definitions
    instance: dg.DagsterInstance


@contextmanager
def open_session(*, clear_foreign: bool = False) -> Iterator[Session]:
    """Open the project that the working folder is in; raises ``BadInput``.

    Args:
        clear_foreign: as if all stores had this setting (see ``eval_assets.settings_systems.Service``).
    """
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    project = Project.find()
    graph = build_graph(project)
    if clear_foreign:
        graph = replace(graph, settings=graph.settings.clearing())
    project.dagster_home()
    with kept_engines(), dg.DagsterInstance.get() as instance:
        yield Session(graph, build_definitions(graph), instance)
