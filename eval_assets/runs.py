"""What is stored of a system on a benchmark, as outcomes with the conditions under which they were scored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg
import polars as pl

from converters.errors import BadInput
from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.scope import Part, parts_of
from eval_assets.settings_systems import ImportedSystem
from eval_assets.stored import VERSION, Event, last_event
from judges.qa import ANSWER
from judges.relevance.metrics import JUDGED_LEVEL
from judges.statistics.conditions import Conditions
from judges.statistics.judged_outcomes import relevance_outcomes
from judges.statistics.metric import HEADLINES, Metric
from judges.statistics.outcomes import OUTCOMES, judgment_outcomes, retrieval_outcomes, select

_INPUT: Final = "dagster/input_data_version/corpus/"
_DECIDES: Final = ("questions", "ground_truth")
_SEARCHED: Final = "haystacks"
_SHOWN: Final = 12
_RELEVANCE: Final = " (relevance)"
IN_FILES: Final = "as in its file"
"""The prompts of judgments that others made."""


@dataclass(frozen=True)
class Run:
    """What is stored of one system on one benchmark.

    Attributes:
        system: which.
        benchmark: on which.
        outcomes: see ``judges.statistics.outcomes``.
        k: hits asked for; None without retrieval scores.
        judges: name of each judge to the version of its prompts and model; a judge of hits is "NAME (relevance)".
        corpus: by table, the data versions that it was scored against: one each, unless a part of it is stale.
        absent: scores and judgments that the settings name and nobody made yet.
    """

    system: str
    benchmark: str
    outcomes: pl.DataFrame
    k: int | None
    judges: Mapping[str, str]
    corpus: Mapping[str, Sequence[str]]
    absent: Sequence[dg.AssetKey]

    def there(self) -> Run:
        """Itself; raises ``BadInput`` where nothing of it is stored."""
        if self.outcomes.is_empty():
            remedy = f"run: eval-assets refresh --system {self.system} --benchmark {self.benchmark}"
            raise BadInput(f"{self.system} on {self.benchmark}", "nothing was scored yet", remedy)
        return self

    def conditions(self, *, retrieval: bool, judges: Collection[str]) -> Conditions:
        """The conditions that matter to retrieval, if it is wanted, and to these judges' labels."""
        tables = [*_DECIDES, *([_SEARCHED] if retrieval and self.k is not None else [])]
        decided = json.dumps([[table, list(self.corpus.get(table, ()))] for table in tables])
        return Conditions(
            benchmark=self.benchmark,
            digest=hashlib.sha256(decided.encode()).hexdigest(),
            k=self.k if retrieval else None,
            judges={judge: version for judge, version in sorted(self.judges.items()) if judge in judges},
        )


def run_keys(graph: Graph, system: str) -> list[dg.AssetKey]:
    """The scores and judgments, of answers and of hits, that a system can have, on whichever benchmark."""
    judges = getattr(graph.settings.systems[system], "judges", ())
    found = [keys.scores_key(system), *(keys.judgments_key(system, judge) for judge in (None, *judges))]
    found.append(keys.relevance_key(system))
    return [key for key in found if key in graph.shelf.layout]


def read_run(graph: Graph, instance: dg.DagsterInstance, system: str, benchmark: str) -> Run:
    """Read whatever is there; raises as ``Shelf.read`` does."""
    parts = parts_of(graph.settings, system, benchmark)
    events = {key: last_event(instance, key, benchmark) for key in run_keys(graph, system)}
    events = {key: event for key, event in events.items() if Part(key, benchmark) in parts}
    outcomes = [OUTCOMES.to_frame()]
    k: int | None = None
    judges: dict[str, str] = {}
    corpus: dict[str, set[str]] = {}
    scores: pl.DataFrame | None = None
    for key, event in events.items():
        if event is None:
            continue
        frame = graph.shelf.read(key, event)
        assert isinstance(frame, pl.DataFrame)
        for table in (*_DECIDES, _SEARCHED):
            if f"{_INPUT}{table}" in event.tags:
                corpus.setdefault(table, set()).add(event.tags[f"{_INPUT}{table}"])
        if key == keys.scores_key(system):
            scores = frame
            outcomes.append(retrieval_outcomes(frame))
            k = _most(frame)
        elif key == keys.relevance_key(system):
            # What was not found counts as relevant, and only the scores know it.
            if scores is not None:
                judge = str(getattr(graph.settings.systems[system], "relevance", ""))
                outcomes.append(relevance_outcomes(frame, scores, judge=judge))
                judges[_of_hits(judge)] = _judge_version(event)
        else:
            found = judgment_outcomes(frame)
            outcomes.append(found)
            imported = isinstance(graph.settings.systems[system], ImportedSystem)
            judges |= dict.fromkeys(found["judge"].unique().to_list(), IN_FILES if imported else _judge_version(event))
    return Run(
        system=system,
        benchmark=benchmark,
        outcomes=pl.concat(outcomes),
        k=k,
        judges=judges,
        corpus={table: sorted(found) for table, found in corpus.items()},
        absent=[key for key, event in events.items() if event is None],
    )


def conditions_of(run: Run, metrics: Sequence[Metric]) -> Conditions:
    """The conditions that matter to these metrics of a run."""
    retrieval, judges = _kinds(select(run.outcomes, metrics))
    return run.conditions(retrieval=retrieval, judges=judges)


def conditions_of_both(left: Run, right: Run, metrics: Sequence[Metric] = HEADLINES) -> tuple[Conditions, Conditions]:
    """The conditions that must be alike to compare two runs: of what both have, be it retrieval or a judge's labels.

    Where both have labels and no judge in common, that is a difference.
    """
    (ranked, mine), (also_ranked, theirs) = (_kinds(select(run.outcomes, metrics)) for run in (left, right))
    of_hits = {name for name in mine | theirs if name.endswith(_RELEVANCE)}
    judges = _in_common(mine & of_hits, theirs & of_hits) | _in_common(mine - of_hits, theirs - of_hits)
    retrieval = ranked and also_ranked
    first, second = (run.conditions(retrieval=retrieval, judges=judges) for run in (left, right))
    return first, second


def _kinds(outcomes: pl.DataFrame) -> tuple[bool, set[str]]:
    """Whether there are retrieval metrics, and who judged answers and hits."""
    answers = outcomes.filter(pl.col("level") == ANSWER)
    hits = outcomes.filter(pl.col("level") == JUDGED_LEVEL)
    return answers.height < outcomes.height, {*answers["judge"].unique(), *map(_of_hits, hits["judge"].unique())}


def _in_common(mine: set[str], theirs: set[str]) -> set[str]:
    return mine & theirs or (mine | theirs if mine and theirs else set())


def _of_hits(judge: str) -> str:
    # A judge of that name may judge the answers as well, with other prompts.
    return judge + _RELEVANCE


def _most(scores: pl.DataFrame) -> int:
    found: Any = scores["limit"].max()
    return int(found or 0)


def _judge_version(event: Event) -> str:
    """All settings that decided the judgments, shortened: prompts, model, what it was asked with."""
    settings = (event.metadata.get(VERSION) or {}).get("settings", {})
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:_SHOWN]
    return f"{settings.get('prompts') or settings.get('prompt') or settings.get('judge', 'judge')} {digest}"
