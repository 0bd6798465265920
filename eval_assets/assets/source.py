"""``benchmark_source``: the file of a benchmark, whose data version is the digest of its bytes and settings."""

import hashlib
import time
from pathlib import Path
from typing import Any, Final

import dagster as dg

from converters.errors import BadInput
from converters.source import SourceFingerprint, fingerprint
from eval_assets.graph import Graph
from eval_assets.keys import SOURCE
from eval_assets.settings import Benchmark
from eval_assets.stored import SECONDS, Event

SHA256: Final = "sha256"
FILE: Final = "file"
STAT: Final = "eval_assets/source_stat"


def benchmark_source(graph: Graph) -> dg.AssetsDefinition:
    """The root of the graph: what the file of a benchmark is. Not stored: the file stays where it is."""

    @dg.asset(
        key=SOURCE,
        partitions_def=graph.partitions,
        group_name="corpus",
        kinds={"json"},
        owners=["team:memory"],
        description="The file of a benchmark. Its data version is the sha256 of its (unpacked) bytes and its settings.",
    )
    def build(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        started = time.perf_counter()
        name = context.partition_key
        benchmark = graph.settings.benchmarks[name]
        with graph.working(SOURCE, name):
            path = source_file(graph, name)
            found = fingerprint(path)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(source_version(benchmark, found)),
            metadata={
                FILE: graph.project.shown(path),
                SHA256: found.sha256,
                "bytes": found.n_bytes,
                "format": benchmark.format,
                STAT: dg.MetadataValue.json(file_stat(path)),
                SECONDS: round(time.perf_counter() - started, 3),
            },
        )

    return build


def source_file(graph: Graph, name: str) -> Path:
    """A benchmark's file; raises ``BadInput`` that says where to put it and where it comes from."""
    benchmark = graph.settings.benchmarks[name]
    path = benchmark.file(graph.project)
    if path is None:
        raise BadInput(f"benchmark {name}", "its file is missing", where_to_put(graph, name))
    return path


def where_to_put(graph: Graph, name: str) -> str:
    """What a person can do about a missing file."""
    benchmark = graph.settings.benchmarks[name]
    place = graph.project.shown(graph.project.sources / benchmark.files[0])
    return f"put it at {place}" + (f" (it is {benchmark.fetch})" if benchmark.fetch else "")


def source_version(benchmark: Benchmark, found: SourceFingerprint) -> str:
    """The data version of a benchmark: its bytes and the settings that say how to read them."""
    return hashlib.sha256(f"{benchmark.format}\n{found.sha256}".encode()).hexdigest()


def file_stat(path: Path) -> dict[str, Any]:
    """What is compared before a file is hashed again."""
    stat = path.stat()
    return {"path": str(path), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def source_changed(graph: Graph, name: str, event: Event) -> str | None:
    """In words, how a benchmark's file or settings differ from a materialization; None where they do not.

    The file is hashed only where its place, size or time differ.
    """
    benchmark = graph.settings.benchmarks[name]
    path = benchmark.file(graph.project)
    if path is None:
        return None
    if event.metadata.get(STAT) == file_stat(path) and event.metadata.get("format") == benchmark.format:
        return None
    found = fingerprint(path)
    if source_version(benchmark, found) == event.data_version:
        return None
    before, now = str(event.metadata.get(SHA256))[:12], found.sha256[:12]
    if before == now:
        return f"format {event.metadata.get('format')} -> {benchmark.format}"
    return f"the file changed: sha256 {before} -> {now}"
