"""``<system>/relevance``: which hits of a search a model takes for relevant, beside what the source says."""

import time
from typing import Any

import dagster as dg
import polars as pl

from converters.tables import RELEVANCE
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.keys import corpus_key, relevance_key, search_key
from eval_assets.models.chat import chat_with
from eval_assets.models.facts import facts_of
from eval_assets.models.relevance import judge_hits
from eval_assets.progress import logged
from eval_assets.settings import Settings
from eval_assets.settings_systems import System
from judges.relevance.build import prompt_file


def relevance_version(settings: Settings, system: System) -> CodeVersion:
    """What decides relevance beside hits and gold: the judge's name, its model, its prompt, and the code of either."""
    model = settings.models[model_name(settings, system)]
    context = {"context_tokens": model.context_tokens}
    decided = {"name": system.relevance, "prompt": prompt_file().label, **context, **model.decides}
    roots = ("judges.relevance.build", "judges.relevance.parse", "eval_assets.models.relevance", __name__)
    return code_version(settings=decided, roots=roots)


def model_name(settings: Settings, system: System) -> str:
    """The model that judges a system's hits; the settings are known to name one."""
    found = settings.judges[str(system.relevance)].model
    assert found is not None
    return found


def relevance_asset(graph: Graph, name: str, system: System) -> dg.AssetsDefinition:
    """What a judge says of a system's hits: one row a question, always all questions."""
    version = relevance_version(graph.settings, system)
    key = relevance_key(name)
    judge = str(system.relevance)
    model = model_name(graph.settings, system)

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet", "openai"},
        owners=[system.owner],
        code_version=version.digest,
        description=f"Which hits the judge {judge} takes for relevant: an opinion, beside the evidence that is known.",
        metadata={"all settings": dg.MetadataValue.json(dict(version.settings)), **described(RELEVANCE)},
        ins={
            "results": dg.AssetIn(key=search_key(name)),
            **{table: dg.AssetIn(key=corpus_key(table)) for table in ("questions", "ground_truth")},
        },
    )
    def build(
        context: dg.AssetExecutionContext, results: pl.DataFrame, questions: pl.DataFrame, ground_truth: pl.DataFrame
    ) -> dg.Output[Any]:
        started = time.perf_counter()
        settings = graph.settings.models[model]
        with graph.working(key, context.partition_key), chat_with(graph.project, model, settings) as chat:
            frame = judge_hits(
                judge,
                chat,
                results=results,
                questions=questions,
                ground_truth=ground_truth,
                progress=logged(context.log),
            )
            rows = Rows.of(RELEVANCE, frame)
        judged = rows.frame["relevance"].drop_nulls()
        facts = {
            **facts_of(rows.frame),
            "hits judged": int(judged.list.len().sum()),
            "hits relevant": int(judged.list.sum().sum()),
            "hits shown in part": int(rows.frame["n_shortened"].sum()),
        }
        return output(rows, version, data_version=rows.digest, started=started, metadata=facts)

    return build
