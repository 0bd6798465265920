"""Corrected labels: ``corrections``, ``<system>/corrected_scores`` and ``<system>/corrected_judgments/<judge>``.

They hold the corrected questions alone; a report puts them in place of the original rows, an overlay at a time.
"""

import time
from typing import Any

import dagster as dg
import polars as pl

from converters.corrections import correct
from converters.fixture.units import fold_chunks
from converters.tables_corrected import CORRECTED_JUDGMENTS, CORRECTED_SCORES, CORRECTIONS
from eval_assets import keys
from eval_assets.assets.answers import chat_of
from eval_assets.assets.judgments import judgments_version
from eval_assets.assets.scores import scores_version
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.models.facts import facts_of
from eval_assets.models.judgments import judge_answers
from eval_assets.progress import logged
from eval_assets.settings import Settings
from eval_assets.settings_systems import ImportedSystem, System
from judges.retrieval import score

_CORPUS = ("ground_truth", "questions", "haystacks", "memories")
_SCORED_WITH = ("questions", "haystacks", "query_options", "memories")


def corrections_version(settings: Settings) -> CodeVersion:
    """What decides corrections beside the corpus: what corrections.yaml says, and how it is put to use."""
    said = {
        f"{overlay} on {found.benchmark}: {question}.{name}": value
        for overlay, found in settings.corrections.items()
        for question, correction in found.questions.items()
        for name, value in correction.decides.items()
    }
    return code_version(settings=said, roots=("converters.corrections", __name__))


def corrections_asset(graph: Graph) -> dg.AssetsDefinition:
    """The labels of the corrected questions, by overlay."""
    version = corrections_version(graph.settings)
    key = keys.CORRECTIONS

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name="corpus",
        kinds={"parquet", "yaml"},
        owners=["team:memory"],
        code_version=version.digest,
        description="Corrected labels of data/corrections.yaml: a row an overlay and question that it corrects.",
        metadata=described(CORRECTIONS),
        ins={table: dg.AssetIn(key=keys.corpus_key(table)) for table in _CORPUS},
    )
    def build(
        context: dg.AssetExecutionContext,
        ground_truth: pl.DataFrame,
        questions: pl.DataFrame,
        haystacks: pl.DataFrame,
        memories: pl.DataFrame,
    ) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key):
            overlays = graph.settings.corrections_of(context.partition_key)
            frame = correct(
                graph.project.corrections_file,
                {
                    name: {question: one.correction for question, one in overlay.questions.items()}
                    for name, overlay in overlays.items()
                },
                ground_truth=ground_truth,
                questions=questions,
                haystacks=haystacks,
                memories=memories,
            )
            rows = Rows.of(CORRECTIONS, frame)
        facts = {f"corrected by {name}": len(overlay.questions) for name, overlay in overlays.items()}
        return output(rows, version, data_version=rows.digest, started=started, metadata=facts)

    return build


def corrected_scores_version() -> CodeVersion:
    """What decides corrected scores beside their inputs: the metrics' code."""
    return code_version(settings={}, roots=(*scores_version().modules, __name__), libraries=("numpy", "polars"))


def corrected_scores_asset(graph: Graph, name: str, system: System | ImportedSystem) -> dg.AssetsDefinition:
    """A system's retrieval scores against corrected labels. Searches nothing."""
    version = corrected_scores_version()
    key = keys.corrected_scores_key(name)

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet"},
        owners=[system.owner],
        code_version=version.digest,
        description="Retrieval metrics of the corrected questions, against each overlay's labels.",
        metadata=described(CORRECTED_SCORES),
        ins={
            "results": dg.AssetIn(key=keys.search_key(name)),
            "corrections": dg.AssetIn(key=keys.CORRECTIONS),
            **{table: dg.AssetIn(key=keys.corpus_key(table)) for table in _SCORED_WITH},
        },
    )
    def build(
        context: dg.AssetExecutionContext,
        results: pl.DataFrame,
        corrections: pl.DataFrame,
        questions: pl.DataFrame,
        haystacks: pl.DataFrame,
        query_options: pl.DataFrame,
        memories: pl.DataFrame,
    ) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key):
            units, truth = fold_chunks(haystacks=haystacks, ground_truth=corrections, memories=memories)
            frames = [
                score(
                    results=results.join(corrected, on="question_id", how="semi"),
                    questions=questions.join(corrected, on="question_id", how="semi"),
                    haystacks=units,
                    ground_truth=corrected,
                    query_options=query_options,
                    overlay=str(overlay),
                ).with_columns(overlay=pl.lit(overlay))
                for (overlay,), corrected in truth.group_by("overlay", maintain_order=True)
            ]
            rows = Rows.of(CORRECTED_SCORES, pl.concat([CORRECTED_SCORES.empty, *frames], how="diagonal"))
        return output(
            rows, version, data_version=rows.digest, started=started, metadata={"questions": rows.frame.height}
        )

    return build


def corrected_judgments_version(settings: Settings, judge: str) -> CodeVersion:
    """What decides corrected judgments beside their inputs: the judge, as of the original ones."""
    usual = judgments_version(settings, judge)
    return code_version(settings=usual.settings, roots=(*usual.modules, __name__))


def corrected_judgments_asset(graph: Graph, name: str, system: System, judge: str) -> dg.AssetsDefinition:
    """One judge's judgments of the same answers against corrected labels; an unchanged prompt costs nothing."""
    found = graph.settings.judges[judge]
    version = corrected_judgments_version(graph.settings, judge)
    key = keys.corrected_judgments_key(name, judge)

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet", *({"openai"} if found.model else set())},
        owners=[system.owner],
        code_version=version.digest,
        description=f"What the judge {judge} says of the answers to the corrected questions, overlay by overlay.",
        metadata=described(CORRECTED_JUDGMENTS),
        ins={
            "answers": dg.AssetIn(key=keys.answers_key(name)),
            "corrections": dg.AssetIn(key=keys.CORRECTIONS),
            "questions": dg.AssetIn(key=keys.corpus_key("questions")),
        },
    )
    def build(
        context: dg.AssetExecutionContext, answers: pl.DataFrame, corrections: pl.DataFrame, questions: pl.DataFrame
    ) -> dg.Output[Any]:
        started = time.perf_counter()
        frames = [CORRECTED_JUDGMENTS.empty]
        with graph.working(key, context.partition_key), chat_of(graph, found.model) as chat:
            for (overlay,), corrected in corrections.group_by("overlay", maintain_order=True):
                frame = judge_answers(
                    judge,
                    found,
                    chat,
                    answers=answers,
                    questions=questions.join(corrected, on="question_id", how="semi"),
                    ground_truth=corrected,
                    overlay=str(overlay),
                    progress=logged(context.log),
                )
                frames.append(frame.with_columns(overlay=pl.lit(overlay)))
            rows = Rows.of(CORRECTED_JUDGMENTS, pl.concat(frames, how="diagonal"))
        return output(rows, version, data_version=rows.digest, started=started, metadata=facts_of(rows.frame))

    return build
