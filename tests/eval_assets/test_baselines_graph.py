"""Baselines, judged hits and two judges in the graph, from the file to the leaderboard, with a model on loopback."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from click.testing import Result
from fakes.openai import FakeOpenAI
from judging import Knowing, judges_hits
from projects import Box, make_project, part, write_yaml

from eval_assets import keys
from eval_assets.build import build_definitions, build_graph
from eval_assets.cli.session import Session
from eval_assets.project import Project
from eval_assets.stored import last_event
from judges.judging.cases import bundled_cases
from judges.refusal import REFUSAL
from providers.registry import PROVIDERS

KEY = "FAKE_MODEL_KEY"
LEXICAL = {"reader": "extractive", "judges": ["lexical"]}
SETTINGS: dict[str, Any] = {
    "judges": {"ours": {"model": "fake"}, "theirs": {"model": "fake", "prompts": "official"}},
    "stores": {
        "nothing": {"provider": "none"},
        "sessions": {"provider": "full"},
        "evidence": {"provider": "oracle"},
        "turns": {"provider": "local"},
    },
    "systems": {
        "none": {"store": "nothing", **LEXICAL},
        "full": {"store": "sessions", "relevance": "ours"},
        "oracle": {
            "store": "evidence",
            "reader": "extractive",
            "judges": ["lexical", "ours", "theirs"],
            "relevance": "ours",
        },
        "hybrid": {"store": "turns"},
    },
    "targets": [{"systems": ["none", "full", "oracle"], "benchmarks": ["chats"]}],
}


@dataclass(frozen=True)
class Made:
    """A project that is up to date, as it is opened, and the model that it asked."""

    box: Box
    fake: FakeOpenAI
    session: Session

    def frame(self, name: str) -> pl.DataFrame:
        return self.session.graph.shelf.frame(self.session.instance, part(name).key, "chats")

    def metadata(self, name: str, partition: str | None = "chats") -> dict[str, Any]:
        event = last_event(self.session.instance, part(name).key, partition)
        assert event is not None
        return {key: getattr(value, "value", value) for key, value in event.metadata.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """For reading alone."""
    box = make_project(tmp_path_factory.mktemp("baselines") / "project")
    write_yaml(box.systems_file, SETTINGS)
    with pytest.MonkeyPatch.context() as patch, FakeOpenAI(Knowing(wrong=["right-short"])) as fake:
        patch.setenv(KEY, fake.key)
        model = {"model": "gpt-4o", "base_url": f"{fake.url}/v1", "key_env": KEY, "input_usd": 1.0, "output_usd": 2.0}
        write_yaml(box.root / "data" / "models.yaml", {"models": {"fake": model}})
        done = box.refresh()
        assert (done.failures, done.unavailable) == ([], {})
        with box.open() as session:
            yield Made(box, fake, session)


def figure(report: pl.DataFrame, level: str, metric: str, k: int, column: str = "value", judge: str = "") -> Any:
    here = (pl.col("slice") == "all") & (pl.col("level") == level) & (pl.col("metric") == metric) & (pl.col("k") == k)
    return report.row(by_predicate=here & (pl.col("judge") == judge), named=True)[column]


def test_nothing_is_found_and_everything_refused(made: Made) -> None:
    assert made.frame("none/search_results")["status"].unique().to_list() == ["empty"]
    answers = made.frame("none/answers")
    assert answers.select("status", "answer").unique().rows() == [("ok", REFUSAL)]
    report = made.frame("none/report")
    assert (figure(report, "session", "recall", 10), figure(report, "session", "recall", 10, "n")) == (0, 2)
    # The abstention alone is answered rightly.
    judged = made.frame("none/judgments/lexical")
    assert judged.filter("label")["question_id"].to_list() == ["q3_abs"]


def test_everything_is_found_in_the_order_of_its_dates(made: Made) -> None:
    hits = made.frame("full/search_results")["hits"].to_list()
    assert [len(found) for found in hits] == [2, 3, 2]
    for found in hits:
        assert [hit["date"] for hit in found] == sorted(hit["date"] for hit in found)
    assert hits[0][0]["content"] == "user: I adopted a beagle called Bo.\nassistant: I see."
    assert figure(made.frame("full/report"), "session", "recall", 10) == 1


def test_the_oracle_finds_the_evidence_and_no_more(made: Made) -> None:
    report = made.frame("oracle/report")
    assert [figure(report, "session", metric, k) for metric, k in (("recall", 10), ("mrr", 10), ("ndcg", 50))] == [
        1
    ] * 3
    scores = made.frame("oracle/retrieval_scores")
    assert (
        scores.filter(pl.col("excluded").is_null()).select(same=(pl.col("n_hits") == pl.col("n_evidence")).all()).item()
    )


def test_hits_are_judged_in_one_call_a_question_and_reported_beside_ours(made: Made) -> None:
    relevance = made.frame("oracle/relevance")
    assert relevance["relevance"].to_list()[:2] == [[1], [0, 0]]
    assert sum(judges_hits(one) for one in made.fake.asked) == 2 * 3
    report = made.frame("oracle/report")
    # Of the second question nothing is relevant, by this judge, so there was nothing to find.
    assert figure(report, "judged", "recall", 5, judge="ours") == 1
    assert [figure(report, "judged", "recall", 5, column, "ours") for column in ("n", "n_excluded")] == [2, 1]
    assert figure(report, "memorybench", "hit", 10, judge="ours") == pytest.approx(2 / 3)
    assert "judged.recall@5 | 1.000" in made.metadata("oracle/report")["relevance as judged"]
    assert "| relevance |" in made.metadata("oracle/report")["time, tokens and money"]


def test_judges_are_tried_once_each_and_told_by_their_accuracy(made: Made) -> None:
    cases = len(bundled_cases())
    # Two judges with the cases and three answers each, and three questions' hits of two systems.
    assert len(made.fake.asked) == 2 * (cases + 3) + 2 * 3
    found = {}
    for judge in ("lexical", "ours", "theirs"):
        key = dg.AssetCheckKey(keys.judgments_key("oracle", judge), "judge_fit")
        record = made.session.instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
        assert record.event is not None
        event = record.event.dagster_event
        assert event is not None
        found[judge] = event.asset_check_evaluation_data
    assert all(one.passed and one.severity == dg.AssetCheckSeverity.WARN for one in found.values())
    assert found["ours"].metadata["accuracy"].value == round(1 - 1 / cases, 4)
    assert "right-short" in str(found["theirs"].metadata["wrong"].value)


def test_what_most_judges_say_is_beside_how_they_agree(made: Made) -> None:
    found = made.metadata("oracle/agreement")
    votes = [made.frame(f"oracle/judgments/{judge}")["label"].to_list() for judge in ("lexical", "ours", "theirs")]
    right = [sum(labels) > 1 for labels in zip(*votes, strict=True)]
    assert found["accuracy by consensus"] == round(sum(right) / 3, 4)
    assert "| accuracy |" in found["consensus"]


def test_baselines_are_told_as_such(made: Made) -> None:
    shown = made.metadata("leaderboard", None)
    assert all(f"{name} (baseline)" in shown["standings"] for name in ("none", "full", "oracle"))
    assert shown["baselines"].startswith("full: it returns the whole haystack")
    graph = made.session.definitions.resolve_asset_graph()
    for name in ("none", "full", "oracle", "hybrid"):
        for key in (keys.search_key(name), keys.report_key(name)):
            assert ("A baseline, not a memory" in str(graph.get(key).description)) == (name != "hybrid")


def test_the_command_prints_what_the_judge_says_of_hits(made: Made, command: Any) -> None:
    done: Result = command(made.box, "report", "oracle", "chats")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("oracle is a baseline, not a memory: it is told the evidence")
    assert "judged.recall@5" in done.output
    assert "memorybench.ndcg@10" in done.output


def test_two_systems_are_compared_and_gated_by_what_a_model_says_of_their_hits(made: Made, command: Any) -> None:
    done: Result = command(made.box, "compare", "full", "oracle", "--metric", "judged.precision@5")
    assert done.exit_code == 0, done.output
    assert "judged.precision@5[ours]" in done.stdout
    chosen = ("--metric", "judged.recall@5")
    try:
        accepted: Result = command(made.box, "accept", "oracle", "chats", *chosen)
        assert accepted.exit_code == 0, accepted.output
        assert "judged.recall@5[ours] 1.000" in accepted.stdout
        held: Result = command(made.box, "gate", "oracle", "chats", "--floor", "judged.hit@5=0.9")
    finally:
        shutil.rmtree(made.box.root / "data" / "baselines", ignore_errors=True)
    assert held.exit_code == 0, held.output
    assert [line.split()[:3] for line in held.stdout.splitlines()[:2]] == [
        ["passed", "floor", "judged.hit@5[ours]:"],
        ["passed", "baseline", "judged.recall@5[ours]:"],
    ]
    none: Result = command(made.box, "accept", "none", "chats", *chosen)
    assert (none.exit_code, "not measured for none on chats" in none.stderr) == (2, True)


def test_no_search_but_the_oracles_sees_the_gold(tmp_path: Path) -> None:
    box = make_project(tmp_path)
    write_yaml(
        box.systems_file,
        {
            "stores": {f"at_{name}": {"provider": name} for name in PROVIDERS},
            "systems": {f"with_{name}": {"store": f"at_{name}"} for name in PROVIDERS},
        },
    )
    graph = build_definitions(build_graph(Project.at(box.root))).resolve_asset_graph()
    gold = keys.corpus_key("ground_truth")
    told = [name for name in PROVIDERS if gold in graph.get(keys.search_key(f"with_{name}")).parent_keys]
    assert told == ["oracle"]
    assert all(gold not in graph.get(keys.store_key(f"at_{name}")).parent_keys for name in PROVIDERS)
