"""``leaderboard``: all systems on all benchmarks that have a report. Unpartitioned: the UI plots it over time."""

import time
from collections.abc import Collection, Iterator
from typing import Any

import dagster as dg
import polars as pl

from converters.tables import LEADERBOARD
from eval_assets import keys
from eval_assets.baselines import BASELINE, baseline_of
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from judges.qa import ACCURACY
from judges.report_answers import LEXICAL, judges_of, overall, shown_judge
from judges.report_values import NOTHING, Figures, cell, markdown_table, number

_WIDTH = 40
_COLUMNS = {
    "hit_5": ("hit", 5),
    "recall_5": ("recall", 5),
    "mrr_5": ("mrr", 5),
    "hit_10": ("hit", 10),
    "recall_10": ("recall", 10),
    "ndcg_10": ("ndcg", 10),
}


def leaderboard_version(graph: Graph) -> CodeVersion:
    """What decides the leaderboard beside the reports: which systems there are."""
    return code_version(
        settings={"systems": ", ".join(graph.settings.systems)},
        roots=("judges.report_values", "judges.report_answers", __name__),
    )


def leaderboard(graph: Graph) -> dg.AssetsDefinition:
    """A row a system and benchmark. It reads whatever reports exist, and names the targets that have none."""
    version = leaderboard_version(graph)

    @dg.asset(
        key=keys.LEADERBOARD,
        group_name="leaderboard",
        kinds={"parquet", "markdown"},
        owners=["team:memory"],
        code_version=version.digest,
        description="Every system on every benchmark that has a report. Strict: what failed or was not judged is zero.",
        metadata=described(LEADERBOARD),
        deps=[
            dg.AssetDep(keys.report_key(name), partition_mapping=dg.AllPartitionMapping())
            for name in graph.settings.systems
        ],
    )
    def build(context: dg.AssetExecutionContext) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(keys.LEADERBOARD, None):
            found = pl.DataFrame(list(_standings(graph, context.instance)), schema=LEADERBOARD.empty.schema)
            ranked = found.sort(
                *("benchmark", "hit_5", "mrr_5", "accuracy", "system"),
                descending=[False, True, True, True, False],
                nulls_last=True,
            )
            rows = Rows.of(LEADERBOARD, ranked)
        does = {name: baseline_of(graph.settings, name) for name in rows.frame["system"].unique().sort()}
        baselines = {name: said for name, said in does.items() if said}
        present = set(rows.frame.select("system", "benchmark").iter_rows())
        absent = [
            f"{system} on {benchmark}"
            for system, benchmark in graph.settings.pairs
            if (system, benchmark) not in present
        ]
        figures = {
            f"{row['benchmark']}/{row['system']} {metric}@{k}": round(row[column], 4)
            for row in rows.frame.iter_rows(named=True)
            for column, (metric, k) in _COLUMNS.items()
            if row[column] is not None
        } | {
            f"{row['benchmark']}/{row['system']} {_accuracy(row['judge'])}": round(row["accuracy"], 4)
            for row in rows.frame.iter_rows(named=True)
            if row["accuracy"] is not None
        }
        return output(
            rows,
            version,
            data_version=rows.digest,
            started=started,
            metadata={
                "standings": dg.MetadataValue.md(_markdown(rows.frame, baselines)),
                **({"baselines": "; ".join(f"{one}: {does}" for one, does in baselines.items())} if baselines else {}),
                "without a report": ", ".join(absent) or "none",
                **figures,
            },
        )

    return build


def _standings(graph: Graph, instance: dg.DagsterInstance) -> Iterator[dict[str, Any]]:
    for system in graph.settings.systems:
        made = instance.get_materialized_partitions(keys.report_key(system))
        for benchmark in (name for name in graph.settings.benchmarks if name in made):
            report = graph.shelf.frame(instance, keys.report_key(system), benchmark)
            yield {"benchmark": benchmark, "system": system, **_retrieval(report), **_answers(report)}


def _retrieval(report: pl.DataFrame) -> dict[str, Any]:
    figures = Figures.of(report)
    if not figures.rows:
        return {}
    return {
        "n": figures.count("n") + figures.count("n_failed"),
        "n_failed": figures.count("n_failed"),
        "n_excluded": figures.count("n_excluded"),
        **{column: figures.get(metric, k, "strict") for column, (metric, k) in _COLUMNS.items()},
    }


def _answers(report: pl.DataFrame) -> dict[str, Any]:
    judge = next(iter(judges_of(report)), None)
    if judge is None:
        return {}
    row = next(row for row in overall(report, judge) if row["metric"] == ACCURACY)
    return {"n_answers": row["n"] + row["n_failed"], "accuracy": row["strict"], "judge": judge or None}


def _accuracy(judge: str | None) -> str:
    return f"{ACCURACY}[{LEXICAL}]" if judge == LEXICAL else ACCURACY


def _markdown(frame: pl.DataFrame, baselines: Collection[str]) -> str:
    names = [f"{metric}@{k}" for metric, k in _COLUMNS.values()]
    rows = [
        [
            row["benchmark"],
            f"{row['system']} ({BASELINE})" if row["system"] in baselines else row["system"],
            *(NOTHING if row[name] is None else str(row[name]) for name in ("n", "n_failed")),
            *(number(row[name]) for name in _COLUMNS),
            NOTHING if row["n_answers"] is None else str(row["n_answers"]),
            number(row["accuracy"]),
            cell(shown_judge(row["judge"]) if row["judge"] else NOTHING, _WIDTH),
        ]
        for row in frame.iter_rows(named=True)
    ]
    return markdown_table(["benchmark", "system", "n", "failed", *names, "answers", "accuracy", "judge"], rows)
