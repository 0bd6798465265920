"""The best possible list on the official oracle file: what each metric can reach there."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.tables import SEARCH_RESULTS
from judges.aggregate import aggregate
from judges.checks import evidence_unknown, k_reaches_haystack
from judges.report_text import aggregate_line
from judges.retrieval import score

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def scores(real_oracle: Path, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("oracle") / "corpus"
    convert_corpus(real_oracle, "longmemeval", folder)
    tables = read_corpus(folder)
    covers = tables["turns"].group_by("content_hash").agg(turns=pl.col("turn_index").sort())
    hits = (
        tables["haystacks"]
        .join(covers, on="content_hash")
        .sort("haystack_id", "position")
        .group_by("haystack_id")
        .agg(
            hits=pl.struct(
                rank=pl.col("position") + 1,
                provider_id="session_key",
                session_keys=pl.concat_list("session_key"),
                turns="turns",
                content=pl.lit(""),
                score=pl.lit(None),
                date="session_date",
            )
        )
    )
    facts = {"status": "ok", "error": None, "retryable": False, "limit": 50, "latency_ms": None}
    schema = SEARCH_RESULTS.empty.schema
    results = (
        tables["questions"]
        .join(hits, on="haystack_id")
        .with_columns(pl.lit(value).alias(name) for name, value in facts.items())
        .select(schema.names())
        .cast(schema)
    )
    named = ("questions", "haystacks", "ground_truth", "query_options")
    assert evidence_unknown(tables["ground_truth"], tables["haystacks"], tables["questions"]).is_empty()
    return score(results=results, **{name: tables[name] for name in named})


def test_what_a_perfect_list_reaches(scores: pl.DataFrame) -> None:
    report = aggregate(scores)
    # Three questions have six evidence sessions: no list reaches all of them at 5.
    assert aggregate_line(report) == (
        "AGGREGATE (n=470)  hit@5=1.000 R@5=0.999 MRR@5=1.000   hit@10=1.000 R@10=1.000 MRR@10=1.000"
        "   (30 excluded: no evidence to find)"
    )
    ceiling = report.filter((pl.col("slice") == "all") & (pl.col("level") == "session") & (pl.col("k") == 1))
    found = dict(ceiling.select("metric", "value").iter_rows())
    assert found["recall"] == pytest.approx(0.648, abs=5e-4)
    assert found["recall_all"] == pytest.approx(170 / 470)


def test_the_oracle_haystacks_are_too_small_for_any_cut_off(scores: pl.DataFrame) -> None:
    assert k_reaches_haystack(scores) == {1: 170, 3: 438, 5: 467, 10: 470, 20: 470, 50: 470}


def test_turn_level(scores: pl.DataFrame) -> None:
    turns = aggregate(scores).filter((pl.col("slice") == "all") & (pl.col("level") == "turn"))
    assert turns["n_undefined"].to_list() == [0] * turns.height
    assert turns["n"].unique().to_list() == [470]
