"""The one internal call into Dagster: the status of a partition, and why.

Dagster's public interfaces give no status of a partitioned asset. The resolver used here is what the UI asks for a
partition's page, so the command line and the UI agree. It looks one step up: whoever walks a graph asks again after
each wave. ``tests/eval_assets/test_staleness.py`` holds the behaviour that the rest of this package relies on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import dagster as dg
from dagster._core.definitions.data_version import (
    CachingStaleStatusResolver,
    StaleCauseCategory,
    StaleStatus,
)
from dagster._core.loader import LoadingContext

EDGE_LIMIT: Final = 100
"""An edge with this many upstream partitions is never stale to Dagster."""


class Cause(Enum):
    """Why a partition is stale."""

    CODE = "code"
    DATA = "data"
    DEPENDENCIES = "dependencies"


@dataclass(frozen=True)
class Status:
    """What Dagster says of a partition.

    Attributes:
        missing: it was never materialized.
        causes: why it is stale, each with the upstream asset where there is one; empty where it is fresh.
    """

    missing: bool
    causes: tuple[tuple[Cause, dg.AssetKey | None], ...]


class _Context(LoadingContext):
    """What the resolver's batched look-ups need: an instance, and a place for the loaders they share."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._loaders: dict[Any, Any] = {}

    @property
    def instance(self) -> dg.DagsterInstance:
        return self._instance

    @property
    def loaders(self) -> dict[Any, Any]:
        return self._loaders


class StatusReader:
    """Statuses as of one moment: make a new one after anything ran."""

    def __init__(self, instance: dg.DagsterInstance, definitions: dg.Definitions) -> None:
        graph = definitions.resolve_asset_graph()
        self._resolver = CachingStaleStatusResolver(instance, graph, _Context(instance))

    def status(self, key: dg.AssetKey, partition: str | None) -> Status:
        """The status of one partition; ``partition`` is None for an asset without."""
        found = self._resolver.get_status(key, partition)
        if found == StaleStatus.MISSING:
            return Status(missing=True, causes=())
        categories = {
            StaleCauseCategory.CODE: Cause.CODE,
            StaleCauseCategory.DATA: Cause.DATA,
            StaleCauseCategory.DEPENDENCIES: Cause.DEPENDENCIES,
        }
        causes = tuple(
            (categories[cause.category], cause.dependency.asset_key if cause.dependency else None)
            for cause in self._resolver.get_stale_causes(key, partition)
        )
        return Status(missing=False, causes=causes)
