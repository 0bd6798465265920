"""The stored tables that a report is made of, or speaks of: of a system on a benchmark, as they are now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import dagster as dg
import polars as pl

from converters.parquet import read_table
from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.models.parts import model_of
from eval_assets.scope import Part, parts_of
from eval_assets.settings import Settings
from eval_assets.settings_systems import System
from eval_assets.stored import NotThere, last_event
from judges.qa import judged_by
from judges.report_buckets import failures
from judges.report_phases import ANSWER, JUDGE, RELEVANCE, SEARCH, Phase, Spent, spent
from judges.statistics.usage import Price

_TIMES = ("question_id", "latency_ms")


@dataclass(frozen=True)
class ReportTables:
    """What there is.

    Attributes:
        scores: ``RetrievalScores``; None of a system without retrieval.
        judgments: ``Judgments`` by judge, as the rows name them; empty where nobody judges.
        answers: ``Answers``; None where there are none.
        spent: time, tokens and money of each phase.
        relevance: ``Relevance``; None where no hits are judged.
        corrected_scores: ``RetrievalScores`` of all questions by overlay, the corrected ones against its labels.
        corrected_judgments: likewise ``Judgments``, by overlay and judge.
    """

    scores: pl.DataFrame | None
    judgments: Mapping[str, pl.DataFrame]
    answers: pl.DataFrame | None
    spent: Mapping[str, Spent] = field(default_factory=dict)
    relevance: pl.DataFrame | None = None
    corrected_scores: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    corrected_judgments: Mapping[tuple[str, str], pl.DataFrame] = field(default_factory=dict)

    @property
    def failures(self) -> dict[str, pl.DataFrame]:
        """Where questions went wrong, by judge; empty without retrieval or judgments."""
        return {} if self.scores is None else failures(self.scores, self.judgments, self.answers)


def report_tables(graph: Graph, instance: dg.DagsterInstance, system: str, benchmark: str) -> ReportTables:
    """Read them.

    Raises:
        NotThere: scores, judgments or relevance were not made yet.
    """
    parts = parts_of(graph.settings, system, benchmark)
    shelf = graph.shelf
    scores = None
    if Part(keys.scores_key(system), benchmark) in parts:
        scores = shelf.frame(instance, keys.scores_key(system), benchmark)
    judged = [part.key for part in parts if keys.stage_of(part.key) == "judgments"]
    frames = {key: shelf.frame(instance, key, benchmark) for key in judged}
    answers = None
    if Part(keys.answers_key(system), benchmark) in parts:
        try:
            answers = shelf.frame(instance, keys.answers_key(system), benchmark)
        except NotThere:
            answers = None
    phases = [*_searched(graph, instance, system, benchmark), *_read(graph.settings, system, answers)]
    for place, (key, frame) in enumerate(frames.items()):
        phases.append(_judged(graph.settings, system, key, frame, first=not place))
    relevance = None
    if Part(keys.relevance_key(system), benchmark) in parts:
        relevance = shelf.frame(instance, keys.relevance_key(system), benchmark)
        price = _price(graph.settings, model_of(graph.settings, Part(keys.relevance_key(system), benchmark)))
        phases.append(Phase(RELEVANCE, relevance, asks_model=True, price=price, in_total=False))
    judgments = {judged_by(frame): frame for frame in frames.values()}
    corrected_scores: dict[str, pl.DataFrame] = {}
    corrected_judgments: dict[tuple[str, str], pl.DataFrame] = {}
    for part in (part for part in parts if keys.stage_of(part.key) == "corrections" and part.key != keys.CORRECTIONS):
        frame = shelf.frame(instance, part.key, benchmark)
        if keys.is_corrected_judgments(part.key):
            original = frames[keys.judgments_key(system, part.key.path[-1])]
            name = judged_by(original)
            corrected_judgments |= {(overlay, name): one for overlay, one in _overlaid(original, frame)}
        elif scores is not None:
            corrected_scores = dict(_overlaid(scores, frame))
    return ReportTables(scores, judgments, answers, spent(phases), relevance, corrected_scores, corrected_judgments)


def _overlaid(original: pl.DataFrame, corrected: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """By overlay, all rows with the corrected ones in their places."""
    for (overlay,), rows in corrected.group_by("overlay", maintain_order=True):
        kept = original.join(rows, on="question_id", how="anti")
        yield str(overlay), pl.concat([kept, rows.select(original.columns)]).sort("ordinal")


def _searched(graph: Graph, instance: dg.DagsterInstance, system: str, benchmark: str) -> Iterator[Phase]:
    """Only the columns that are of use: hits are large."""
    key = keys.search_key(system)
    event = (
        last_event(instance, key, benchmark)
        if Part(key, benchmark) in parts_of(graph.settings, system, benchmark)
        else None
    )
    if event is not None:
        for path, table in graph.shelf.files(key, event).items():
            yield Phase(SEARCH, read_table(table, path, _TIMES))


def _read(settings: Settings, system: str, answers: pl.DataFrame | None) -> Iterator[Phase]:
    if answers is None:
        return
    found = settings.systems[system]
    reader = settings.readers[found.reader] if isinstance(found, System) and found.reader else None
    model = reader.model if reader else None
    yield Phase(ANSWER, answers, asks_model=model is not None or reader is None, price=_price(settings, model))


def _judged(settings: Settings, system: str, key: dg.AssetKey, frame: pl.DataFrame, *, first: bool) -> Phase:
    own = isinstance(settings.systems[system], System)
    model = settings.judges[key.path[-1]].model if own else None
    name = f"{JUDGE} {judged_by(frame)}".strip()
    return Phase(name, frame, asks_model=model is not None or not own, price=_price(settings, model), in_total=first)


def _price(settings: Settings, model: str | None) -> Price | None:
    """As models.yaml has it now; what a call cost when it was made is in its row."""
    found = settings.models[model] if model else None
    if found is None or found.input_usd is None or found.output_usd is None:
        return None
    return Price(found.input_usd, found.output_usd)
