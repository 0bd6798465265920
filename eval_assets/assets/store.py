"""``stores/<store>``: a benchmark's haystacks, ingested by a provider under one set of ingest settings."""

import hashlib
import time
from typing import Any

import dagster as dg
import polars as pl

from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, column_schema, in_words, output
from eval_assets.io_manager import Rows
from eval_assets.keys import corpus_key, store_key
from eval_assets.placed import placement
from eval_assets.progress import logged
from eval_assets.remote.embedding_keys import vector_code
from eval_assets.remote.system import memory_system
from eval_assets.settings import flatten
from eval_assets.settings_systems import Store
from eval_assets.stored import RETRYABLE
from providers.documents import CONTAINERS
from providers.protocol import RETRYABLE_DOCUMENTS
from providers.registry import PROVIDERS

_TABLES = ("questions", "haystacks", "turns", "memories", "query_options")
SENT = "documents sent"
STORED = "documents stored"
LEFT_OUT = "eval_assets/left_out"


def store_version(store: Store) -> CodeVersion:
    """What decides a store beside the corpus: ingest settings with their defaults, provider code and libraries."""
    entry = PROVIDERS[store.provider]
    ingest = entry.ingest_settings(store.ingest).model_dump(mode="json")
    return code_version(
        settings={
            "provider": store.provider,
            "isolation": store.isolation,
            "revision": store.revision,
            **flatten({"ingest": ingest}),
        },
        roots=("providers.documents", *entry.ingest_code, *vector_code(store), __name__),
        libraries=entry.ingest_libraries,
    )


def store_asset(graph: Graph, name: str, store: Store) -> dg.AssetsDefinition:
    """A store; its value is the provider's tables and which container each haystack went into."""
    entry = PROVIDERS[store.provider]
    version = store_version(store)
    key = store_key(name)
    given = in_words(store.ingest)
    columns = {
        f"columns of {table.name}": column_schema(table) for table in (*entry.store_tables().values(), CONTAINERS)
    }

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name="stores",
        kinds={"parquet", store.provider},
        owners=["team:memory"],
        code_version=version.digest,
        description=f"What the provider {store.provider} holds; containers: {store.isolation}.\n\nSettings: {given}",
        metadata={"all settings": dg.MetadataValue.json(dict(version.settings)), **columns},
        ins={table: dg.AssetIn(key=corpus_key(table)) for table in _TABLES},
    )
    def build(
        context: dg.AssetExecutionContext,
        questions: pl.DataFrame,
        haystacks: pl.DataFrame,
        turns: pl.DataFrame,
        memories: pl.DataFrame,
        query_options: pl.DataFrame,
    ) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key):
            placed = placement(
                store,
                context.partition_key,
                haystacks=haystacks,
                questions=questions,
                memories=memories,
                query_options=query_options,
            )
            context.log.info("storing %d documents in %d containers", placed.documents.height, placed.containers.height)
            with memory_system(graph.project, name, store, context.partition_key) as system:
                built = system.build(documents=placed.documents, turns=turns, progress=logged(context.log))
            tables = {table: Rows.of(entry.store_tables()[table], frame) for table, frame in built.tables.items()}
            tables[CONTAINERS.name] = Rows.of(CONTAINERS, placed.containers)
        digests = [f"{table} {rows.digest}" for table, rows in sorted(tables.items())]
        return output(
            tables,
            version,
            data_version=hashlib.sha256("\n".join(digests).encode()).hexdigest(),
            started=started,
            metadata={
                "made with": given,
                SENT: built.sent,
                STORED: built.stored,
                LEFT_OUT: dg.MetadataValue.json(dict(built.left_out)),
                "containers": placed.containers["container"].n_unique(),
                **built.notes,
                RETRYABLE: int(built.notes.get(RETRYABLE_DOCUMENTS, 0)),
            },
        )

    return build
