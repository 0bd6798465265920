"""The provider of CONTRIBUTING.md is a provider."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from converters.tables import CORPUS
from providers.documents import ask, place
from providers.protocol import REPLIES
from providers.registry import ProviderEntry

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def tutorial(monkeypatch: pytest.MonkeyPatch) -> ProviderEntry:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL)
    module = ModuleType("providers.overlap")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(blocks[0], "CONTRIBUTING.md", "exec"), module.__dict__)
    name = module.__name__
    return ProviderEntry("overlap", settings=name, system=name, ingest_code=(name,), retrieval_code=(name,))


def test_the_tutorials_provider_stores_and_finds(tutorial: ProviderEntry) -> None:
    haystacks = pl.DataFrame(
        {"haystack_id": ["h", "h"], "position": [0, 1], "session_key": ["k1", "k2"], "content_hash": ["c1", "c2"]}
    ).with_columns(session_date=None)
    haystacks = haystacks.cast(dict(CORPUS["haystacks"].empty.schema))  # type: ignore[arg-type]
    questions = pl.DataFrame(
        {"question_id": ["q"], "ordinal": [0], "haystack_id": ["h"], "question": ["which port"]}
    ).with_columns(question_date=None, as_of=None)
    questions = questions.cast(dict(CORPUS["questions"].empty.schema))  # type: ignore[arg-type]
    turns = pl.DataFrame(
        {"content_hash": ["c1", "c2"], "turn_index": [0, 0], "content": ["the port is 5433", "lunch at noon"]}
    )
    placed = place(
        haystacks=haystacks,
        questions=questions,
        memories=CORPUS["memories"].empty,
        query_options=CORPUS["query_options"].empty,
        isolation="isolated",
        namespace="n",
    )
    system = tutorial.create(tutorial.ingest_settings({}), tutorial.retrieval_settings({"min_shared": 1}))

    built = system.build(documents=placed.documents, turns=turns)
    stored = {name: table.validate(built.tables[name]) for name, table in tutorial.store_tables().items()}
    queries = ask(questions, placed.containers)
    replies = REPLIES.validate(system.search(store=stored, queries=queries, limit=5))

    assert (built.sent, built.stored) == (2, 2)
    assert [hit["session_keys"] for hit in replies["hits"][0]] == [["k1"]]
