"""Asset checks: what must hold of a stored partition (ERROR) and what its reader should know (WARN)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg
import polars as pl

from converters.parquet import footer, read_table
from eval_assets import keys
from eval_assets.assets.store import LEFT_OUT, SENT, STORED
from eval_assets.gates import shown_gate
from eval_assets.graph import Graph
from eval_assets.models.cases import TRUSTED_FROM, judge_is_fit
from eval_assets.placed import placement
from eval_assets.runs import run_keys
from eval_assets.settings_systems import System
from eval_assets.stored import UNREADABLE, Event, last_event
from judges.checks import evidence_unknown, k_reaches_haystack, questions_missing, questions_unknown
from providers.documents import CONTAINERS, ask, leaks

Verdict = tuple[bool, dict[str, Any]]
_EXAMPLES = 5


@dataclass(frozen=True)
class _Check:
    spec: dg.AssetCheckSpec
    judge: Callable[[dg.DagsterInstance, str | None, Event], Verdict]


def all_checks(graph: Graph) -> list[dg.AssetChecksDefinition]:
    """The checks of all assets: a step an asset, and one for the corpus, whose tables are made in one step as well."""
    checks = [_schema(graph, key) for key in graph.shelf.layout]
    checks.append(_evidence(graph))
    for name in graph.settings.stores:
        checks += [_stored_is_sent(graph, name), _store_payload(graph, name)]
    for name, system in graph.settings.systems.items():
        judged = [keys.judgments_key(name, judge) for judge in (None, *getattr(system, "judges", ()))]
        judged.append(keys.relevance_key(name))
        made = (keys.search_key(name), keys.scores_key(name), keys.answers_key(name), *judged)
        checks += [_every_question(graph, key) for key in made if key in graph.shelf.layout]
        if isinstance(system, System):
            checks.append(_query_payload(graph, name, system))
            checks += [_judge_fit(graph, name, judge) for judge in system.judges]
        checks.append(_gate(graph, name))
        if keys.scores_key(name) in graph.shelf.layout:
            checks.append(_cutoff_below_haystack(graph, name))
    steps: dict[str, list[_Check]] = {}
    for check in checks:
        key = check.spec.asset_key
        steps.setdefault("corpus" if keys.stage_of(key) == "corpus" else key.to_python_identifier(), []).append(check)
    return [_step(f"{name}_checks", together) for name, together in steps.items()]


def _step(name: str, checks: Sequence[_Check]) -> dg.AssetChecksDefinition:
    # A step costs Dagster more than most checks cost us.
    judges = {check.spec.key: check for check in checks}

    @dg.multi_asset_check(name=name, specs=[check.spec for check in checks], can_subset=True)
    def step(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        for key, check in judges.items():
            if key in context.selected_asset_check_keys:
                partition = context.partition_key if check.spec.partitions_def else None
                yield _result(check, context.instance, partition)

    return step


def _result(check: _Check, instance: dg.DagsterInstance, partition: str | None) -> dg.AssetCheckResult:
    key, name = check.spec.asset_key, check.spec.name
    event = last_event(instance, key, partition)
    if event is None:
        return dg.AssetCheckResult(asset_key=key, check_name=name, passed=False, description="not materialized yet")
    try:
        passed, facts = check.judge(instance, partition, event)
    except UNREADABLE as error:
        passed, facts = False, {"cannot be read": " ".join(str(error).split())}
    severity = dg.AssetCheckSeverity.ERROR if check.spec.blocking else dg.AssetCheckSeverity.WARN
    return dg.AssetCheckResult(asset_key=key, check_name=name, passed=passed, severity=severity, metadata=facts)


def _check(
    graph: Graph,
    key: dg.AssetKey,
    name: str,
    description: str,
    judge: Callable[[dg.DagsterInstance, str | None, Event], Verdict],
    *,
    warn: bool = False,
    reads: Sequence[dg.AssetKey] = (),
) -> _Check:
    spec = dg.AssetCheckSpec(
        name,
        asset=key,
        description=description,
        blocking=not warn,
        additional_deps=list(reads),
        partitions_def=None if key == keys.LEADERBOARD else graph.partitions,
    )
    return _Check(spec, judge)


def _schema(graph: Graph, key: dg.AssetKey) -> _Check:
    def judge(_: dg.DagsterInstance, __: str | None, event: Event) -> Verdict:
        rows = 0
        broken = []
        for path, table in graph.shelf.files(key, event).items():
            frame = table.validate(read_table(table, path))
            rows += frame.height
            if table.digest(frame) != footer(path)["digest"]:
                broken.append(path.name)
        return not broken, {"rows": rows, "files whose rows are not those written": ", ".join(broken) or "none"}

    return _check(graph, key, "schema", "The stored file holds the columns, key and rows that were written.", judge)


def _evidence(graph: Graph) -> _Check:
    def judge(instance: dg.DagsterInstance, partition: str | None, _: Event) -> Verdict:
        frames = {
            name: graph.shelf.frame(instance, keys.corpus_key(name), partition)
            for name in ("ground_truth", "haystacks", "questions")
        }
        unknown = evidence_unknown(**frames)
        return unknown.is_empty(), _found(unknown["question_id"].unique().to_list(), "questions with unknown evidence")

    return _check(
        graph,
        keys.corpus_key("ground_truth"),
        "evidence_exists",
        "Every evidence session and turn is in the question's haystack.",
        judge,
        reads=[keys.corpus_key("haystacks"), keys.corpus_key("questions")],
    )


def _stored_is_sent(graph: Graph, name: str) -> _Check:
    def judge(instance: dg.DagsterInstance, partition: str | None, event: Event) -> Verdict:
        documents = _placed(graph, name, instance, partition).height
        left_out = event.metadata[LEFT_OUT]
        stored, sent = int(event.metadata[STORED]), int(event.metadata[SENT])
        passed = documents == sent == stored + sum(left_out.values())
        return passed, {"in the corpus": documents, "sent": sent, "stored": stored, **left_out}

    return _check(
        graph,
        keys.store_key(name),
        "stored_is_sent",
        "Every document of the corpus was sent, and is stored or left out for a counted reason.",
        judge,
        reads=[keys.corpus_key("haystacks")],
    )


def _store_payload(graph: Graph, name: str) -> _Check:
    def judge(instance: dg.DagsterInstance, partition: str | None, _: Event) -> Verdict:
        documents = _placed(graph, name, instance, partition)
        told = documents.select("container", "document_id", "session_key")
        if partition and graph.settings.benchmarks[partition].format == "fixture":
            told = documents.select("container", "session_key")
        values = {value for column in told.iter_columns() for value in column.unique()}
        return _clean(graph, instance, partition, values)

    return _check(
        graph,
        keys.store_key(name),
        "no_payload_leaks",
        "No document tells the source's ids, a question's id or a label outside its text.",
        judge,
        reads=[keys.corpus_key("questions")],
    )


def _query_payload(graph: Graph, name: str, system: System) -> _Check:
    store = keys.store_key(system.store)

    def judge(instance: dg.DagsterInstance, partition: str | None, _: Event) -> Verdict:
        containers = graph.shelf.table(instance, store, partition, CONTAINERS.name)
        questions = graph.shelf.frame(instance, keys.corpus_key("questions"), partition)
        return _clean(graph, instance, partition, set(ask(questions, containers)["container"]))

    return _check(
        graph,
        keys.search_key(name),
        "no_payload_leaks",
        "No query tells a question's id or a label outside its text.",
        judge,
        reads=[store, keys.corpus_key("questions")],
    )


def _every_question(graph: Graph, key: dg.AssetKey) -> _Check:
    def judge(instance: dg.DagsterInstance, partition: str | None, event: Event) -> Verdict:
        questions = graph.shelf.frame(instance, keys.corpus_key("questions"), partition)
        frame = graph.shelf.read(key, event)
        assert isinstance(frame, pl.DataFrame)
        wrong = [*questions_missing(questions, frame), *questions_unknown(questions, frame)]
        return not wrong, {"questions": questions.height, **_found(wrong, "missing or unknown")}

    return _check(
        graph, key, "every_question", "One row for every question.", judge, reads=[keys.corpus_key("questions")]
    )


def _judge_fit(graph: Graph, name: str, judge: str) -> _Check:
    def tried(_: dg.DagsterInstance, __: str | None, ___: Event) -> Verdict:
        passed, facts = judge_is_fit(graph.project, graph.settings, judge)
        return passed, {**facts, "wrong": dg.MetadataValue.md(facts["wrong"])} if "wrong" in facts else facts

    return _check(
        graph,
        keys.judgments_key(name, judge),
        "judge_fit",
        f"Of bundled answers with known verdicts the judge gets {TRUSTED_FROM:.0%} right, before its own are believed.",
        tried,
        warn=True,
    )


def _cutoff_below_haystack(graph: Graph, name: str) -> _Check:
    key = keys.scores_key(name)

    def judge(_: dg.DagsterInstance, __: str | None, event: Event) -> Verdict:
        frame = graph.shelf.read(key, event)
        assert isinstance(frame, pl.DataFrame)
        reached = k_reaches_haystack(frame)
        return not reached, {f"questions with at most {k} sessions": count for k, count in reached.items()}

    return _check(
        graph,
        key,
        "cutoff_below_haystack",
        "Where a cut-off reaches the haystack's size, finding everything is no achievement.",
        judge,
        warn=True,
    )


def _gate(graph: Graph, name: str) -> _Check:
    def judge(instance: dg.DagsterInstance, partition: str | None, _: Event) -> Verdict:
        return shown_gate(graph, instance, name, str(partition))

    return _check(
        graph,
        keys.report_key(name),
        "gate",
        "No metric is below its floor, or significantly below the accepted baseline, if there is either.",
        judge,
        warn=True,
        reads=run_keys(graph, name),
    )


def _placed(graph: Graph, name: str, instance: dg.DagsterInstance, partition: str | None) -> pl.DataFrame:
    frames = {
        table: graph.shelf.frame(instance, keys.corpus_key(table), partition)
        for table in ("haystacks", "questions", "memories", "query_options")
    }
    return placement(graph.settings.stores[name], str(partition), **frames).documents


def _clean(graph: Graph, instance: dg.DagsterInstance, partition: str | None, values: set[str]) -> Verdict:
    questions = graph.shelf.frame(instance, keys.corpus_key("questions"), partition)["question_id"]
    found = leaks(values, questions)
    return not found, {"values inspected": len(values), **_found(found, "leaks")}


def _found(names: Sequence[str], what: str) -> dict[str, Any]:
    return {what: len(names)} | ({"for instance": ", ".join(names[:_EXAMPLES])} if names else {})
