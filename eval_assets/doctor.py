"""Whether what the instance says and what the disk holds agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import dagster as dg

from converters.parquet import footer, read_table
from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.result_sources import result_files
from eval_assets.scope import Part
from eval_assets.settings_systems import ImportedSystem
from eval_assets.stored import PATH, UNREADABLE, Event, last_event

_VERSIONS = ("eval-assets", "dagster", "polars", "pyarrow")


@dataclass(frozen=True)
class Finding:
    """Something that disagrees, and what to do about it."""

    what: str
    remedy: str


def examine(instance: dg.DagsterInstance, graph: Graph) -> tuple[int, list[Finding]]:
    """How many stored partitions were compared, and what disagrees.

    Compared are, of every last materialization: that its files are there, are whole, hold the table and the number of
    rows that the event names, and (for assets of one file) the digest that is its data version.
    """
    checked = 0
    findings = list(_folder(graph))
    for part in _parts(graph):
        event = last_event(instance, part.key, part.partition)
        if event is None or PATH not in event.metadata:
            continue
        checked += 1
        findings += _compare(graph, part, event)
    return checked, findings


def _parts(graph: Graph) -> Iterator[Part]:
    for key in graph.shelf.layout:
        for partition in [None] if key == keys.LEADERBOARD else graph.settings.benchmarks:
            yield Part(key, partition)


def _compare(graph: Graph, part: Part, event: Event) -> Iterator[Finding]:
    rows = 0
    files = graph.shelf.files(part.key, event)
    for path, table in files.items():
        shown = graph.project.shown(path)
        try:
            said = footer(path)
            frame = read_table(table, path)
        except FileNotFoundError:
            yield Finding(f"{part}: {shown} is gone", "refresh makes it again")
            return
        except UNREADABLE as error:
            yield Finding(f"{part}: {shown} cannot be read ({' '.join(str(error).split())})", _again(path))
            return
        rows += frame.height
        if table.digest(frame) != said.get("digest"):
            yield Finding(f"{part}: {shown} does not hold the rows that were written", _again(path))
        if len(files) == 1 and said.get("digest") != event.data_version:
            yield Finding(f"{part}: {shown} is not the data version that the instance names", _again(path))
    if rows != event.metadata.get("dagster/row_count"):
        yield Finding(f"{part}: {rows} rows on disk, {event.metadata.get('dagster/row_count')} recorded", "refresh")


def _again(path: Path) -> str:
    return f"remove {path.name}, then refresh"


def _folder(graph: Graph) -> Iterator[Finding]:
    tables = graph.project.tables
    if tables.is_dir():
        for path in sorted(tables.rglob(".*")):
            yield Finding(f"{graph.project.shown(path)} was left by a process that died", "remove it")


def facts(graph: Graph) -> list[str]:
    """Where things are and which versions are at work."""
    project = graph.project
    told = [
        f"project        {project.root}",
        f"settings       {project.shown(project.systems_file)}: {len(graph.settings.systems)} systems over "
        f"{len(graph.settings.stores)} stores",
        f"DAGSTER_HOME   {project.shown(project.dagster_home())}",
        f"versions       {', '.join(f'{name} {version(name)}' for name in _VERSIONS)}",
    ]
    for name, benchmark in graph.settings.benchmarks.items():
        path = benchmark.file(project)
        told.append(f"benchmark      {name}: {project.shown(path) if path else 'its file is missing'}")
    for name, system in graph.settings.systems.items():
        for where in system.benchmarks if isinstance(system, ImportedSystem) else []:
            for role, file in result_files(graph.settings, name, where).items():
                path = file.find(project)
                place = project.shown(path) if path else "its file is missing"
                told.append(f"{role:14} {name} on {where}: {place}")
    return told
