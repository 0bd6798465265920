"""``<system>/report``: a system's metrics on a benchmark, with tables for the UI."""

import time
from collections.abc import Mapping
from typing import Any

import dagster as dg
import polars as pl

from converters.tables import REPORT
from eval_assets.baselines import baseline_words
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.keys import (
    corrected_judgments_key,
    corrected_scores_key,
    judgments_key,
    relevance_key,
    report_key,
    scores_key,
)
from eval_assets.report_tables import report_tables
from eval_assets.settings_corrections import Overlay
from eval_assets.settings_systems import ImportedSystem, System
from judges.aggregate import aggregate
from judges.qa import aggregate_answers
from judges.relevance.aggregate import aggregate_relevance, markdown_relevance
from judges.report_answers import markdown_answers
from judges.report_buckets import markdown_failures
from judges.report_corrections import markdown_corrections, not_judged_again
from judges.report_markdown import markdown_by_type, markdown_headline, markdown_worst
from judges.report_phases import markdown_phases
from judges.report_text import headline
from judges.report_values import cell


def report_version(system: System | ImportedSystem, corrections: Mapping[str, Overlay] | None = None) -> CodeVersion:
    """What decides a report beside the scores: the aggregates' code, and the library that draws its intervals.

    Of an imported system also what it has where: a report no longer shows what was taken out of the settings.
    """
    settings = {} if isinstance(system, ImportedSystem) or not system.judges else {"judges": ", ".join(system.judges)}
    judged: tuple[str, ...] = ()
    if isinstance(system, System) and system.relevance is not None:
        settings["relevance"] = system.relevance
        judged = ("judges.relevance.aggregate",)
    if isinstance(system, ImportedSystem):
        answers = dict.fromkeys([*system.answers, *system.judgments])
        settings = {"results on": ", ".join(system.results), "answers on": ", ".join(answers)}
    if corrections:
        settings["corrections"] = ", ".join(f"{name} on {one.benchmark}" for name, one in corrections.items())
    return code_version(
        settings=settings,
        roots=("judges.aggregate", "judges.qa", *judged, "eval_assets.report_tables", __name__),
        libraries=("numpy",),
    )


def report_asset(graph: Graph, name: str, system: System | ImportedSystem) -> dg.AssetsDefinition:
    """A system's report on a benchmark: one row a slice, level, metric and cut-off.

    It is made of retrieval scores, of judgments, or of both, as the system has them on that benchmark.
    """
    version = report_version(system, graph.settings.corrections)
    key = report_key(name)
    marked = baseline_words(graph.settings.stores[system.store]) if isinstance(system, System) else ""

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet", "markdown"},
        owners=[system.owner],
        code_version=version.digest,
        description="Metrics with n, interval, and what was excluded or failed; by question type; the worst questions."
        + marked,
        metadata=described(REPORT),
        deps=[*_inputs(name, system), *_corrected(graph, name, system)],
    )
    def build(context: dg.AssetExecutionContext) -> dg.Output[Any]:
        started = time.perf_counter()
        benchmark = context.partition_key
        with graph.working(key, benchmark):
            there = report_tables(graph, context.instance, name, benchmark)
            levels = [] if there.scores is None else [aggregate(there.scores)]
            levels += [aggregate_answers(judgments) for judgments in there.judgments.values()]
            if there.scores is not None and there.relevance is not None:
                levels.append(aggregate_relevance(there.relevance, there.scores))
            levels += [_under(overlay, aggregate(one)) for overlay, one in there.corrected_scores.items()]
            levels += [
                _under(overlay, aggregate_answers(one)) for (overlay, _), one in there.corrected_judgments.items()
            ]
            rows = Rows.of(REPORT, pl.concat(levels))
            failed = there.failures
        figures = {label: round(value, 4) for label, value in headline(rows.frame).items() if value is not None}
        tables = {"metrics": markdown_headline(rows.frame)}
        if there.judgments:
            tables["answers"] = markdown_answers(rows.frame)
        if there.relevance is not None:
            tables["relevance as judged"] = markdown_relevance(rows.frame)
        if there.scores is not None:
            tables["by question type"] = markdown_by_type(rows.frame)
            tables["worst questions"] = markdown_worst(there.scores)
        if there.corrected_scores:
            tables["corrected labels"] = markdown_corrections(rows.frame)
        overlays = graph.settings.corrections_of(benchmark)
        if overlays and there.judgments and isinstance(system, ImportedSystem):
            tables["labels that are not corrected"] = cell(not_judged_again(overlays, there.judgments), 600)
        if failed:
            tables["where questions went wrong"] = markdown_failures(failed)
        # What differs from run to run is told here and by the command line, and is in no row.
        tables["time, tokens and money"] = markdown_phases(there.spent)
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


def _under(overlay: str, report: pl.DataFrame) -> pl.DataFrame:
    return report.with_columns(overlay=pl.lit(overlay))


def _corrected(graph: Graph, name: str, system: System | ImportedSystem) -> list[dg.AssetKey]:
    judges = system.judges if isinstance(system, System) else ()
    found = [corrected_scores_key(name), *(corrected_judgments_key(name, judge) for judge in judges)]
    return [key for key in found if key in graph.shelf.layout]


def _inputs(name: str, system: System | ImportedSystem) -> list[dg.AssetKey]:
    if isinstance(system, System):
        judged = [judgments_key(name, judge) for judge in system.judges]
        return [scores_key(name), *judged, *([relevance_key(name)] if system.relevance else [])]
    return [*([scores_key(name)] if system.has_results else []), *([judgments_key(name)] if system.has_answers else [])]
