"""What is stale, missing or incomplete, and why, in words. Changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final, Literal

import dagster as dg

from eval_assets import keys
from eval_assets.code_version import CodeVersion
from eval_assets.graph import Graph
from eval_assets.ledger.settings import ledger_mode
from eval_assets.models.chat import key_lacking as model_key_lacking
from eval_assets.models.estimate import Asking, asking
from eval_assets.models.parts import model_of
from eval_assets.remote.access import key_lacking
from eval_assets.remote.estimate import Remote, estimate, lost_containers, store_of
from eval_assets.result_sources import result_source_of, results_lacking
from eval_assets.scope import Part, Scope, parts_of
from eval_assets.sources import Watched, change_since, source_of, where_to_put
from eval_assets.staleness import Cause, Refusal, StatusReader, refusals
from eval_assets.stored import PATH, RETRYABLE, SECONDS, VERSION, Event, events, last_event
from eval_assets.versions import versions

RETRIES: Final = 3
"""How often rows that may be retried are retried before they are final."""

INPUTS_RUN: Final = "its inputs run"
"""Why a part runs that is not stale yet."""

_HISTORY: Final = 20
_REBUILT: Final = ("report", "comparison", "leaderboard")
"""Stages that run again, at once, when an input ran: they need not wait for what came of it."""


@dataclass(frozen=True)
class Work:
    """A part that a refresh would run now.

    Attributes:
        part: which.
        kind: missing (never made, or a file of it is gone), stale, refused (a blocking check failed), or incomplete
            (rows that may be retried).
        why: root causes, in words.
        behind: the refused parts upstream of it, whose rows it must not read as they are.
    """

    part: Part
    kind: Literal["missing", "stale", "refused", "incomplete"]
    why: tuple[str, ...]
    behind: frozenset[Part] = frozenset()


@dataclass(frozen=True)
class Plan:
    """What a refresh of this scope would do.

    Attributes:
        work: what runs in any case, upstream first.
        may_follow: what runs if the results of the work differ from what is stored.
        fresh: how many parts need nothing.
        unavailable: a benchmark, a store, or an imported system and its benchmark, to what it lacks, and what a person
            can do about it.
        seconds: upper bound, from how long each part took last time; parts never made are not in it.
        remote: what of it asks a service, and how much at most.
        models: what of it asks a model, and how much at most.
    """

    work: tuple[Work, ...]
    may_follow: tuple[Part, ...]
    fresh: int
    unavailable: Mapping[str, str]
    seconds: float
    remote: tuple[Remote, ...] = ()
    models: tuple[Asking, ...] = ()

    @property
    def tokens(self) -> int:
        """Upper bound of what models read and write, as far as it is known."""
        return sum(one.tokens for one in self.models) + sum(one.tokens or 0 for one in self.remote)

    @property
    def cost_usd(self) -> float:
        """The same in money, with that of vectors; what has no price is not in it."""
        return sum(one.cost_usd or 0.0 for one in self.models) + sum(one.cost_usd or 0.0 for one in self.remote)

    @property
    def remote_calls(self) -> int:
        """Upper bound of calls to remote services, as far as it is known."""
        return sum(one.requests or 0 for one in self.remote)


def make_plan(instance: dg.DagsterInstance, definitions: dg.Definitions, scope: Scope) -> Plan:
    """Look at every part of the scope as it is now."""
    planner = Planner(instance, definitions, scope)
    plan = planner.plan()
    return replace(plan, remote=tuple(planner.remote(plan)), models=tuple(planner.models(plan)))


class Planner:
    """Makes plans of one scope; between two of them it looks again only at what runs can have changed."""

    def __init__(self, instance: dg.DagsterInstance, definitions: dg.Definitions, scope: Scope) -> None:
        self._instance = instance
        self._graph: Graph = scope.graph
        self._scope = scope
        self._assets = definitions.resolve_asset_graph()
        self._definitions = definitions
        self._status = StatusReader(instance, definitions)
        self._looked: dict[Part, Work | None] = {}
        self._versions = versions(self._graph)
        self._events: dict[Part, Event | None] = {}
        self._partitions: dict[dg.AssetKey, set[str]] = {}
        self._refusals: dict[str | None, Mapping[dg.AssetKey, Sequence[Refusal]]] = {}

    def forget(self, ran: Collection[Part]) -> None:
        """Look again, next time, at these parts and at those one step downstream: staleness reaches no further."""
        self._status = StatusReader(self._instance, self._definitions)
        for part in ran:
            self._partitions.pop(part.key, None)
            self._refusals.pop(part.partition, None)
            self._events.pop(part, None)
            self._looked.pop(part, None)
            for child in self._assets.get(part.key).child_keys:
                self._looked.pop(Part(child, None if child == keys.LEADERBOARD else part.partition), None)

    def behind(self, lost: Collection[Part]) -> set[Part]:
        """Parts whose store is lost, with all that comes after them; their stores are looked at again next time."""
        for part in lost:
            for up in self._upstream(part):
                self._looked.pop(up, None)
        found = set(lost)
        waiting = list(lost)
        while waiting:
            part = waiting.pop()
            below = {Part(child, part.partition) for child in self._assets.get(part.key).child_keys}
            waiting += below - found
            found |= below | {Part(keys.LEADERBOARD, None)}
        return found

    def plan(self) -> Plan:
        """The plan as things stand; see ``make_plan``."""
        work: dict[Part, Work] = {}
        unavailable: dict[str, str] = {}
        follow: list[Part] = []
        fresh = 0
        behind: dict[Part, frozenset[Part]] = {}
        for part in self._scope.parts:
            if part not in self._looked:
                self._looked[part] = self._look(part)
            found = self._looked[part]
            read = self._upstream(part) if part.key == keys.COMPARISON else self._required(part)
            held = frozenset[Part]().union(*(behind[up] for up in read if up in behind))
            behind[part] = held | {part} if self._refused(part) else held
            if found is None and self._sure_to_follow(part, work):
                found = Work(part, "stale", (INPUTS_RUN,))
            if found is None:
                if self._event(part) and any(up in work or up in follow for up in self._upstream(part)):
                    follow.append(part)
                elif self._event(part):
                    fresh += 1
                continue
            lacking = self._lacking(part)
            if lacking:
                unavailable |= lacking
            elif self._ready(part, work):
                work[part] = replace(found, behind=held)
        seconds = sum(self._seconds(part) for part in (*work, *follow))
        return Plan(tuple(work.values()), tuple(follow), fresh, unavailable, seconds)

    def remote(self, plan: Plan) -> list[Remote]:
        """What the parts of a plan would ask of services, at most."""
        parts = [*(work.part for work in plan.work), *plan.may_follow]
        found = (estimate(self._graph, self._instance, part) for part in parts)
        return [one for one in found if one]

    def models(self, plan: Plan) -> list[Asking]:
        """What the parts of a plan would ask of models, at most."""
        parts = [*(work.part for work in plan.work), *plan.may_follow]
        found = (asking(self._graph, self._instance, part, set(parts)) for part in parts)
        return [one for one in found if one]

    def _look(self, part: Part) -> Work | None:
        event = self._event(part)
        if event is None:
            creatable = part in self._scope.creatable or self._beside_report(part)
            return Work(part, "missing", ("never made",)) if creatable else None
        if PATH in event.metadata:
            gone = [path for path in self._graph.shelf.files(part.key, event) if not path.exists()]
            if gone:
                return Work(part, "missing", (f"its file is gone: {self._graph.project.shown(gone[0])}",))
        why = tuple(dict.fromkeys(self._why(part, event)))
        if why:
            return Work(part, "stale", why)
        refused = self._refused(part)
        if refused:
            return Work(part, "refused", (f"its check {', '.join(refused)}",))
        waiting = int(event.metadata.get(RETRYABLE, 0))
        if waiting and self._tries(part, event) < RETRIES:
            return Work(part, "incomplete", (f"{waiting} failed rows may be retried",))
        return None

    def _ready(self, part: Part, work: Collection[Part]) -> bool:
        """Whether all that a part needs is there or runs; of a first comparison something of both sides of a pair."""
        if part.key != keys.COMPARISON or self._event(part):
            return all(up in work or self._event(up) for up in self._required(part))
        found = {keys.system_of(up.key) for up in self._upstream(part) if up in work or self._event(up)}
        return any({pair.left, pair.right} <= found for pair in self._graph.settings.compared)

    def _beside_report(self, part: Part) -> bool:
        """Whether corrected labels concern a report that exists: it is kept up to date, target or not."""
        if keys.stage_of(part.key) != "corrections":
            return False
        system = keys.system_of(part.key)
        systems = [system] if system else self._scope.chosen_systems
        return any(self._event(Part(keys.report_key(name), part.partition)) for name in systems)

    def _sure_to_follow(self, part: Part, work: Collection[Part]) -> bool:
        """A report is rebuilt whenever its scores run, and so is a comparison, the leaderboard whenever a report is."""
        if keys.stage_of(part.key) not in _REBUILT or self._event(part) is None:
            return False
        return any(up in work for up in self._upstream(part))

    def _refused(self, part: Part) -> list[str]:
        event = self._event(part)
        if part.partition not in self._refusals:
            self._refusals[part.partition] = refusals(self._instance, self._definitions, part.partition)
        found = self._refusals[part.partition].get(part.key, ())
        if event is None:
            return []
        failed = [f"failed: {one.check}" for one in found if one.storage_id == event.storage_id]
        cut_off = [f"did not run: {one.check}" for one in found if one.cut_off == event.run_id]
        return sorted([*failed, *cut_off])

    def _why(self, part: Part, event: Event) -> Iterator[str]:
        if keys.stage_of(part.key) == "source":
            yield from self._source_change(part, event)
            return
        lost = lost_containers(self._graph, part)
        if lost:
            yield f"the service no longer holds what was stored there ({lost} containers)"
        causes = self._status.status(part.key, part.partition).causes
        for cause, upstream in causes:
            if cause is Cause.CODE:
                yield from self._versions[part.key].changes_since(event.metadata.get(VERSION) or {})
            elif cause is Cause.DATA and upstream:
                yield self._changed_input(upstream, part, event)
            else:
                yield f"its inputs changed ({upstream.to_user_string() if upstream else 'graph'})"
        if keys.stage_of(part.key) in _REBUILT:
            named = {upstream for _, upstream in causes}
            for upstream_part in self._upstream(part):
                ran = self._event(upstream_part)
                if ran and ran.storage_id > event.storage_id and upstream_part.key not in named:
                    yield f"{upstream_part} ran since"

    def _source_change(self, part: Part, event: Event) -> Iterator[str]:
        source = self._source(part)
        changed = change_since(source, event.metadata) if source else None
        if changed:
            yield changed

    def _source(self, part: Part) -> Watched | None:
        """The files that a source is; None where one is missing."""
        project, settings, benchmark = self._graph.project, self._graph.settings, str(part.partition)
        system = keys.system_of(part.key)
        if system is None:
            return source_of(project, settings, benchmark) if self._scope.available(benchmark) else None
        if results_lacking(project, settings, system, benchmark):
            return None
        return result_source_of(project, settings, system, benchmark)

    def _changed_input(self, upstream: dg.AssetKey, part: Part, event: Event) -> str:
        name = upstream.to_user_string()
        partition = part.partition if upstream != keys.LEADERBOARD else None
        used = event.tags.get(f"dagster/input_data_version/{name}")
        history = events(self._instance, upstream, partition, limit=_HISTORY)
        then = next((one for one in history[1:] if one.data_version == used), None)
        if then is None or not then.metadata.get(VERSION):
            return f"{name} changed"
        version = CodeVersion(**history[0].metadata[VERSION])
        if version.as_json() == then.metadata[VERSION]:
            return f"{name} changed"
        return f"{name} changed ({'; '.join(version.changes_since(then.metadata[VERSION]))})"

    def _tries(self, part: Part, event: Event) -> int:
        last = events(self._instance, part.key, part.partition, limit=RETRIES + 1)
        same = takewhile(lambda one: int(one.metadata.get(RETRYABLE, 0)) and _basis(one) == _basis(event), last)
        return len(list(same)) - 1

    def _upstream(self, part: Part) -> Sequence[Part]:
        parents = self._assets.get(part.key).parent_keys
        if part.partition is None:
            return [
                Part(parent, benchmark) for parent in sorted(parents) for benchmark in self._graph.settings.benchmarks
            ]
        return [Part(parent, part.partition) for parent in sorted(parents)]

    def _required(self, part: Part) -> Sequence[Part]:
        """What must be there first: of an imported system, what it has on this benchmark."""
        if part.partition is None:
            return []
        system = keys.system_of(part.key)
        own = set(parts_of(self._graph.settings, system, part.partition)) if system else set()
        return [up for up in self._upstream(part) if up in own or keys.system_of(up.key) is None]

    def _lacking(self, part: Part) -> dict[str, str]:
        """What is missing on disk to make a part, and what to do about it."""
        benchmark, system = part.partition, keys.system_of(part.key)
        if benchmark is None:
            return {}
        project, settings = self._graph.project, self._graph.settings
        if self._needs_file(part) and not self._scope.available(benchmark):
            return {benchmark: f"its file is missing; {where_to_put(project, settings, benchmark)}"}
        remote = store_of(self._graph, part)
        no_key = key_lacking(*remote) if remote and ledger_mode() != "replay" else None
        if remote and no_key:
            return {f"store {remote[0]}": no_key}
        model = model_of(settings, part)
        no_key = model_key_lacking(settings.models[model]) if model and ledger_mode() != "replay" else None
        if model and no_key:
            return {f"model {model}": no_key}
        reads = keys.stage_of(part.key) in ("source", "search", "answers", "judgments")
        lacking = results_lacking(project, settings, system, benchmark) if system and reads else None
        return {f"{system} on {benchmark}": f"its file is missing; {lacking}"} if lacking else {}

    def _needs_file(self, part: Part) -> bool:
        return keys.stage_of(part.key) in ("source", "corpus") or not self._event(
            Part(keys.corpus_key("questions"), part.partition)
        )

    def _event(self, part: Part) -> Event | None:
        if part not in self._events:
            there = part.partition is None or part.partition in self._made(part.key)
            self._events[part] = last_event(self._instance, part.key, part.partition) if there else None
        return self._events[part]

    def _made(self, key: dg.AssetKey) -> set[str]:
        """One look-up an asset, where one a partition would cost most of a plan's time."""
        if key not in self._partitions:
            self._partitions[key] = set(self._instance.get_materialized_partitions(key))
        return self._partitions[key]

    def _seconds(self, part: Part) -> float:
        event = self._event(part)
        value: Any = event.metadata.get(SECONDS, 0.0) if event else 0.0
        return float(value)


def _basis(event: Event) -> dict[str, str]:
    """What a materialization was made by and from."""
    decides = ("dagster/code_version", "dagster/input_data_version/")
    return {name: value for name, value in event.tags.items() if name.startswith(decides)}
