"""Materialize what a plan names, wave by wave, in this process, against the instance that the UI shows.

A wave is everything that is stale, missing or incomplete as things stand, one run a benchmark. After it the plan is
made anew: where data versions came out unchanged there is nothing more to do downstream, and the waves end.
"""

from __future__ import annotations

import errno
import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

import dagster as dg

from eval_assets import keys
from eval_assets.graph import BAD_INPUT, STORE_LOST
from eval_assets.plan import INPUTS_RUN, Plan, Planner, Work
from eval_assets.scope import Part, Scope
from eval_assets.stored import last_event

LEADERBOARD: Final = Part(keys.LEADERBOARD, None)
TAG: Final = "eval_assets/refresh"
_MOST_RUNS: Final = 5
_EVALUATED: Final = dg.DagsterEventType.ASSET_CHECK_EVALUATION
_UNFINISHED: Final = (
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


@dataclass(frozen=True)
class Failure:
    """A step that failed.

    Attributes:
        part: which.
        line: why.
        bad_input: a person's input is at fault.
        store_lost: its store must be built again, after which it may run: see ``eval_assets.remote.errors``.
    """

    part: Part
    line: str
    bad_input: bool
    store_lost: bool = False


@dataclass(frozen=True)
class Ran:
    """A part that ran: whether its data version changed, and how long its run took in all."""

    part: Part
    changed: bool


@dataclass(frozen=True)
class Wave:
    """One round: what was to be done, what ran, what failed, what found its store lost, and how long it took."""

    work: Sequence[Work]
    ran: Sequence[Ran]
    failures: Sequence[Failure]
    lost: Sequence[Part]
    seconds: float


@dataclass
class Refresh:
    """What a refresh did."""

    waves: list[Wave] = field(default_factory=list)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    unsettled: list[Part] = field(default_factory=list)

    @property
    def failures(self) -> list[Failure]:
        """All failures, in order."""
        return [failure for wave in self.waves for failure in wave.failures]

    @property
    def runs(self) -> int:
        """How many parts ran."""
        return sum(len(wave.ran) for wave in self.waves)


def refresh(
    instance: dg.DagsterInstance,
    definitions: dg.Definitions,
    scope: Scope,
    *,
    before_wave: Callable[[Sequence[Work]], None] = lambda _: None,
    after_wave: Callable[[Wave], None] = lambda _: None,
) -> Refresh:
    """Bring the scope up to date. The caller holds the data directory's lock (see ``eval_assets.locks``)."""
    close_dead_runs(instance)
    # The definitions stay for the whole of it: the collector need not look through them again during every step.
    gc.freeze()
    try:
        return _waves(instance, definitions, scope, before_wave, after_wave)
    finally:
        gc.unfreeze()


def _waves(
    instance: dg.DagsterInstance,
    definitions: dg.Definitions,
    scope: Scope,
    before_wave: Callable[[Sequence[Work]], None],
    after_wave: Callable[[Wave], None],
) -> Refresh:
    job = definitions.resolve_implicit_global_asset_job_def()
    steps = _steps(definitions)
    done = Refresh()
    times: Counter[Part] = Counter()
    failed: set[Part] = set()
    planner = Planner(instance, definitions, scope)
    while True:
        plan = planner.plan()
        done.unavailable = plan.unavailable
        todo = _next(plan, failed)
        done.unsettled = [work.part for work in todo if times[work.part] >= _MOST_RUNS]
        todo = [work for work in todo if times[work.part] < _MOST_RUNS]
        if not todo:
            return done
        before_wave(todo)
        wave = _run_wave(instance, job, steps, todo)
        times.update(work.part for work in todo)
        ran = {one.part for one in wave.ran}
        cut_off = {work.part for work in todo if work.part not in ran and not _over_systems(work.part)}
        broken = cut_off | {failure.part for failure in wave.failures}
        failed |= broken - planner.behind(wave.lost)
        planner.forget({*ran, *(work.part for work in todo)})
        done.waves.append(wave)
        after_wave(wave)


def close_dead_runs(instance: dg.DagsterInstance) -> None:
    """Mark the runs of a refresh that died as failed: the lock is ours, so no other refresh is alive."""
    for run in instance.get_runs(dg.RunsFilter(tags={TAG: "yes"}, statuses=list(_UNFINISHED))):
        instance.report_run_failed(run, "the process of this refresh ended before the run did")


def _next(plan: Plan, failed: set[Part]) -> list[Work]:
    work = [one for one in plan.work if one.part not in failed and failed.isdisjoint(one.behind)]
    alive = {one.part.partition for one in work if not _over_systems(one.part)}
    # What some would wait for has failed.
    work = [one for one in work if one.why != (INPUTS_RUN,) or not _over_systems(one.part) or _waits(one.part, alive)]
    partitioned = [one for one in work if one.part.partition]
    # The leaderboard goes last, once; beside a single benchmark it needs no run of its own.
    return work if len({one.part.partition for one in partitioned}) <= 1 else partitioned


def _over_systems(part: Part) -> bool:
    """Whether a part reads whatever systems have: what one of them lacks does not keep it from running later."""
    return part.key in (keys.COMPARISON, keys.LEADERBOARD)


def _waits(part: Part, alive: set[str | None]) -> bool:
    return bool(alive) if part.partition is None else part.partition in alive


@dataclass(frozen=True)
class _Step:
    asset: dg.AssetKey
    checks: Sequence[dg.AssetCheckKey] = ()


def _steps(definitions: dg.Definitions) -> Mapping[str, _Step]:
    """What each step of a run is, by its name."""
    found: dict[str, _Step] = {}
    for made in definitions.resolve_asset_graph().assets_defs:
        if made.check_keys and not made.keys:
            checks = sorted(made.check_keys)
            found[made.op.name] = _Step(checks[0].asset_key, checks)
        if made.keys:
            found[made.op.name] = _Step(min(made.keys) if len(made.keys) == 1 else dg.AssetKey(made.op.name))
    return found


def _run_wave(
    instance: dg.DagsterInstance, job: dg.JobDefinition, steps: Mapping[str, _Step], todo: Sequence[Work]
) -> Wave:
    started = time.perf_counter()
    ran: list[Ran] = []
    failures: list[Failure] = []
    alone = max((work.part.partition or "" for work in todo), default="") or None
    ordered = sorted(todo, key=lambda work: work.part.partition or alone or "")
    for partition, group in groupby(ordered, key=lambda work: work.part.partition or alone):
        parts = [work.part for work in group]
        parts += [part for part in _with_siblings(parts) if part not in parts]
        before = {part: _version(instance, part) for part in parts}
        result = job.execute_in_process(
            instance=instance,
            asset_selection=[part.key for part in parts],
            partition_key=partition,
            raise_on_error=False,
            tags={TAG: "yes"},
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        made = {event.asset_key for event in result.get_asset_materialization_events()}
        ran += [Ran(part, before[part] != _version(instance, part)) for part in parts if part.key in made]
        failures += list(_failures(result, steps, partition))
    real = [failure for failure in failures if not failure.store_lost]
    lost = [failure.part for failure in failures if failure.store_lost]
    return Wave(todo, ran, real, lost, time.perf_counter() - started)


def _with_siblings(parts: Sequence[Part]) -> list[Part]:
    """One pass over a file makes all corpus tables."""
    if not any(keys.stage_of(part.key) == "corpus" for part in parts):
        return []
    from converters.tables import CORPUS

    return [Part(keys.corpus_key(table), parts[0].partition) for table in CORPUS]


def _version(instance: dg.DagsterInstance, part: Part) -> str | None:
    event = last_event(instance, part.key, part.partition)
    return event.data_version if event else None


def _broken(result: dg.ExecuteInProcessResult, step: str | None) -> list[dg.AssetCheckKey]:
    """Blocking checks of a step that did not pass."""
    events = result.filter_events(lambda event: event.event_type == _EVALUATED and event.step_key == step)
    found = [event.asset_check_evaluation_data for event in events]
    return [one.asset_check_key for one in found if one.blocking and not one.passed]


def _failures(
    result: dg.ExecuteInProcessResult, steps: Mapping[str, _Step], partition: str | None
) -> Iterator[Failure]:
    for event in result.filter_events(lambda event: event.is_step_failure):
        data = event.step_failure_data
        told = data.user_failure_data
        step = steps[str(event.step_key)]
        if step.checks:
            # A check that ended in an error says nothing itself.
            for check in _broken(result, event.step_key) or step.checks[:1]:
                yield Failure(Part(check.asset_key, partition), f"its check failed: {check.name}", bad_input=False)
        elif told is not None:
            metadata: Mapping[str, Any] = told.metadata or {}
            part = Part(step.asset, partition)
            yield Failure(part, str(told.description), BAD_INPUT in metadata, STORE_LOST in metadata)
        else:
            error = data.error
            cause = error.cause if error and error.cause else error
            line = " ".join(cause.message.split()) if cause else "failed"
            yield Failure(Part(step.asset, partition), line, bad_input=f"[Errno {errno.ENOSPC}]" in line)
