"""``comparison``: pairs of systems on a benchmark, question by question. It reads whatever is there of either."""

import time
from typing import Any

import dagster as dg

from converters.tables import COMPARISON
from eval_assets import keys
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.comparisons import compare_pairs
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.runs import run_keys
from judges.statistics.compare import NOT_SEPARABLE
from judges.statistics.report_comparison import markdown_comparison, metric_of, note_lines, verdict_lines


def comparison_version(graph: Graph) -> CodeVersion:
    """What decides a comparison beside scores and judgments: which pairs by which metrics, and the statistics' code."""
    return code_version(
        settings={"comparisons": "; ".join(map(str, graph.settings.compared))},
        roots=(
            "judges.statistics.compare",
            "judges.statistics.conditions",
            "judges.statistics.report_comparison",
            "eval_assets.comparisons",
            "eval_assets.runs",
            __name__,
        ),
        libraries=("numpy",),
    )


def comparison(graph: Graph) -> dg.AssetsDefinition:
    """A row a pair, metric and judge. It names what is absent, and the pairs of unlike runs, which it leaves out."""
    version = comparison_version(graph)
    names = dict.fromkeys(name for pair in graph.settings.compared for name in (pair.left, pair.right))

    @dg.asset(
        key=keys.COMPARISON,
        partitions_def=graph.partitions,
        group_name="leaderboard",
        kinds={"parquet", "markdown"},
        owners=["team:memory"],
        code_version=version.digest,
        description="Pairs of systems on the same questions: differences with paired intervals, and whether chance "
        "explains them. Strict: what failed or was not judged is zero. p is adjusted by Holm over all rows.",
        metadata=described(COMPARISON),
        deps=[key for name in names for key in run_keys(graph, name)],
    )
    def build(context: dg.AssetExecutionContext) -> dg.Output[Any]:
        started = time.perf_counter()
        with graph.working(keys.COMPARISON, context.partition_key):
            found = compare_pairs(graph, context.instance, context.partition_key)
            rows = Rows.of(COMPARISON, found.frame)
        frame = rows.frame
        differences = {
            f"{row['right']} - {row['left']} {metric_of(row)}": round(row["difference"], 4)
            for row in frame.iter_rows(named=True)
            if row["difference"] is not None
        }
        return output(
            rows,
            version,
            data_version=rows.digest,
            started=started,
            metadata={
                "verdicts": dg.MetadataValue.md(_list(verdict_lines(frame), "nothing to compare")),
                "differences": dg.MetadataValue.md(markdown_comparison(frame)),
                "notes": dg.MetadataValue.md(_list(note_lines(frame), "none")),
                NOT_SEPARABLE: f"{(frame['verdict'] == NOT_SEPARABLE).sum()} of {frame.height}",
                "unlike runs, not compared": "; ".join(found.refused) or "none",
                "absent": ", ".join(found.absent) or "none",
                **differences,
            },
        )

    return build


def _list(lines: list[str], otherwise: str) -> str:
    escaped = (line.replace("_", "\\_").replace("[", "\\[").replace("]", "\\]") for line in lines)
    return "\n".join(f"- {line}" for line in escaped) or otherwise
