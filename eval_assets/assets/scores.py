"""``<system>/retrieval_scores``: each question's retrieval metrics."""

import time
from typing import Any

import dagster as dg
import polars as pl

from converters.fixture.units import fold_chunks
from converters.tables import RETRIEVAL_SCORES
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.keys import corpus_key, scores_key, search_key
from eval_assets.settings_systems import ImportedSystem, System
from judges.retrieval import score

_TABLES = ("questions", "haystacks", "ground_truth", "query_options", "memories")


def scores_version() -> CodeVersion:
    """What decides scores beside results and labels: the metrics' code."""
    return code_version(
        settings={}, roots=("judges.retrieval", "converters.fixture.units", __name__), libraries=("numpy", "polars")
    )


def scores_asset(graph: Graph, name: str, system: System | ImportedSystem) -> dg.AssetsDefinition:
    """A system's retrieval scores: one row a question, always all questions. Needs no model."""
    version = scores_version()
    key = scores_key(name)

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet"},
        owners=[system.owner],
        code_version=version.digest,
        description="Retrieval metrics of every question, at session level and at turn level.",
        metadata=described(RETRIEVAL_SCORES),
        ins={
            "results": dg.AssetIn(key=search_key(name)),
            **{table: dg.AssetIn(key=corpus_key(table)) for table in _TABLES},
        },
    )
    def build(
        context: dg.AssetExecutionContext,
        results: pl.DataFrame,
        questions: pl.DataFrame,
        haystacks: pl.DataFrame,
        ground_truth: pl.DataFrame,
        query_options: pl.DataFrame,
        memories: pl.DataFrame,
    ) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key):
            units, truth = fold_chunks(haystacks=haystacks, ground_truth=ground_truth, memories=memories)
            scored = score(
                results=results,
                questions=questions,
                haystacks=units,
                ground_truth=truth,
                query_options=query_options,
            )
            rows = Rows.of(RETRIEVAL_SCORES, scored)
        excluded = rows.frame["excluded"].is_not_null().sum()
        return output(
            rows,
            version,
            data_version=rows.digest,
            started=started,
            metadata={"questions": rows.frame.height, "excluded": int(excluded)},
        )

    return build
