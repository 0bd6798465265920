from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_corpora import Corpus, day

from providers.local.boosts import access_boost, closeness_boost, confidence_boost, importance_boost, within
from providers.local.consolidation import survivors
from providers.local.reorder import by_session_in_turn, without_near_duplicates
from providers.local.supersession import mark_superseded
from providers.local.temporal import TimeRange

DATES = np.array(["2023-05-01", "2023-05-10", "NaT", "2023-06-30"], dtype="datetime64[us]")


def test_importance_falls_back_to_medium() -> None:
    weights = {"critical": 1.0, "high": 0.85, "medium": 0.7, "low": 0.5}
    assert importance_boost(["critical", "high", "medium", "low", None, "odd"], weights).tolist() == [
        *(1.0, 0.85, 0.7, 0.5, 0.7, 0.7)
    ]


def test_access_boost_grows_by_doublings_up_to_its_cap() -> None:
    assert access_boost(np.array([0, 1, 3, 100]), 0.3, 2.0).tolist() == pytest.approx([1.0, 1.3, 1.6, 2.0])


def test_confidence_decays_a_day_at_a_time_and_only_where_it_does() -> None:
    as_of = day("2023-05-11")
    found = confidence_boost(np.array([1, 1, 0.5, 1.0]), np.array([True, False, True, True]), DATES, as_of, 0.98)
    assert found.tolist() == pytest.approx([0.98**10, 1.0, 0.5, 1.0])
    assert confidence_boost(np.ones(4), np.ones(4, dtype=bool), DATES, None, 0.98).tolist() == [1, 1, 1, 1]


def test_closeness_is_full_inside_and_fades_outside() -> None:
    found = closeness_boost(DATES, day("2023-05-05"), day("2023-05-31"), 1.0, 30.0)
    assert found.tolist() == pytest.approx([1 + np.exp(-4 / 30), 2.0, 1.0, 2.0 - (1 - np.exp(-1))])


def test_within_a_period_its_end_excluded_and_undated_included() -> None:
    assert within(DATES, TimeRange(day("2023-05-01"), day("2023-05-10"))).tolist() == [True, False, True, False]


def test_a_near_duplicate_of_a_dropped_hit_stays() -> None:
    angles = np.deg2rad([0.0, 25.0, 50.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert without_near_duplicates(np.array([0, 1, 2]), vectors, 0.85).tolist() == [0, 2]
    assert without_near_duplicates(np.array([1, 0, 2]), vectors, 0.85).tolist() == [1]
    assert without_near_duplicates(np.array([], dtype=np.int64), vectors, 0.85).tolist() == []


@given(st.lists(st.sampled_from("abcd"), max_size=20))
def test_round_robin_takes_every_session_once_before_any_twice(sessions: list[str]) -> None:
    ranking = np.arange(len(sessions))
    found = by_session_in_turn(ranking, sessions).tolist()
    assert sorted(found) == ranking.tolist()
    first_seen = list(dict.fromkeys(sessions))
    assert [sessions[row] for row in found[: len(first_seen)]] == first_seen
    for name in "abcd":
        assert [row for row in found if sessions[row] == name] == [r for r, s in enumerate(sessions) if s == name]


def test_a_chunk_joins_the_earliest_that_stands_by_itself() -> None:
    angles = np.deg2rad([0.0, 20.0, 40.0, 1.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert survivors(vectors, 0.92).tolist() == [0, 0, 2, 0]
    assert survivors(np.zeros((3, 2), dtype=np.float32), 0.0).tolist() == [0, 1, 2]


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 4))
def test_consolidation_does_not_depend_on_its_blocks(kinds: list[int], block: int) -> None:
    vectors = np.eye(6, dtype=np.float32)[kinds] if kinds else np.zeros((0, 6), dtype=np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("providers.local.consolidation._BLOCK", block)
        assert survivors(vectors, 0.9).tolist() == [kinds.index(kind) for kind in kinds]


def test_the_newest_of_a_key_stands_and_each_older_names_its_successor() -> None:
    corpus = Corpus()
    corpus.add("c", "Lives in Rome", document_id="new", type="fact", key="home", date=day("2023-03-01"))
    corpus.add("c", "Lives in Oslo", document_id="old", type="fact", key="home", date=day("2022-03-01"))
    corpus.add("c", "Lives on the moon", document_id="undated", type="fact", key="home")
    corpus.add("c", "Done", document_id="s2", type="status", subject="tax", date=day("2023-01-02"))
    corpus.add("c", "Open", document_id="s1", type="status", subject="tax", date=day("2023-01-01"))
    corpus.add("c", "Met Ann", document_id="event", type="event", key="home", date=day("2024-01-01"))
    corpus.add("c", "No key", document_id="loose", type="fact", date=day("2024-01-01"))
    corpus.add("c", "No key either", document_id="loose too", type="fact", date=day("2025-01-01"))
    corpus.add("other", "Lives in Bonn", document_id="elsewhere", type="fact", key="home", date=day("2025-01-01"))
    marks = dict(mark_superseded(corpus.documents).select("document_id", "superseded_by").iter_rows())
    assert marks.pop("undated") == "old"
    assert marks.pop("old") == "new"
    assert marks.pop("s1") == "s2"
    assert set(marks.values()) == {None}
