"""A model judges hits: one call a question, every hit or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from asking import Asks, asks, chat
from fakes.openai import Asked, Fail, FakeOpenAI, Say
from hypothesis import given
from hypothesis import strategies as st
from judging import hits_judged
from projects import Box

from converters.errors import BadInput
from eval_assets.models.chat import Chat
from eval_assets.models.relevance import hit_tokens, judge_hits
from eval_assets.models.settings import Model
from eval_assets.project import Project
from eval_assets.settings import load_settings
from judges.relevance.build import HIT_TOKENS


def relevance(made: Asks, asked: Chat, results: pl.DataFrame | None = None) -> pl.DataFrame:
    found = made.results if results is None else results
    return judge_hits("one", asked, results=found, questions=made.questions, ground_truth=made.truth)


def test_every_hit_is_judged_in_one_call_and_never_again(tmp_path: Path) -> None:
    made = asks(5)
    with FakeOpenAI(hits_judged) as fake:
        with chat(fake, tmp_path) as asked:
            first = relevance(made, asked)
            assert relevance(made, asked).equals(first)
        assert len(fake.seen) == 5
        assert all("answer_secret" not in one.raw.decode() for one in fake.seen)
    with chat(fake.url, tmp_path, mode="replay", key="") as replayed:
        assert relevance(made, replayed).equals(first)
        unknown = relevance(made, replayed, made.changed([3]))
    assert first["relevance"].to_list() == [[1, 0]] * 5
    assert first["status"].unique().to_list() == ["ok"]
    assert first["input_tokens"].min() > 100  # type: ignore[operator]
    assert first["prompt"].n_unique() == 1
    assert unknown["status"].to_list() == ["ok", "ok", "ok", "not_run", "ok"]
    assert unknown["retryable"].to_list() == [False, False, False, True, False]


def test_only_searches_that_worked_and_found_something_are_judged(tmp_path: Path) -> None:
    made = asks(4)
    status = pl.Series("status", ["ok", "empty", "error", "degraded"])
    none = pl.Series("hits", [], made.results.schema["hits"]).extend_constant([], 4)
    found = made.results.with_columns(status).with_columns(
        hits=pl.when(pl.col("status") == "empty").then(none).otherwise("hits"), error=pl.lit("down")
    )
    with FakeOpenAI(hits_judged) as fake, chat(fake, tmp_path) as asked:
        rows = relevance(made, asked, found).to_dicts()
        assert len(fake.seen) == 1
    assert [row["status"] for row in rows] == ["ok", "empty", "not_run", "not_run"]
    assert [row["relevance"] for row in rows] == [[1, 0], [], None, None]
    assert rows[2]["error"] == "its search failed: down"


def test_a_reply_that_leaves_a_hit_out_is_an_error_and_no_zero(tmp_path: Path) -> None:
    made = asks(3)

    def script(asked: Asked) -> Say | Fail:
        short = Say('{"relevance": [{"index": 1, "relevant": 1}]}')
        refused = Fail(400, "context_length_exceeded", "too long")
        other: dict[str, Say | Fail] = {"1?": short, "2?": refused}
        return other.get(asked.question[-2:]) or hits_judged(asked)

    with FakeOpenAI(script) as fake, chat(fake, tmp_path) as asked:
        rows = relevance(made, asked).to_dicts()
        assert sum("code 1?" in one.text for one in fake.asked) == 3
    assert [row["status"] for row in rows] == ["ok", "error", "error"]
    assert [row["relevance"] for row in rows] == [[1, 0], None, None]
    assert "1 of 2 memories are not judged" in rows[1]["error"]
    assert rows[1]["input_tokens"] > rows[0]["input_tokens"], "all three replies are paid for"
    assert [row["retryable"] for row in rows] == [False, False, False]


def test_long_hits_are_shown_in_part_where_many_would_not_fit(tmp_path: Path) -> None:
    made = asks(1)
    results = _with_texts(made.results, "A word and a few more. " * 900)
    with FakeOpenAI(lambda _: Say("[1, 0]")) as fake, chat(fake, tmp_path) as asked:
        row: dict[str, Any] = relevance(made, asked, results).to_dicts()[0]
        assert all(len(text) < 900 * 23 for text in fake.asked[0].fenced("memory"))
    assert (row["relevance"], row["n_shortened"]) == ([1, 0], 2)


def _with_texts(results: pl.DataFrame, text: str) -> pl.DataFrame:
    rows = results.to_dicts()
    for row in rows:
        row["hits"] = [{**hit, "content": text} for hit in row["hits"]]
    return pl.DataFrame(rows, schema=results.schema)


@given(st.integers(1, 1000), st.integers(8_000, 1_000_000))
def test_hits_fit_the_context_as_far_as_they_can(n_hits: int, context: int) -> None:
    model = Model(model="any", base_url="http://127.0.0.1", context_tokens=context)
    each = hit_tokens(model, n_hits)
    assert 20 <= each <= HIT_TOKENS
    assert each == 20 or n_hits * each < context


@pytest.mark.parametrize(("judge", "said"), [("lexical", "asks no model"), ("nobody", "unknown name 'nobody'")])
def test_only_a_judge_that_asks_a_model_judges_hits(judge: str, said: str, fresh: Box) -> None:
    fresh.edit_systems({"systems": {"bm25": {"relevance": judge}}})
    with pytest.raises(BadInput) as caught:
        load_settings(Project.at(fresh.root))
    assert said in caught.value.line
    assert "systems.bm25.relevance" in caught.value.line
