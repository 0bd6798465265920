"""Laws that hold for any ranking."""

from __future__ import annotations

import math
import random

import polars as pl
from boards import Ask, board, scored, values
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from judges.aggregate import aggregate
from judges.retrieval_metrics import CUTOFFS

SESSIONS = [f"s{n}" for n in range(12)]
asks = st.builds(
    Ask,
    hits=st.lists(st.sampled_from([*SESSIONS, "nowhere"]), max_size=30),
    evidence=st.lists(st.sampled_from(SESSIONS), max_size=5, unique=True),
    haystack=st.just(SESSIONS),
    limit=st.sampled_from([3, 10, 100]),
    status=st.sampled_from(["", "", "", "error", "degraded"]),
    own_k=st.none() | st.integers(1, 8),
    abstention=st.booleans(),
    type=st.sampled_from(["a", "b"]),
)
boards = st.lists(asks, min_size=1, max_size=6)


@given(boards)
def test_more_depth_never_lowers_what_was_found(many: list[Ask]) -> None:
    for found in values(scored(*many)):
        for metric in ("hit", "recall", "recall_all", "mrr"):
            series = [value for k in CUTOFFS if (value := found[f"{metric}@{k}"]) is not None]
            assert series == sorted(series)


@given(boards)
def test_values_are_between_0_and_1_and_in_their_order(many: list[Ask]) -> None:
    for found in values(scored(*many)):
        for k in CUTOFFS:
            at = {name.split("@")[0]: value for name, value in found.items() if name.endswith(f"@{k}")}
            if at["hit"] is None:
                assert set(at.values()) == {None}
                continue
            assert all(0 <= value <= 1 + 1e-12 for value in at.values())
            assert at["recall_all"] <= at["recall"] <= at["hit"]
            assert at["mrr"] <= at["hit"]
            assert at["f1"] <= max(at["precision"], at["recall"]) + 1e-12


@given(boards, st.randoms(use_true_random=False))
def test_hits_seen_before_change_nothing(many: list[Ask], rng: random.Random) -> None:
    unlimited = [Ask(**{**vars(ask), "limit": 1000}) for ask in many]
    longer = [
        Ask(**{**vars(ask), "hits": [*ask.hits, *rng.choices(ask.hits, k=5)] if ask.hits else []}) for ask in unlimited
    ]
    assert values(scored(*longer)) == values(scored(*unlimited))


@given(boards, st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(many: list[Ask], seed: int) -> None:
    tables = vars(board(many))
    shuffled = {name: frame.sample(fraction=1, shuffle=True, seed=seed) for name, frame in tables.items()}
    straight = board(many).score()
    mixed = board(many).score(**shuffled)
    assert_frame_equal(mixed, straight, check_exact=True)
    assert_frame_equal(
        aggregate(mixed.sample(fraction=1, shuffle=True, seed=seed)), aggregate(straight), check_exact=True
    )


@given(boards)
def test_a_report_accounts_for_every_question(many: list[Ask]) -> None:
    report = aggregate(scored(*many)).filter(pl.col("k") > 0)
    sizes = {"all": len(many)} | {f"type:{kind}": sum(ask.type == kind for ask in many) for kind in ("a", "b")}
    for row in report.iter_rows(named=True):
        assert row["n"] + row["n_excluded"] + row["n_failed"] == sizes[row["slice"]]
        assert row["n_undefined"] <= row["n"]
        assert (row["value"] is None) == (row["n"] == 0 or row["n_undefined"] > 0)
        if row["value"] is not None:
            assert not math.isnan(row["value"])
            assert row["strict"] <= row["value"] + 1e-12
            if row["n"] > 1:
                assert row["ci_low"] - 1e-12 <= row["value"] <= row["ci_high"] + 1e-12
