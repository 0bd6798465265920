"""Removes the files of old runs. The last ones of each partition stay, and so does every event."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import dagster as dg

from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.stored import PATH, events

_LINK: Final = "current"


def removable(instance: dg.DagsterInstance, graph: Graph, keep: int) -> list[Path]:
    """Files and folders of runs that are not among the last ``keep`` of their partition, and those that no event names.

    Only the folders of assets that the settings have are looked at: what belonged to a system that is no longer in
    systems.yaml stays until a person removes it.
    """
    return [path for key in graph.shelf.layout for path in _of_asset(instance, graph, key, keep)]


def remove(path: Path) -> int:
    """Remove one of them; returns how many bytes it had."""
    size = sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    return size


def _of_asset(instance: dg.DagsterInstance, graph: Graph, key: dg.AssetKey, keep: int) -> Iterator[Path]:
    partitions = [None] if key == keys.LEADERBOARD else list(graph.settings.benchmarks)
    for partition in partitions:
        folder = graph.shelf.folder(key, partition)
        if not folder.is_dir():
            continue
        named = {
            graph.project.data / str(event.metadata[PATH])
            for event in events(instance, key, partition, limit=keep)
            if PATH in event.metadata
        }
        yield from (path for path in sorted(folder.iterdir()) if path not in named and path.stem != _LINK)
