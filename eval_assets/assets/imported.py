"""A system whose results others made: ``<system>/results_source``, and what is read from its files."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from converters.results.answers import import_answers, import_judgments
from converters.results.search_results import RankingFormat, import_rankings
from converters.schema import Table
from converters.tables import ANSWERS, JUDGMENTS, SEARCH_RESULTS
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.io_manager import Rows
from eval_assets.keys import answers_key, corpus_key, judgments_key, results_source_key, search_key
from eval_assets.result_sources import ResultSource, result_source_of, unchanged
from eval_assets.settings_systems import ImportedSystem
from eval_assets.sources import FILE, STAT
from eval_assets.stored import SECONDS

_LIBRARIES = ("msgspec", "polars")
Facts = Mapping[str, Any]
Frames = Mapping[str, pl.DataFrame]


def imported_search_version(system: ImportedSystem) -> CodeVersion:
    """What decides imported search results beside file and corpus: how many hits are taken, and the readers."""
    roots = ("converters.results.search_results", __name__)
    return code_version(settings={"limit": system.limit}, roots=roots, libraries=_LIBRARIES)


def imported_answers_version() -> CodeVersion:
    """What decides imported answers and judgments beside file and corpus: their reader."""
    return code_version(settings={}, roots=("converters.results.answers", __name__), libraries=_LIBRARIES)


def imported_assets(graph: Graph, name: str, system: ImportedSystem) -> Iterator[dg.AssetsDefinition]:
    """All assets of an imported system up to its judgments; it has those that it has files for."""
    yield _source(graph, name, system)
    if system.has_results:
        yield _search(graph, name, system)
    if system.has_answers:
        yield _answers(graph, name, system)
        yield _judgments(graph, name, system)


def _source(graph: Graph, name: str, system: ImportedSystem) -> dg.AssetsDefinition:
    key = results_source_key(name)

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"json"},
        owners=[system.owner],
        description="The files that this system's results are read from. Their data version is the sha256 of their "
        "(unpacked) bytes and how they are read.",
    )
    def build(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        started = time.perf_counter()
        with graph.working(key, context.partition_key):
            source = result_source_of(graph.project, graph.settings, name, context.partition_key)
            stat = source.stat()
            facts = source.facts()
        files = {f"{role} {FILE}": graph.project.shown(path) for role, path in source.paths.items()}
        return dg.MaterializeResult(
            data_version=dg.DataVersion(source.data_version(facts)),
            metadata={
                **files,
                **facts,
                STAT: dg.MetadataValue.json(stat),
                SECONDS: round(time.perf_counter() - started, 3),
            },
        )

    return build


def _search(graph: Graph, name: str, system: ImportedSystem) -> dg.AssetsDefinition:
    def read(source: ResultSource, frames: Frames) -> tuple[pl.DataFrame, Facts]:
        format: RankingFormat = "trec_run" if source.formats["results"] == "trec_run" else "retrieval_log"
        found = import_rankings(source.paths["results"], format, frames, limit=system.limit)
        return found.frame, {
            "questions": found.frame.height,
            "questions without a line": found.n_absent,
            "hits": found.n_hits,
            "hits that map to no session": found.n_unmapped,
        }

    asked = f"At most {system.limit} hits" if system.limit else "As many hits as the longest list of the file has"
    return _read(
        graph,
        name,
        system,
        key=search_key(name),
        table=SEARCH_RESULTS,
        version=imported_search_version(system),
        description=f"{system.description} Read from a file. {asked}.".strip(),
        inputs={table: corpus_key(table) for table in ("questions", "haystacks", "sessions", "ground_truth")},
        read=read,
    )


def _answers(graph: Graph, name: str, system: ImportedSystem) -> dg.AssetsDefinition:
    def read(source: ResultSource, frames: Frames) -> tuple[pl.DataFrame, Facts]:
        path = source.paths.get("answers") or source.paths["judgments"]
        answers = import_answers(path, frames["questions"])
        return answers, {"questions": answers.height, **_without(answers, "empty", "questions without an answer")}

    return _read(
        graph,
        name,
        system,
        key=answers_key(name),
        table=ANSWERS,
        version=imported_answers_version(),
        description=f"{system.description} Answers, read from a file.".strip(),
        inputs={"questions": corpus_key("questions")},
        read=read,
    )


def _judgments(graph: Graph, name: str, system: ImportedSystem) -> dg.AssetsDefinition:
    def read(source: ResultSource, frames: Frames) -> tuple[pl.DataFrame, Facts]:
        judged = import_judgments(_labels(source), **frames)
        judges = judged["judge"].drop_nulls().unique().sort()
        return judged, {
            "questions": judged.height,
            "judged by": ", ".join(judges) or "not said",
            **_without(judged, "empty", "questions without an answer"),
            **_without(judged, "not_run", "answers without a label"),
        }

    inputs = {table: corpus_key(table) for table in ("questions", "ground_truth")}
    return _read(
        graph,
        name,
        system,
        key=judgments_key(name),
        table=JUDGMENTS,
        version=imported_answers_version(),
        description="Whether each answer is right, by the labels of a file.",
        inputs={**inputs, "answers": answers_key(name)},
        read=read,
    )


def _labels(source: ResultSource) -> Path:
    return source.paths.get("judgments") or source.paths["answers"]


def _without(frame: pl.DataFrame, status: str, what: str) -> Facts:
    return {what: frame.filter(pl.col("status") == status).height}


def _read(
    graph: Graph,
    name: str,
    system: ImportedSystem,
    *,
    key: dg.AssetKey,
    table: Table,
    version: CodeVersion,
    description: str,
    inputs: Mapping[str, dg.AssetKey],
    read: Callable[[ResultSource, Frames], tuple[pl.DataFrame, Facts]],
) -> dg.AssetsDefinition:
    """An asset that is read from the system's files and tables of the graph."""

    @dg.asset(
        key=key,
        partitions_def=graph.partitions,
        group_name=name,
        kinds={"parquet", system.provider},
        owners=[system.owner],
        code_version=version.digest,
        description=description,
        metadata={"all settings": dg.MetadataValue.json(dict(version.settings)), **described(table)},
        deps=[results_source_key(name)],
        ins={table_name: dg.AssetIn(key=upstream) for table_name, upstream in inputs.items()},
    )
    def build(context: dg.AssetExecutionContext, **frames: pl.DataFrame) -> dg.Output[Any]:
        started = time.perf_counter()
        benchmark = context.partition_key
        with graph.working(key, benchmark):
            source = result_source_of(graph.project, graph.settings, name, benchmark)
            with unchanged(context.instance, source, name, benchmark):
                frame, facts = read(source, frames)
            rows = Rows.of(table, frame)
        return output(rows, version, data_version=rows.digest, started=started, metadata=facts)

    return build
