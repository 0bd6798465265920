"""Which conditions must be alike for two runs to be compared: those of what both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import pytest

from eval_assets.runs import Run, conditions_of, conditions_of_both
from judges.statistics.metric import HEADLINES, parse_metrics
from judges.statistics.outcomes import OUTCOMES, SCORED

OF_HITS = " (relevance)"
CORPUS = {"questions": ["v1"], "ground_truth": ["v1"], "haystacks": ["v1"]}


def run(
    *, k: int | None = 50, judges: Mapping[str, str] | None = None, corpus: Mapping[str, Sequence[str]] = CORPUS
) -> Run:
    """A run of one question: retrieval where ``k`` is given, and a label of each judge, or its view of the hits."""
    keys = [("", "session", "hit", 5)] if k else []
    for judge in judges or {}:
        hits = judge.endswith(OF_HITS)
        keys.append((judge.removesuffix(OF_HITS), *(("judged", "hit", 5) if hits else ("answer", "accuracy", 0))))
    rows = [("q1", "t", *key, SCORED, 1.0) for key in keys]
    outcomes = pl.DataFrame(rows, schema=OUTCOMES, orient="row")
    return Run("s", "b", outcomes, k, judges or {}, corpus, ())


OLD = {**CORPUS, "ground_truth": ["v0"]}
OTHER_HAYSTACKS = {**CORPUS, "haystacks": ["v0"]}


@pytest.mark.parametrize(
    ("left", "right", "differences"),
    [
        (run(), run(), []),
        (run(k=50), run(k=20), ["hits asked for 50 and 20"]),
        (run(judges={"j": "v1"}), run(judges={"j": "v2"}), ["prompt version of j v1 and v2"]),
        (run(judges={"j": "v1"}), run(), []),
        (run(judges={"j": "v1"}), run(k=None, judges={"j": "v1"}), []),
        (run(judges={"j": "v1"}), run(judges={"j": "v1", "i": "v1"}), []),
        (
            run(judges={"j": "v1"}),
            run(judges={"": "as in its file"}),
            ["judge (not named) on one side only", "judge j on one side only"],
        ),
        (run(judges={"j": "v1"}, k=None), run(judges={"j": "v1"}, k=None, corpus=OTHER_HAYSTACKS), []),
    ],
    ids=["alike", "k", "prompt", "one judged", "one ranked", "one judge in common", "no judge in common", "answers"],
)
def test_unlike(left: Run, right: Run, differences: list[str]) -> None:
    first, second = conditions_of_both(left, right)
    assert first.unlike(second) == differences


@pytest.mark.parametrize("corpus", [OLD, OTHER_HAYSTACKS, {**CORPUS, "questions": ["v0", "v1"]}])
def test_runs_scored_against_another_corpus_are_unlike(corpus: Mapping[str, Sequence[str]]) -> None:
    first, second = conditions_of_both(run(), run(corpus=corpus))
    (difference,) = first.unlike(second)
    assert difference.startswith("benchmark digest ")


HITS = parse_metrics(["judged.hit@5", "accuracy"])
MINE = {"j": "v1", f"j{OF_HITS}": "h1"}


@pytest.mark.parametrize(
    ("theirs", "k", "differences"),
    [
        (MINE, 50, []),
        ({"j": "v1"}, 50, []),
        (MINE, 20, ["hits asked for 50 and 20"]),
        ({"j": "v1", f"j{OF_HITS}": "h2"}, 50, [f"prompt version of j{OF_HITS} h1 and h2"]),
        (
            {"j": "v1", f"i{OF_HITS}": "h1"},
            50,
            [f"judge i{OF_HITS} on one side only", f"judge j{OF_HITS} on one side only"],
        ),
        ({"j": "v2", f"j{OF_HITS}": "h1"}, 50, ["prompt version of j v1 and v2"]),
    ],
    ids=["alike", "not judged", "k", "prompt", "another judge of hits", "prompt of answers"],
)
def test_who_judged_hits_matters_apart_from_who_judged_answers(
    theirs: Mapping[str, str], k: int, differences: list[str]
) -> None:
    first, second = conditions_of_both(run(judges=MINE), run(judges=theirs, k=k), HITS)
    assert first.unlike(second) == differences
    unseen = conditions_of_both(run(judges=MINE), run(judges=theirs), parse_metrics(["hit@5"]))
    assert unseen[0].judges == {}


def test_metrics_that_are_not_compared_do_not_matter() -> None:
    left, right = run(k=50, judges={"j": "v1"}), run(k=20, judges={"j": "v2"})
    for name, differences in (("accuracy", ["prompt version of j v1 and v2"]), ("hit@5", ["hits asked for 50 and 20"])):
        first, second = conditions_of_both(left, right, parse_metrics([name]))
        assert first.unlike(second) == differences
        assert conditions_of(left, parse_metrics([name])).k == (50 if name == "hit@5" else None)
    assert conditions_of(left, HEADLINES).judges == {"j": "v1"}
