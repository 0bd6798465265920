"""The internal calls into Dagster: the status of a partition and why, and the checks that it did not pass.

Dagster's public interfaces give neither of a partitioned asset. The resolver used here is what the UI asks for a
partition's page, so the command line and the UI agree. It looks one step up: whoever walks a graph asks again after
each wave. ``tests/eval_assets/test_staleness.py`` holds the behaviour that the rest of this package relies on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import dagster as dg
from dagster._core.definitions.data_version import (
    CachingStaleStatusResolver,
    StaleCauseCategory,
    StaleStatus,
)
from dagster._core.event_api import PartitionKeyFilter
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


@dataclass(frozen=True)
class Refusal:
    """A blocking check that did not pass.

    Attributes:
        check: its name.
        storage_id: the materialization that it looked at; None where it did not get to look.
        cut_off: the run that was to evaluate it, and ended first.
    """

    check: str
    storage_id: int | None = None
    cut_off: str | None = None


def refusals(
    instance: dg.DagsterInstance, definitions: dg.Definitions, partition: str | None
) -> Mapping[dg.AssetKey, Sequence[Refusal]]:
    """By asset, the blocking checks whose last evaluation of this partition failed, or was cut off with its run."""
    keys = list(definitions.resolve_asset_graph().asset_check_keys)
    only = PartitionKeyFilter(key=partition)
    found: dict[dg.AssetKey, list[Refusal]] = defaultdict(list)
    for record in instance.event_log_storage.get_latest_asset_check_execution_by_key(keys, only).values():
        evaluation: object = record.evaluation
        if not isinstance(evaluation, dg.AssetCheckEvaluation):
            run = instance.get_run_by_id(record.run_id)
            if evaluation is not None and (run is None or run.is_finished):
                found[record.key.asset_key].append(Refusal(record.key.name, cut_off=record.run_id))
            continue
        if evaluation.passed or not evaluation.blocking:
            continue
        target = evaluation.target_materialization_data
        found[record.key.asset_key].append(Refusal(record.key.name, target.storage_id if target else None))
    return found
