"""``<system>/report``: a system's metrics on a benchmark, with tables for the UI."""

import time
from typing import Any

import dagster as dg
import polars as pl

from converters.tables import REPORT
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.keys import report_key, scores_key
from eval_assets.settings import System
from judges.aggregate import aggregate
from judges.report_markdown import markdown_by_type, markdown_headline, markdown_worst
from judges.report_text import headline


def report_version() -> CodeVersion:
    """What decides a report beside the scores: the aggregates' code, and the library that draws its intervals."""
    return code_version(settings={}, roots=("judges.aggregate", __name__), libraries=("numpy",))


def report_asset(graph: Graph, name: str, system: System) -> dg.AssetsDefinition:
    """A system's report on a benchmark: one row a slice, level, metric and cut-off."""
    version = report_version()
    key = report_key(name)

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet", "markdown"},
        owners=[system.owner],
        code_version=version.digest,
        description="Metrics with n, interval, and what was excluded or failed; by question type; the worst questions.",
        metadata=described(REPORT),
        ins={"scores": dg.AssetIn(key=scores_key(name))},
    )
    def build(context: dg.AssetExecutionContext, scores: pl.DataFrame) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key):
            rows = Rows.of(REPORT, aggregate(scores))
        figures = {label: round(value, 4) for label, value in headline(rows.frame).items() if value is not None}
        tables = {
            "metrics": markdown_headline(rows.frame),
            "by question type": markdown_by_type(rows.frame),
            "worst questions": markdown_worst(scores),
        }
        return output(
            rows,
            version,
            data_version=rows.digest,
            started=started,
            metadata={
                **{title: dg.MetadataValue.md(text) for title, text in tables.items()},
                **figures,
            },
        )

    return build
