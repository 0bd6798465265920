"""The graph of the shipped settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from projects import REPOSITORY, VARIABLES
from syrupy.assertion import SnapshotAssertion

from eval_assets import keys
from eval_assets.build import build_definitions, build_graph
from eval_assets.jobs import refresh_job, refresh_sensor
from eval_assets.project import Project


@pytest.fixture(scope="module")
def assets() -> dg.Definitions:
    graph = build_graph(Project.at(REPOSITORY))
    return build_definitions(graph, jobs=[refresh_job], sensors=[refresh_sensor])


def test_shape(assets: dg.Definitions, snapshot: SnapshotAssertion) -> None:
    graph = assets.resolve_asset_graph()
    shape: dict[str, Any] = {}
    for key in sorted(graph.get_all_asset_keys()):
        node = graph.get(key)
        shape[key.to_user_string()] = {
            "after": sorted(parent.to_user_string() for parent in node.parent_keys),
            "group": node.group_name,
            "kinds": sorted(node.kinds),
            "partitions": node.partitions_def.get_partition_keys() if node.partitions_def else None,
            "checks": sorted(check.name for check in node.check_keys),
        }
    assert shape == snapshot
    assert [job.name for job in assets.jobs or []] == snapshot(name="jobs")
    assert [sensor.name for sensor in assets.sensors or []] == snapshot(name="sensors")


def test_every_asset_is_described(assets: dg.Definitions) -> None:
    graph = assets.resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        assert node.description, key
        assert node.owners, key
        assert node.kinds, key
        columns = [
            value for value in node.metadata.values() if isinstance(value, dg.TableSchemaMetadataValue | dg.TableSchema)
        ]
        assert columns or key == keys.SOURCE, key


def test_they_load_under_an_empty_home(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    code = "from eval_assets.definitions import defs; print(len(defs.resolve_asset_graph().get_all_asset_keys()))"
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        cwd=REPOSITORY,
        env={**environment, "DAGSTER_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) > len(keys.STAGES)
    assert list(tmp_path.iterdir()) == []
