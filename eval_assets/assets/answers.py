"""``<system>/answers``: what a reader makes of the hits of each question."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg
import polars as pl

from converters.tables import ANSWERS
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.keys import answers_key, corpus_key, search_key
from eval_assets.models.answers import read_answers
from eval_assets.models.chat import Chat, chat_with
from eval_assets.models.facts import facts_of
from eval_assets.progress import logged
from eval_assets.settings import Settings
from eval_assets.settings_systems import System
from judges.readers.prompt import prompt_version


def answers_version(settings: Settings, system: System) -> CodeVersion:
    """What decides answers beside hits and questions: the reader, its model, its prompt, and the code of either."""
    assert system.reader is not None
    reader = settings.readers[system.reader]
    decided: dict[str, Any] = {"reader": reader.kind, "hits": reader.hits}
    root = "judges.readers.extractive"
    if reader.model is not None:
        root = "judges.readers.prompt"
        model = settings.models[reader.model]
        context = {"context_tokens": model.context_tokens, "budget_tokens": reader.budget_tokens}
        decided |= {"prompt": prompt_version(), **context, **model.decides}
    return code_version(settings=decided, roots=(root, "judges.hits", __name__))


@contextmanager
def chat_of(graph: Graph, model: str | None) -> Iterator[Chat | None]:
    """A model that can be asked; None where none is named."""
    if model is None:
        yield None
        return
    with chat_with(graph.project, model, graph.settings.models[model]) as chat:
        yield chat


def answers_asset(graph: Graph, name: str, system: System) -> dg.AssetsDefinition:
    """A system's answers: one row a question, always all questions."""
    assert system.reader is not None
    reader = graph.settings.readers[system.reader]
    version = answers_version(graph.settings, system)
    key = answers_key(name)

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet", *({"openai"} if reader.model else set())},
        owners=[system.owner],
        code_version=version.digest,
        description=f"Answers of the reader {system.reader}.",
        metadata={"all settings": dg.MetadataValue.json(dict(version.settings)), **described(ANSWERS)},
        ins={
            "results": dg.AssetIn(key=search_key(name)),
            "questions": dg.AssetIn(key=corpus_key("questions")),
        },
    )
    def build(context: dg.AssetExecutionContext, results: pl.DataFrame, questions: pl.DataFrame) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key), chat_of(graph, reader.model) as chat:
            frame = read_answers(reader, chat, results=results, questions=questions, progress=logged(context.log))
            rows = Rows.of(ANSWERS, frame)
        return output(rows, version, data_version=rows.digest, started=started, metadata=facts_of(rows.frame))

    return build
