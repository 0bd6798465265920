"""Readers and judges of data/models.yaml without Dagster: hand-made tables, a ledger in a folder, HTTP to a fake."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl
from fakes.openai import FakeOpenAI

from converters.tables import BASE_OVERLAY, CORPUS, SEARCH_RESULTS
from eval_assets.ledger.ledger import Ledger, Mode
from eval_assets.models.answers import read_answers
from eval_assets.models.budget import Budget
from eval_assets.models.chat import Chat
from eval_assets.models.judgments import judge_answers
from eval_assets.models.settings import JudgeSettings, Model, Reader
from eval_assets.models.wire import ModelWire
from eval_assets.project import Project
from eval_assets.settings import load_settings

REPOSITORY = Path(__file__).resolve().parents[2]
FAMILIES = ("gpt_4o", "gpt_5_mini", "gemini_flash", "claude_sonnet")
_NOTHING = ("source_session_ids", "answer_session_ids", "evidence_hashes", "evidence_turns", "turn_labels")
QUICK: Mapping[str, Any] = {"backoff_s": 0.01, "timeout_s": 2.0, "deadline_s": 20.0, "attempts": 3, "concurrency": 4}


@dataclass(frozen=True)
class Asks:
    """Question ``i`` asks for code ``i``; the first hit of those that are to be right holds it."""

    questions: pl.DataFrame
    results: pl.DataFrame
    truth: pl.DataFrame
    wrong: Collection[int]

    def changed(self, which: Collection[int]) -> pl.DataFrame:
        """Search results in which the second hit of these questions is another."""
        return hits_of(self.questions.height, wrong=self.wrong, changed=which)


def asks(number: int = 4, *, wrong: Collection[int] = (), question_type: str = "single-session-user") -> Asks:
    """So many questions; the hits of ``wrong`` ones hold a code that was never right."""
    now = datetime(2023, 5, 30, tzinfo=UTC)
    questions = [
        {
            "question_id": name_of(index),
            "ordinal": index,
            "haystack_id": "one",
            "question": f"What is code {index}?",
            "question_date": now,
            "as_of": now,
        }
        for index in range(number)
    ]
    truth = [
        {
            "overlay": BASE_OVERLAY,
            "question_id": name_of(index),
            "question_type": question_type,
            "is_abstention": False,
            "answer": f"amber{index}",
            "answer_type": "str",
            **{name: [] for name in _NOTHING},
        }
        for index in range(number)
    ]
    return Asks(
        pl.DataFrame(questions, schema=CORPUS["questions"].empty.schema),
        hits_of(number, wrong=wrong),
        pl.DataFrame(truth, schema=CORPUS["ground_truth"].empty.schema),
        wrong,
    )


def name_of(index: int) -> str:
    """The source's id of a question, which nobody may be told."""
    return f"answer_secret{index}"


def hits_of(number: int, *, wrong: Collection[int] = (), changed: Collection[int] = ()) -> pl.DataFrame:
    """Two hits a question."""

    def hit(rank: int, text: str) -> dict[str, Any]:
        return {"rank": rank, "provider_id": str(rank), "session_keys": [], "content": text}

    rows = [
        {
            "question_id": name_of(index),
            "status": "ok",
            "retryable": False,
            "limit": 2,
            "hits": [
                hit(1, f"Code {index} is {'grey' if index in wrong else 'amber'}{index}."),
                hit(2, f"Nothing of note happened, {'again' if index in changed else 'as ever'}, on day {index}."),
            ],
        }
        for index in range(number)
    ]
    return pl.DataFrame(rows, schema=SEARCH_RESULTS.empty.schema)


def model_of(fake: FakeOpenAI | str, name: str, **other: Any) -> Model:
    """A model as the file has it, at the fake's address and without long pauses."""
    url = fake if isinstance(fake, str) else fake.url
    model = load_settings(Project.at(REPOSITORY)).models[name]
    return model.model_copy(update={"base_url": url + urlsplit(model.base_url).path, **QUICK, **other})


@contextmanager
def chat(
    fake: FakeOpenAI | str,
    folder: Path,
    name: str = "gpt_4o",
    *,
    key: str = FakeOpenAI.key,
    mode: Mode = "record",
    budget: Budget | None = None,
    **other: Any,
) -> Iterator[Chat]:
    """The model, ready to be asked, with its ledger in ``folder``."""
    model = model_of(fake, name, **other)
    ledger = Ledger(f"sqlite:///{folder / 'ledger.sqlite'}")
    wire = None if mode == "replay" else ModelWire(f"model {name}", model, key, budget or Budget())
    try:
        yield Chat(name, model, wire, ledger, mode)
    finally:
        ledger.close()
        if wire is not None:
            wire.close()


def answered(made: Asks, asked: Chat, *, results: pl.DataFrame | None = None, **reader: Any) -> pl.DataFrame:
    """``Answers`` of a reader."""
    found = made.results if results is None else results
    return read_answers(Reader(model=asked.name, **reader), asked, results=found, questions=made.questions)


def judged(made: Asks, asked: Chat, answers: pl.DataFrame, *, prompts: Any = "default") -> pl.DataFrame:
    """``Judgments`` of a judge."""
    return judge_answers(
        "one",
        JudgeSettings(model=asked.name, prompts=prompts),
        asked,
        answers=answers,
        questions=made.questions,
        ground_truth=made.truth,
    )
