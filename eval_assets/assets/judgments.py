"""``<system>/judgments/<judge>``: what a judge says of answers; ``<system>/agreement``: what several judges say."""

import time
from typing import Any

import dagster as dg
import polars as pl

from converters.tables import AGREEMENT, JUDGMENTS
from eval_assets.assets.answers import chat_of
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.keys import agreement_key, answers_key, corpus_key, judgments_key
from eval_assets.models.facts import facts_of
from eval_assets.models.judgments import judge_answers
from eval_assets.progress import logged
from eval_assets.settings import Settings
from eval_assets.settings_systems import System
from judges.judging.build import prompt_versions
from judges.qa import ACCURACY, aggregate_answers
from judges.report_values import interval, markdown_table, number
from judges.statistics.agreement import agreement, consensus


def judgments_version(settings: Settings, judge: str) -> CodeVersion:
    """What decides judgments beside answers and gold: the judge, its model, its prompts, and the code of either."""
    found = settings.judges[judge]
    decided: dict[str, Any] = {"judge": found.kind}
    roots: tuple[str, ...] = ("judges.judging.lexical", __name__)
    if found.model is not None:
        roots = ("judges.judging.build", "judges.judging.parse", __name__)
        prompts = {f"prompt {name}": version for name, version in prompt_versions(found.prompts).items()}
        decided |= {"name": judge, "prompts": found.prompts, **prompts, **settings.models[found.model].decides}
    return code_version(settings=decided, roots=roots)


def judgments_asset(graph: Graph, name: str, system: System, judge: str) -> dg.AssetsDefinition:
    """One judge's judgments: one row a question, always all questions."""
    found = graph.settings.judges[judge]
    version = judgments_version(graph.settings, judge)
    key = judgments_key(name, judge)
    caution = "" if found.model else " It compares words, and is no substitute for a model."

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet", *({"openai"} if found.model else set())},
        owners=[system.owner],
        code_version=version.digest,
        description=f"What the judge {judge} says of the answers.{caution}",
        metadata={"all settings": dg.MetadataValue.json(dict(version.settings)), **described(JUDGMENTS)},
        ins={
            "answers": dg.AssetIn(key=answers_key(name)),
            **{table: dg.AssetIn(key=corpus_key(table)) for table in ("questions", "ground_truth")},
        },
    )
    def build(
        context: dg.AssetExecutionContext, answers: pl.DataFrame, questions: pl.DataFrame, ground_truth: pl.DataFrame
    ) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key), chat_of(graph, found.model) as chat:
            frame = judge_answers(
                judge,
                found,
                chat,
                answers=answers,
                questions=questions,
                ground_truth=ground_truth,
                progress=logged(context.log),
            )
            rows = Rows.of(JUDGMENTS, frame)
        facts = {**facts_of(rows.frame), "right": int(rows.frame["label"].sum())}
        return output(rows, version, data_version=rows.digest, started=started, metadata=facts)

    return build


def agreement_version(system: System) -> CodeVersion:
    """What decides agreement beside the judgments: whose they are."""
    return code_version(
        settings={"judges": ", ".join(system.judges)}, roots=("judges.statistics.agreement", "judges.qa", __name__)
    )


def agreement_asset(graph: Graph, name: str, system: System) -> dg.AssetsDefinition:
    """How far each two judges of a system agree: one row a pair and slice."""
    version = agreement_version(system)
    key = agreement_key(name)

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet"},
        owners=[system.owner],
        code_version=version.digest,
        description="Agreement of each two judges on the same answers: raw, Cohen's kappa, and flips by question type.",
        metadata=described(AGREEMENT),
        ins={judge: dg.AssetIn(key=judgments_key(name, judge)) for judge in system.judges},
    )
    def build(context: dg.AssetExecutionContext, **judgments: pl.DataFrame) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key):
            by_judge = {judge: judgments[judge] for judge in system.judges}
            rows = Rows.of(AGREEMENT, agreement(by_judge))
            together = consensus(by_judge)
        table = [
            [row["left"], row["right"], row["slice"], str(row["n"]), number(row["agreement"]), number(row["kappa"])]
            for row in rows.frame.iter_rows(named=True)
        ]
        shown = markdown_table(["judge", "judge", "questions", "n", "agreement", "kappa"], table)
        return output(
            rows,
            version,
            data_version=rows.digest,
            started=started,
            metadata={"agreement": dg.MetadataValue.md(shown), **_by_consensus(together)},
        )

    return build


def _by_consensus(together: pl.DataFrame) -> dict[str, Any]:
    """The accuracies that the labels of most judges give, each with its n; ties are not judged."""
    report = aggregate_answers(together).filter(slice="all")
    table = [
        [row["metric"], number(row["value"]), interval(row["ci_low"], row["ci_high"]), number(row["strict"])]
        + [str(row[count]) for count in ("n", "n_excluded", "n_failed")]
        for row in report.iter_rows(named=True)
    ]
    head = ["by consensus", "value", "95 % interval", "strict", "n", "excluded", "failed or tied"]
    figures = {row["metric"]: row["value"] for row in report.iter_rows(named=True)}
    value = figures.get(ACCURACY)
    return {
        "consensus": dg.MetadataValue.md(markdown_table(head, table)),
        **({} if value is None else {"accuracy by consensus": round(value, 4)}),
    }
