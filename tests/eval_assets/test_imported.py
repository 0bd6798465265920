"""Systems whose results others made: from the file to the report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import Result
from projects import Box, make_project, parts, ran, write_yaml
from shared import made_once

from converters.errors import BadInput
from converters.formats.hypotheses import Hypothesis, write_hypotheses
from eval_assets.scope import Scope

Command = Callable[..., Result]
TABLES = ("questions", "haystacks", "sessions", "turns", "memories", "query_options", "ground_truth")
CORPUS = {f"corpus/{name} [chats]" for name in TABLES}
RUN = "q1 Q0 answer_q1_0 1 3.5 theirs\nq1 Q0 q1_1 2 1 theirs\nq2 Q0 q2_1 1 2 theirs\nq2 Q0 elsewhere 2 1 theirs\n"


def settings(systems: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "stores": {"turns": {"provider": "local", "ingest": {"granularity": "turn"}}},
        "systems": {name: {"provider": "imported", **values} for name, values in systems.items()},
        "targets": [{"systems": list(systems), "benchmarks": ["chats", "tiny"]}],
        **more,
    }


RANKED = {"theirs": {"description": "Their run.", "results": {"chats": {"file": "theirs.run", "format": "trec_run"}}}}
ANSWERED = {"theirs": {"answers": {"chats": {"file": "answers.jsonl"}}}}


@pytest.fixture
def cold(fresh: Box) -> Box:
    write_yaml(fresh.systems_file, settings(RANKED))
    return fresh


@pytest.fixture(scope="session")
def _corpora(tmp_path_factory: pytest.TempPathFactory, _sources_as_they_were: Path) -> Path:
    def make(place: Path) -> None:
        box = make_project(place)
        write_yaml(box.systems_file, settings(RANKED))
        box.refresh(benchmarks=["chats", "tiny"], to="corpus")

    return made_once(tmp_path_factory, "corpora", make)


@pytest.fixture
def box(_corpora: Path, tmp_path: Path) -> Box:
    """The corpora of both benchmarks are there, and no more."""
    shutil.copytree(_corpora, tmp_path / "box", symlinks=True)
    return Box(tmp_path / "box")


def put(box: Box, name: str, text: str) -> Path:
    path = box.root / "data" / "sources" / name
    path.write_text(text)
    return path


def answered(box: Box, *rows: Hypothesis, name: str = "answers.jsonl") -> None:
    write_hypotheses(rows, box.root / "data" / "sources" / name, force=True)


def table(box: Box, name: str) -> dict[str, dict[str, Any]]:
    rows = pl.read_parquet(box.root / "data" / "tables" / "theirs" / name / "chats" / "current.parquet").to_dicts()
    return {row["question_id"]: row for row in rows}


def figures(box: Box, system: str = "theirs") -> dict[tuple[str, str, str, int], dict[str, Any]]:
    rows = pl.read_parquet(box.root / "data" / "tables" / system / "report" / "chats" / "current.parquet").to_dicts()
    return {(row["slice"], row["level"], row["metric"], row["k"]): row for row in rows}


def test_a_run_from_the_file_to_the_report(cold: Box) -> None:
    put(cold, "theirs.run", RUN)
    done = cold.refresh()
    assert not done.failures
    own = [f"theirs/{stage} [chats]" for stage in ("results_source", "search_results", "retrieval_scores", "report")]
    assert set(ran(done)) == {"benchmark_source [chats]", *CORPUS, *own, "leaderboard"}
    rows = table(cold, "retrieval_scores")
    assert [(row["status"], row["evidence_ranks"], row["n_unmapped"]) for row in rows.values()] == [
        ("ok", [1], 0),
        ("ok", [], 1),
        ("empty", [], 0),
    ]
    assert figures(cold)["all", "session", "hit", 1]["value"] == 0.5
    told = cold.events()["theirs/search_results [chats]"].metadata
    assert (told["questions without a line"], told["hits that map to no session"], told["hits"]) == (1, 1, 4)
    assert cold.plan().work == ()


def test_what_a_plan_says_of_files(cold: Box, command: Command) -> None:
    plan = cold.plan()
    assert set(parts(plan)) == {"benchmark_source [chats]", *CORPUS, "leaderboard"}
    assert plan.unavailable == {"theirs on chats": "its file is missing; put it at data/sources/theirs.run"}
    done = command(cold, "plan", "--system", "theirs")
    assert "unavailable: theirs on chats: its file is missing; put it at data/sources/theirs.run" in done.stdout
    with cold.open() as session, pytest.raises(BadInput) as error:
        Scope(session.graph, ["theirs"], ["chats"]).check()
    assert error.value.line == "system theirs on chats: its result file is missing; put it at data/sources/theirs.run"
    with cold.open() as session, pytest.raises(BadInput) as error:
        Scope(session.graph, ["theirs"], ["tiny"]).check()
    assert error.value.line == "system theirs: it has no results there; it has results on: chats"

    path = put(cold, "theirs.run", RUN)
    assert cold.plan().unavailable == {}
    assert not cold.refresh().failures
    path.touch()
    assert cold.plan().work == ()
    path.unlink()
    assert (cold.plan().work, cold.plan().unavailable) == ((), {})


def test_a_changed_file_makes_its_own_system_stale(box: Box) -> None:
    both = {**RANKED, "others": {"results": {"chats": {"file": "others.run", "format": "trec_run"}}}}
    write_yaml(box.systems_file, settings(both))
    put(box, "others.run", RUN)
    put(box, "theirs.run", RUN)
    box.refresh()
    before = box.versions()
    # Another order of lines and another tag: the same results.
    put(box, "theirs.run", "\n".join(reversed(RUN.replace("theirs", "new").split("\n"))))
    (work,) = box.plan().work
    assert (str(work.part), work.kind) == ("theirs/results_source [chats]", "stale")
    assert work.why[0].startswith("the file changed: results sha256 ")
    assert ran(box.refresh()) == ["theirs/results_source [chats]", "theirs/search_results [chats]"]
    after = box.versions()
    assert [name for name in after if after[name] != before[name]] == ["theirs/results_source [chats]"]

    put(box, "theirs.run", RUN.replace("q2_1", "answer_q2_0"))
    done = ran(box.refresh())
    assert {name for name in done if name.startswith("theirs/")} == {
        f"theirs/{stage} [chats]" for stage in ("results_source", "search_results", "retrieval_scores", "report")
    }
    assert not any(name.startswith(("others/", "corpus/")) for name in done)
    assert figures(box)["all", "session", "hit", 1]["value"] == 1.0
    assert box.plan().work == ()


def test_a_file_that_cannot_be_used_fails_in_one_line(box: Box, command: Command) -> None:
    path = put(box, "theirs.run", RUN)
    box.refresh()
    before = box.versions()
    put(box, "theirs.run", RUN + "q9 Q0 x 1 1 theirs\n")
    done = command(box, "refresh")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        f"{path}: question_id: 'q9' is no question of the benchmark; "
        "give the results of this benchmark, or take the lines out"
    )
    assert "Traceback" not in done.stderr
    after = box.versions()
    assert [name for name in after if after[name] != before[name]] == ["theirs/results_source [chats]"]


def judged(*labels: bool | None) -> list[Hypothesis]:
    names = ("q1", "q2", "q3_abs")
    return [
        Hypothesis(name, f"answer to {name}", label, None if label is None else "gpt-4o-2024-08-06")
        for name, label in zip(names, labels, strict=False)
    ]


def test_judged_answers_from_the_file_to_the_report(box: Box, command: Command) -> None:
    write_yaml(box.systems_file, settings(ANSWERED))
    answered(box, *judged(True, False))
    done = box.refresh()
    assert not done.failures
    stages = ("results_source", "answers", "judgments", "report")
    assert {name for name in ran(done) if name.startswith("theirs/")} == {f"theirs/{stage} [chats]" for stage in stages}
    assert box.plan().work == ()
    answers, judgments = table(box, "answers"), table(box, "judgments")
    assert [(row["status"], row["answer"]) for row in answers.values()] == [
        ("ok", "answer to q1"),
        ("ok", "answer to q2"),
        ("empty", None),
    ]
    assert [(row["status"], row["label"], row["judge"]) for row in judgments.values()] == [
        ("ok", True, "gpt-4o-2024-08-06"),
        ("ok", False, "gpt-4o-2024-08-06"),
        ("empty", False, None),
    ]
    found = figures(box)
    assert {level for _, level, _, _ in found} == {"answer"}
    assert found["all", "answer", "accuracy", 0]["value"] == pytest.approx(1 / 3)
    assert found["all", "answer", "accuracy_task_averaged", 0]["value"] == 0.25
    assert found["all", "answer", "accuracy_abstention", 0]["value"] == 0.0
    told = box.events()["theirs/judgments [chats]"].metadata
    assert (told["questions without an answer"], told["answers without a label"]) == (1, 0)

    text = command(box, "report", "theirs", "chats").stdout
    assert "ANSWERS (judge: gpt-4o-2024-08-06)  accuracy=0.333 (1/3, 0.061 to 0.792)   accuracy_strict=" in text
    assert "3 questions; judgments: 2 ok, 1 empty; judged by: gpt-4o-2024-08-06" in text
    assert "hit@" not in text
    machine = json.loads(command(box, "report", "theirs", "chats", "--json").stdout)
    assert machine["headline"]["accuracy"] == pytest.approx(1 / 3)
    assert "questions" not in machine
    assert len(machine["judgments"]) == 3
    with box.open() as session:
        (row,) = session.graph.shelf.frame(session.instance, done.waves[-1].ran[-1].part.key, None).to_dicts()
    assert (row["system"], row["n"], row["hit_5"], row["n_answers"]) == ("theirs", None, None, 3)
    assert row["accuracy"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("ranked", [True, False], ids=["with results", "answers alone"])
def test_labels_of_a_file_are_said_not_to_follow_a_correction(ranked: bool, box: Box, command: Command) -> None:
    put(box, "theirs.run", RUN)
    answered(box, Hypothesis("q1", "Bo", True, "m|x"), Hypothesis("q2", "No"))
    write_yaml(box.systems_file, settings({"theirs": {**(RANKED["theirs"] if ranked else {}), **ANSWERED["theirs"]}}))
    box.refresh()
    said = "corrected labels (audited) change no accuracy here"
    assert said not in command(box, "report", "theirs", "chats").stdout
    questions = {"q1": {"answer": "Rex", "why": "w"}}
    overlays = {"audited": {"benchmark": "chats", "questions": questions}}
    write_yaml(box.root / "data" / "corrections.yaml", {"corrections": overlays})
    assert not box.refresh().failures
    text = command(box, "report", "theirs", "chats").stdout
    assert text.count(f"{said}: the labels of these answers (judge: m|x) came in a file") == 1
    assert not any(line.startswith("audited accuracy") for line in text.splitlines())
    assert said in str(box.events()["theirs/report [chats]"].metadata["labels that are not corrected"])


def test_answers_beside_results_and_labels_that_come_later(box: Box) -> None:
    both = {"theirs": {**RANKED["theirs"], **ANSWERED["theirs"]}}
    write_yaml(box.systems_file, settings(both))
    put(box, "theirs.run", RUN)
    answered(box, *judged(None, None, None))
    assert not box.refresh().failures
    found = figures(box)["all", "answer", "accuracy", 0]
    assert (found["value"], found["strict"], found["n"], found["n_failed"]) == (None, None, 0, 3)
    assert box.plan().work == ()

    both["theirs"]["judgments"] = {"chats": {"file": "judged.jsonl"}}
    write_yaml(box.systems_file, settings(both))
    answered(box, *judged(True, None, True), name="judged.jsonl")
    done = box.refresh()
    assert not done.failures
    assert not {"theirs/retrieval_scores [chats]", "corpus/questions [chats]"} & set(ran(done))
    found = figures(box)["all", "answer", "accuracy", 0]
    assert (found["value"], found["strict"], found["n"], found["n_failed"]) == (1.0, pytest.approx(2 / 3), 2, 1)
    assert figures(box)["all", "session", "hit", 1]["value"] == 0.5
    assert box.plan().work == ()

    # A system loses its results on a benchmark, and its report no longer shows them.
    write_yaml(
        box.systems_file,
        settings({"theirs": {**both["theirs"], "results": {"tiny": RANKED["theirs"]["results"]["chats"]}}}),
    )
    done = box.refresh()
    assert not done.failures
    assert {level for _, level, _, _ in figures(box)} == {"answer"}
    assert box.plan().work == ()


def test_judgments_of_other_answers_are_refused(box: Box, command: Command) -> None:
    both = {"theirs": {**ANSWERED["theirs"], "judgments": {"chats": {"file": "judged.jsonl"}}}}
    write_yaml(box.systems_file, settings(both))
    answered(box, *judged(None, None))
    first, second, third = judged(True, True, True)
    answered(box, first, second._replace(hypothesis="something else"), name="judged.jsonl")
    done = command(box, "refresh")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        f"{box.root / 'data' / 'sources' / 'judged.jsonl'}: question 'q2': judges 'something else', "
        "and the answer is 'answer to q2'; give the judgments of these answers"
    )
    answered(box, first, third, name="judged.jsonl")
    assert "question 'q3_abs': judges 'answer to q3_abs', and the answers have none" in command(box, "refresh").stderr


def test_a_system_on_one_benchmark_with_rankings_and_on_another_with_answers(box: Box) -> None:
    mixed = {"theirs": {**ANSWERED["theirs"], "results": {"tiny": {"file": "tiny.run", "format": "trec_run"}}}}
    write_yaml(box.systems_file, settings(mixed))
    answered(box, *judged(True, True, True))
    put(box, "tiny.run", "".join(f"{name} Q0 a 1 1 theirs\n" for name in _tiny_questions(box)))
    done = box.refresh()
    assert not done.failures
    assert box.plan().work == ()
    made = {name for name in ran(done) if name.startswith("theirs/")}
    assert made == {
        *(f"theirs/{stage} [tiny]" for stage in ("results_source", "search_results", "retrieval_scores", "report")),
        *(f"theirs/{stage} [chats]" for stage in ("results_source", "answers", "judgments", "report")),
    }


def _tiny_questions(box: Box) -> list[str]:
    from converters.convert import convert_corpus
    from converters.corpus import read_corpus

    convert_corpus(box.fixture, "fixture", box.root / "corpus")
    return read_corpus(box.root / "corpus")["questions"]["question_id"].to_list()


def test_a_failure_on_one_benchmark_does_not_run_the_leaderboard_again_and_again(box: Box) -> None:
    files = {"chats": RANKED["theirs"]["results"]["chats"], "tiny": {"file": "tiny.run", "format": "trec_run"}}
    write_yaml(box.systems_file, settings({"theirs": {"results": files}}))
    put(box, "theirs.run", "q9 Q0 x 1 1 theirs\n")
    put(box, "tiny.run", "".join(f"{name} Q0 a 1 1 theirs\n" for name in _tiny_questions(box)))
    done = box.refresh()
    assert [str(failure.part) for failure in done.failures] == ["theirs/search_results [chats]"]
    assert done.unsettled == []
    assert ran(done).count("leaderboard") == 1
