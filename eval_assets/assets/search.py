"""``<system>/search_results``: what a system finds for each question."""

import time
from collections.abc import Mapping
from typing import Any

import dagster as dg
import polars as pl

from converters.tables import BASE_OVERLAY, SEARCH_RESULTS
from eval_assets.baselines import baseline_words
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, in_words, output
from eval_assets.io_manager import Rows
from eval_assets.keys import corpus_key, search_key, store_key
from eval_assets.remote.embedding_keys import vector_code
from eval_assets.remote.system import memory_system
from eval_assets.settings import flatten
from eval_assets.settings_systems import Store, System
from eval_assets.stored import RETRYABLE
from providers.documents import CONTAINERS, ask
from providers.protocol import REPLIES
from providers.registry import PROVIDERS

GROUND_TRUTH = "ground_truth"


def search_version(store: Store, system: System) -> CodeVersion:
    """What decides search results beside the store: retrieval settings with their defaults, code and libraries."""
    entry = PROVIDERS[store.provider]
    retrieval = entry.retrieval_settings(system.retrieval).model_dump(mode="json")
    return code_version(
        settings={"limit": system.limit, "revision": system.revision, **flatten({"retrieval": retrieval})},
        roots=("providers.documents", *entry.retrieval_code, *vector_code(store, system), __name__),
        libraries=entry.retrieval_libraries,
    )


def search_asset(graph: Graph, name: str, system: System) -> dg.AssetsDefinition:
    """A system's search results: one row a question, always all questions."""
    store = graph.settings.stores[system.store]
    version = search_version(store, system)
    key = search_key(name)
    given = in_words(system.retrieval)
    entry = PROVIDERS[store.provider]
    # No provider's search but the oracle's may see this table.
    shown = {GROUND_TRUTH: dg.AssetIn(key=corpus_key(GROUND_TRUTH))} if entry.sees_gold else {}
    about = f"{system.description}{baseline_words(store)} At most {system.limit} hits a question."

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet", store.provider},
        owners=[system.owner],
        code_version=version.digest,
        description=f"{about}\n\nSettings: {given}".strip(),
        metadata={"all settings": dg.MetadataValue.json(dict(version.settings)), **described(SEARCH_RESULTS)},
        ins={
            "store_tables": dg.AssetIn(key=store_key(system.store)),
            "questions": dg.AssetIn(key=corpus_key("questions")),
            **shown,
        },
    )
    def build(
        context: dg.AssetExecutionContext,
        store_tables: Mapping[str, pl.DataFrame],
        questions: pl.DataFrame,
        **gold: pl.DataFrame,
    ) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key):
            queries = ask(questions, store_tables[CONTAINERS.name])
            own = {table: frame for table, frame in store_tables.items() if table != CONTAINERS.name}
            context.log.info("asking %d questions", queries.height)
            with memory_system(graph.project, system.store, store, context.partition_key, system) as provider:
                told = {"evidence": evidence_of(questions, gold[GROUND_TRUTH])} if gold else {}
                replies = REPLIES.validate(provider.search(store=own, queries=queries, limit=system.limit, **told))
                asked = dict(getattr(provider, "facts", {}))
            rows = Rows.of(SEARCH_RESULTS, answered(questions, replies, system.limit))
        facts = {"made with": given, **_facts(rows.frame), **asked}
        return output(rows, version, data_version=rows.digest, started=started, metadata=facts)

    return build


def evidence_of(questions: pl.DataFrame, ground_truth: pl.DataFrame) -> pl.DataFrame:
    """What the oracle is told (``providers.baselines.gold.Evidence``); queries are numbered in ordinal order."""
    truth = ground_truth.filter(pl.col("overlay") == BASE_OVERLAY).select("question_id", "evidence_hashes")
    numbered = questions.sort("ordinal").select("question_id").with_row_index("query")
    return numbered.join(truth, on="question_id", maintain_order="left").select("query", "evidence_hashes")


def answered(questions: pl.DataFrame, replies: pl.DataFrame, limit: int) -> pl.DataFrame:
    """One row a question, in ordinal order. A question that got no reply is an error that may be retried."""
    asked = questions.sort("ordinal").select("question_id").with_row_index("query")
    joined = asked.join(replies, on="query", how="left", maintain_order="left")
    silent = pl.col("status").is_null()
    return joined.with_columns(
        error=pl.when(silent).then(pl.lit("no reply to this question")).otherwise("error"),
        retryable=pl.col("retryable").fill_null(value=True),
        status=pl.col("status").fill_null("error"),
        hits=pl.col("hits").fill_null([]),
        limit=pl.lit(limit, pl.UInt32),
    ).select(SEARCH_RESULTS.schema.column_names())


def _facts(frame: pl.DataFrame) -> dict[str, Any]:
    latency = frame["latency_ms"].drop_nulls()
    facts: dict[str, Any] = {
        "questions": frame.height,
        **{f"status {row['status']}": row["len"] for row in frame.group_by("status").len().iter_rows(named=True)},
        RETRYABLE: int(frame["retryable"].sum()),
    }
    if latency.len():
        facts |= {
            "latency p50 (ms)": round(float(latency.quantile(0.5) or 0), 3),
            "latency p95 (ms)": round(float(latency.quantile(0.95) or 0), 3),
        }
    return facts
