"""``benchmark_source``: the file of a benchmark, whose data version is the digest of its bytes and settings."""

import time

import dagster as dg

from eval_assets.graph import Graph
from eval_assets.keys import SOURCE
from eval_assets.sources import FILE, STAT, data_version, source_of
from eval_assets.stored import SECONDS


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
        with graph.working(SOURCE, name):
            source = source_of(graph.project, graph.settings, name)
            stat = source.stat()
            facts = source.facts()
        return dg.MaterializeResult(
            data_version=dg.DataVersion(data_version(facts)),
            metadata={
                FILE: graph.project.shown(source.path),
                **facts,
                STAT: dg.MetadataValue.json(stat),
                SECONDS: round(time.perf_counter() - started, 3),
            },
        )

    return build
