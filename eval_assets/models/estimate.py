"""What answers, judgments and relevance would ask of a model, before anything is asked.

The same functions that ask make the prompts, with a model that only counts: what the ledger answers is left out where
the prompts are those that will be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import dagster as dg
import polars as pl

from converters.tables import ANSWERS
from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.ledger.settings import ledger_mode, ledger_there, open_ledger
from eval_assets.models.answers import budget, read_answers
from eval_assets.models.cases import try_judge
from eval_assets.models.chat import Chat, Purpose, Said, T, Took
from eval_assets.models.judgments import judge_answers
from eval_assets.models.parts import model_of
from eval_assets.models.relevance import hit_tokens, judge_hits
from eval_assets.models.wire import cost_usd, longest_reply, prompt_tokens
from eval_assets.scope import Part
from eval_assets.settings_systems import System
from eval_assets.stored import NotThere
from providers.remote.errors import NotRecorded
from providers.remote.wire import Request

Basis = Literal["prompts", "last results", "limits", "nothing"]
_AROUND_HITS: Final = 2_000
"""Tokens of a relevance prompt beside its hits, at most."""
_SHORT: Final = 1_024
"""Tokens that an extractive answer is taken to have at most."""


@dataclass(frozen=True)
class Asking:
    """What a part would ask of a model, at most, a judge's trial included; what must be asked again comes on top.

    Attributes:
        part: answers, judgments or relevance.
        model: its name.
        calls: that the ledger does not answer; None where the corpus is not there to tell.
        input_tokens: of their prompts, estimated.
        output_tokens: of their replies, if each is as long as it may be.
        cost_usd: None without a price.
        basis: the prompts themselves; prompts of the last results, which will be others; the limits of a prompt; or
            nothing yet.
    """

    part: Part
    model: str
    calls: int | None
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    basis: Basis

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class _Counting(Chat):
    """A model that answers nothing, and knows what it was asked.

    Attributes:
        asked: key, tokens in, tokens out at most.
        certain: keys of prompts that will be asked as they are.
    """

    asked: list[tuple[str, int, int]] = field(default_factory=list)
    certain: set[str] = field(default_factory=set)

    def be_certain(self) -> None:
        """What was asked so far will be."""
        self.certain.update(key for key, _, _ in self.asked)

    def ask(
        self,
        purpose: Purpose,
        messages: Sequence[Mapping[str, str]],
        read: Callable[[str], T],
        *,
        schema: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        cut_ok: bool = False,
        took: Took | None = None,
    ) -> Said:
        """See ``Chat``; always raises ``NotRecorded``."""
        body = self.body(messages, schema, parameters or {})
        key = self.through_ledger().key(Request("POST", "/chat/completions", purpose, body=body))
        self.asked.append((key, prompt_tokens(messages), longest_reply(self.model, body)))
        raise NotRecorded("only counted")


def asking(graph: Graph, instance: dg.DagsterInstance, part: Part, uncertain: Collection[Part]) -> Asking | None:
    """What the part would ask.

    Args:
        graph: its project and settings.
        instance: where the tables are looked up.
        part: any.
        uncertain: parts that may run before it, so that what they gave last does not say what it will read.

    Returns:
        None for parts that ask no model.
    """
    name, mode = model_of(graph.settings, part), ledger_mode()
    if name is None or mode == "replay":
        return None
    model = graph.settings.models[name]
    ledger = open_ledger(graph.project) if ledger_there(graph.project) else None
    # Without a ledger nothing is held; the keys are made all the same, and need none.
    chat = _Counting(name, model, None, ledger, mode)  # type: ignore[arg-type]
    try:
        basis, beside = _ask(graph, instance, part, uncertain, chat)
        if basis == "prompts":
            chat.be_certain()
        held = ledger.holds(sorted(chat.certain)) if ledger and mode != "refresh" else set()
    except (NotThere, FileNotFoundError):
        return Asking(part, name, None, 0, 0, None, "nothing")
    finally:
        if ledger is not None:
            ledger.close()
    calls = {key: (given + beside, made) for key, given, made in chat.asked if key not in held}
    given, made = (sum(sizes) for sizes in zip(*calls.values(), strict=True)) if calls else (0, 0)
    return Asking(part, name, len(calls), given, made, cost_usd(model, given, made), basis)


def _ask(
    graph: Graph, instance: dg.DagsterInstance, part: Part, uncertain: Collection[Part], chat: _Counting
) -> tuple[Basis, int]:
    """Let it be asked; on what that is based, and tokens that each prompt may have beside those counted."""
    system = graph.settings.systems[str(keys.system_of(part.key))]
    assert isinstance(system, System)

    def frame(key: dg.AssetKey) -> pl.DataFrame:
        return graph.shelf.frame(instance, key, part.partition)

    def last(key: dg.AssetKey) -> tuple[pl.DataFrame | None, Basis]:
        try:
            return frame(key), "last results" if Part(key, part.partition) in uncertain else "prompts"
        except (NotThere, FileNotFoundError):
            return None, "limits"

    name = part.key.path[0]
    questions = frame(keys.corpus_key("questions"))
    stage = keys.stage_of(part.key)
    if stage == "answers":
        reader = graph.settings.readers[str(system.reader)]
        results, basis = last(keys.search_key(name))
        if results is None:
            _count(chat, questions, budget(reader, chat.model))
        else:
            read_answers(reader, chat, results=results, questions=questions)
        return basis, 0
    truth = frame(keys.CORRECTIONS if keys.is_corrected_judgments(part.key) else keys.corpus_key("ground_truth"))
    if stage == "relevance":
        results, basis = last(keys.search_key(name))
        if results is None:
            _count(chat, questions, system.limit * hit_tokens(chat.model, system.limit) + _AROUND_HITS)
        else:
            judge_hits("counting", chat, results=results, questions=questions, ground_truth=truth)
        return basis, 0
    answers, basis = last(keys.answers_key(name))
    judge = graph.settings.judges[part.key.path[-1]]
    try_judge(judge, chat)
    chat.be_certain()
    for (overlay,), labels in truth.group_by("overlay", maintain_order=True):
        judge_answers(
            "counting",
            judge,
            chat,
            answers=_any_answers(questions) if answers is None else answers,
            questions=questions.join(labels, on="question_id", how="semi"),
            ground_truth=labels,
            overlay=str(overlay),
        )
    return basis, _longest_answer(graph, system) if answers is None else 0


def _count(chat: _Counting, questions: pl.DataFrame, tokens: int) -> None:
    longest = longest_reply(chat.model, chat.body([], None, {}))
    chat.asked.extend((name, tokens, longest) for name in questions["question_id"])


def _any_answers(questions: pl.DataFrame) -> pl.DataFrame:
    """An answer to every question, to be judged."""
    rows = [
        {"question_id": name, "status": "ok", "retryable": False, "answer": "?"} for name in questions["question_id"]
    ]
    return pl.DataFrame(rows, schema=ANSWERS.empty.schema)


def _longest_answer(graph: Graph, system: System) -> int:
    reader = graph.settings.readers[str(system.reader)]
    return _SHORT if reader.model is None else graph.settings.models[reader.model].max_output_tokens
