"""Systems compared with each other, and with what was accepted: the asset, its staleness, and the commands."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from click.testing import Result
from projects import REPOSITORY, Box, chats, make_project, ran, write_yaml
from shared import made_once

from eval_assets import keys
from eval_assets.build import build_definitions

Command = Callable[..., Result]
N = 24


def questions() -> list[dict[str, Any]]:
    """LongMemEval records: each question has a haystack of its own, of two sessions, the first of which is evidence."""
    record = json.dumps(chats()[0])
    return [json.loads(record.replace("q1", f"q{i:02}")) for i in range(N)]


def run_of(right: int) -> str:
    """A TREC run that finds the evidence of the first ``right`` questions, and the other session for the rest."""
    hits = [f"answer_q{i:02}_0" if i < right else f"q{i:02}_1" for i in range(N)]
    return "".join(f"q{i:02} Q0 {hit} 1 1 them\n" for i, hit in enumerate(hits))


def ranked(file: str, limit: int = 10) -> dict[str, Any]:
    return {
        "provider": "imported",
        "limit": limit,
        "results": {"chats": {"file": file, "format": "trec_run"}},
    }


SETTINGS = {
    "stores": {},
    "systems": {
        "good": ranked("good.run"),
        "close": ranked("close.run"),
        "bad": ranked("bad.run"),
        "deep": ranked("good.run", limit=20),
        "late": ranked("late.run"),
    },
    "targets": [{"systems": ["good", "close", "bad", "deep", "late"], "benchmarks": ["chats"]}],
}


def put(box: Box, name: str, right: int) -> None:
    (box.root / "data" / "sources" / f"{name}.run").write_text(run_of(right))


def _make(place: Path) -> None:
    box = make_project(place)
    box.chats.write_text(json.dumps(questions()))
    write_yaml(box.systems_file, SETTINGS)
    for name, right in (("good", 20), ("close", 19), ("bad", 4)):
        put(box, name, right)
    done = box.refresh()
    assert not done.failures


@pytest.fixture(scope="session")
def _compared(tmp_path_factory: pytest.TempPathFactory, _sources_as_they_were: Path) -> Path:
    return made_once(tmp_path_factory, "compared", _make)


@pytest.fixture
def box(_compared: Path, tmp_path: Path) -> Box:
    """Four of five systems are scored. To change."""
    shutil.copytree(_compared, tmp_path / "box", symlinks=True)
    return Box(tmp_path / "box")


def stored(box: Box) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The comparison's rows, and what its event says."""
    frame = pl.read_parquet(box.root / "data" / "tables" / "comparison" / "chats" / "current.parquet")
    return frame, dict(box.events()["comparison [chats]"].metadata)


def test_each_system_is_compared_with_the_first(box: Box) -> None:
    frame, told = stored(box)
    hits = {row["right"]: row for row in frame.filter(metric="hit", k=5).to_dicts()}
    assert set(frame["left"]) == {"good"}
    assert {name: (row["verdict"], row["n_gained"], row["n_lost"]) for name, row in hits.items()} == {
        "close": ("not separable", 0, 1),
        "bad": ("worse", 0, 16),
    }
    assert hits["bad"]["difference"] == pytest.approx(-16 / N)
    assert hits["bad"]["p"] == pytest.approx(2 / 2**16)
    # Holm is over both pairs together: the least p counts as often as there are rows.
    assert frame.height == 12
    assert hits["bad"]["p_adjusted"] == pytest.approx(12 * 2 / 2**16)
    assert told["unlike runs, not compared"] == "good and deep on chats: the runs are unlike: hits asked for 10 and 20"
    assert told["absent"] == "late/retrieval_scores"
    assert told["not separable"] == f"{frame.height // 2} of {frame.height}"
    assert "- close against good: not separable on any of 6 metrics" in told["verdicts"]
    assert "| good | bad | hit@5 | 0.833 | 0.167 | -0.667 |" in told["differences"]
    assert told["bad - good hit@5"] == -0.6667


def test_it_is_stale_with_what_it_reads_and_with_its_settings_alone(box: Box) -> None:
    put(box, "late", 22)
    done = box.refresh()
    made = [f"late/{stage} [chats]" for stage in ("results_source", "search_results", "retrieval_scores", "report")]
    assert sorted(ran(done)) == sorted([*made, "comparison [chats]", "leaderboard"])
    frame, told = stored(box)
    assert told["absent"] == "none"
    assert "late" in set(frame["right"])
    assert box.plan().work == ()
    box.edit_systems({"comparisons": [{"left": "bad", "right": "close", "metrics": ["hit@5"]}]})
    (work,) = box.plan().work
    assert (str(work.part), work.kind) == ("comparison [chats]", "stale")
    assert work.why[0].endswith('; good and late" -> "bad and close (hit@5)"')
    assert ran(box.refresh()) == ["comparison [chats]"]
    rows = stored(box)[0].to_dicts()
    assert [(row["left"], row["right"], row["metric"], row["verdict"]) for row in rows] == [
        ("bad", "close", "hit", "better")
    ]


def test_a_system_that_fails_keeps_nobody_from_being_compared(box: Box) -> None:
    put(box, "close", 18)
    (box.root / "data" / "sources" / "bad.run").write_text("q99 Q0 x 1 1 them\n")
    done = box.refresh()
    assert [str(failure.part) for failure in done.failures] == ["bad/search_results [chats]"]
    assert (ran(done).count("comparison [chats]"), ran(done).count("leaderboard"), done.unsettled) == (1, 1, [])
    rows = stored(box)[0].filter(metric="hit", k=5).to_dicts()
    assert {row["right"]: row["n_lost"] for row in rows} == {"close": 2, "bad": 16}


def test_compare(box: Box, command: Command) -> None:
    done = command(box, "compare", "good", "bad")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "chats"
    assert lines[1].split("  ")[0] == "metric"
    (hit,) = [line.split() for line in lines if line.startswith("hit@5")]
    assert hit[1:4] == ["0.833", "0.167", "-0.667"]
    assert hit[-4:] == ["worse", str(N), "0", "16"]
    worse = "hit@5, recall@5, mrr@5, hit@10, recall@10, ndcg@10"
    assert f"bad against good: worse on {worse}" in lines
    alone = command(box, "compare", "good", "close", "-b", "chats", "--metric", "hit@5")
    assert alone.stdout.splitlines()[-1] == "close against good: not separable on hit@5"
    found = json.loads(command(box, "compare", "bad", "good", "-m", "hit@5", "-m", "turn.hit@5", "--json").stdout)
    assert [(row["level"], row["verdict"]) for row in found["chats"]] == [("session", "better"), ("turn", None)]


def test_unlike_runs_are_compared_if_one_says_so(box: Box, command: Command) -> None:
    done = command(box, "compare", "good", "deep")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("good and deep on chats: the runs are unlike: hits asked for 10 and 20; ")
    done = command(box, "compare", "good", "deep", "--unlike")
    assert done.exit_code == 0
    assert "deep against good: not separable on any of 6 metrics" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["compare", "good", "bda"], "SYSTEM: unknown system 'bda'; known are: good, "),
        (["compare", "good", "good"], "RIGHT: good is on both sides; "),
        (["compare", "good", "bad", "-b", "tin"], "--benchmark: unknown benchmark 'tin'; "),
        (["compare", "good", "bad", "-m", "hits@5"], "--metric: hits@5: is not a metric; "),
        (["compare", "good", "bad", "-m", "accuracy"], "--metric: neither good nor bad has it on chats; "),
        (["compare", "good", "late"], "good and late: there is no benchmark that both were scored on; "),
        (
            ["compare", "good", "late", "-b", "chats"],
            "late on chats: nothing was scored yet; run: eval-assets refresh ",
        ),
        (["accept", "late", "chats"], "late on chats: nothing was scored yet; "),
        (["accept", "good", "chats", "-m", "accuracy"], "--metric: accuracy: not measured for good on chats; "),
        (["gate", "good", "chats"], "good on chats: has neither floors nor an accepted baseline; "),
        (["gate", "good", "chats", "--floor", "hit@5"], "--floor: hit@5: is not a metric and a number from 0 to 1; "),
        (["gate", "good", "chats", "--floor", "hit@5=80"], "--floor: hit@5=80: is not a metric and a number "),
        (["gate", "good", "chats", "--floor", "hti@5=0.8"], "--floor: hti@5: is not a metric; "),
    ],
)
def test_one_line(_compared: Path, command: Command, arguments: list[str], line: str) -> None:
    done = command(Box(_compared), *arguments)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(line)


def test_accept_and_gate(box: Box, command: Command) -> None:
    done = command(box, "accept", "good", "chats")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:2] == ["data/baselines/good.chats.json: 24 questions", "  hit@5 0.833"]
    accepted = box.root / "data" / "baselines" / "good.chats.json"
    before = accepted.read_bytes()
    assert command(box, "accept", "good", "chats").exit_code == 0
    assert accepted.read_bytes() == before

    done = command(box, "gate", "good", "chats")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (
        0,
        "gate passed: 6 (against data/baselines/good.chats.json)",
    )
    done = command(box, "gate", "good", "chats", "--floor", "hit@5=0.9", "--floor", "hit@10=0.8")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == "FAILED  floor     hit@5: 0.833 is below the floor of 0.900 (n=24)"
    assert done.stdout.splitlines()[-1].startswith("gate failed: 1 of 8 ")

    for name in ("close", "bad", "deep"):
        shutil.copyfile(accepted, accepted.with_name(f"{name}.chats.json"))
    assert command(box, "gate", "close", "chats").exit_code == 0
    done = command(box, "gate", "bad", "chats", "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["passed"], told["baseline"]) == (1, False, "data/baselines/bad.chats.json")
    assert {one["passed"] for one in told["decisions"]} == {False}
    done = command(box, "gate", "deep", "chats")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "data/baselines/deep.chats.json: the runs are unlike: hits asked for 10 and 20; " in done.stderr
    assert command(box, "gate", "deep", "chats", "--unlike").exit_code == 0

    accepted.write_text(accepted.read_text().replace('"hit@5": 1.0', '"hit@5": 7', 1))
    done = command(box, "gate", "good", "chats")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "good.chats.json: questions[0].scores[...]: " in done.stderr


def test_floors_of_the_settings(box: Box, command: Command) -> None:
    gates = [
        {"systems": ["good", "bad"], "benchmarks": ["chats"], "floors": {"hit@5": 0.5, "recall@5": 0.1}},
        {"systems": ["bad"], "benchmarks": ["chats"], "floors": {"hit@5": 0.1}},
    ]
    box.edit_systems({"gates": gates})
    done = command(box, "gate", "good", "chats")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "gate passed: 2 (no baseline was accepted)")
    # Both floors of hit@5 must hold.
    done = command(box, "gate", "bad", "chats")
    assert (done.exit_code, done.stdout.splitlines()[0].split()[:3]) == (1, ["FAILED", "floor", "hit@5:"])
    assert command(box, "gate", "bad", "chats", "--floor", "hit@5=0.1").exit_code == 0


def test_a_report_warns_of_its_gate(box: Box, command: Command) -> None:
    command(box, "accept", "good", "chats")
    folder = box.root / "data" / "baselines"
    shutil.copyfile(folder / "good.chats.json", folder / "bad.chats.json")
    shutil.copyfile(folder / "good.chats.json", folder / "deep.chats.json")
    found = gates(box)
    assert {name: one.passed for name, one in found.items()} == {
        "good": True,
        "close": True,
        "bad": False,
        "deep": False,
    }
    assert {(one.severity, one.blocking) for one in found.values()} == {(dg.AssetCheckSeverity.WARN, False)}
    assert found["close"].metadata["baseline"].value == "none was accepted: eval-assets accept"
    assert "worse than the baseline's" in str(found["bad"].metadata["decisions"].value)
    assert "the runs are unlike" in str(found["deep"].metadata["cannot be decided"].value)


def gates(box: Box) -> dict[str, dg.AssetCheckEvaluation]:
    """What the checks called gate say of the reports as they are stored."""
    with box.open() as session:
        graph = session.graph
        checks = dg.AssetSelection.checks_for_assets(*(keys.report_key(name) for name in graph.settings.systems))
        # Dagster gives a partition to a run of checks only where an asset runs as well: the source changes nothing.
        selection = checks | dg.AssetSelection.assets(keys.SOURCE)
        job = dg.define_asset_job("checking", selection=selection, partitions_def=graph.partitions)
        result = (
            build_definitions(graph, jobs=[job])
            .resolve_job_def("checking")
            .execute_in_process(
                instance=session.instance,
                partition_key="chats",
                raise_on_error=False,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )
        )
    found = [one for one in result.get_asset_check_evaluations() if one.check_name == "gate"]
    return {one.asset_key.path[0]: one for one in found if one.asset_key.path[0] != "late"}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"comparisons": [{"left": "good", "right": "gud"}]}, "comparisons.0.right: unknown name 'gud'; "),
        ({"comparisons": [{"left": "good", "right": "good"}]}, "comparisons.0: one system on both sides; "),
        (
            {"comparisons": [{"left": "good", "right": "bad", "metrics": ["hits@5"]}]},
            "comparisons.0.metrics: hits@5: is not a metric (use one of ",
        ),
        ({"gates": [{"systems": ["gud"], "benchmarks": ["chats"], "floors": {}}]}, "gates.0.systems: unknown name "),
        ({"gates": [{"systems": ["good"], "benchmarks": ["t"], "floors": {}}]}, "gates.0.benchmarks: unknown name "),
        (
            {"gates": [{"systems": ["good"], "benchmarks": ["chats"], "floors": {"hit@5": 80}}]},
            "gates.0.floors.hit@5: input should be less than or equal to 1; ",
        ),
        (
            {"gates": [{"systems": ["good"], "benchmarks": ["chats"], "floors": {"hit5": 0.8}}]},
            "gates.0.floors: hit5: is not a metric (use one of ",
        ),
    ],
)
def test_settings_that_are_wrong(fresh: Box, command: Command, change: dict[str, Any], line: str) -> None:
    write_yaml(fresh.systems_file, {**SETTINGS, **change})
    done = command(fresh, "plan")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"{fresh.systems_file}: {line}")


def test_baselines_are_tracked_and_tables_are_not() -> None:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout")
    names = ["data/baselines/a.b.json", "data/tables/a.parquet"]
    asked = ["git", "check-ignore", "--no-index", *names]
    done = subprocess.run(asked, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.stdout.split() == names[1:]
