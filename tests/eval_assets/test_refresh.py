from __future__ import annotations

import copy
import shutil
from pathlib import Path

import pytest
from projects import TINY, Box, make_project, part, parts, ran
from test_code_version import append, edit

from converters.errors import BadInput
from eval_assets.refresh import refresh
from eval_assets.scope import Scope

CORPUS = {
    f"corpus/{name} [tiny]"
    for name in ("questions", "haystacks", "sessions", "turns", "memories", "query_options", "ground_truth")
}
CHAIN = ["search_results [tiny]", "retrieval_scores [tiny]", "report [tiny]"]
BOTH = ["comparison [tiny]", "leaderboard"]
EVERYTHING = {
    "benchmark_source [tiny]",
    *CORPUS,
    "stores/turns [tiny]",
    *(f"{system}/{stage}" for system in ("bm25", "hybrid") for stage in CHAIN),
    *BOTH,
}


def test_a_first_refresh_makes_the_targets_and_nothing_else(refreshed: Box) -> None:
    assert set(refreshed.events()) == EVERYTHING


def test_nothing_is_stale_afterwards(refreshed: Box) -> None:
    plan = refreshed.plan()
    assert (plan.work, plan.may_follow, plan.fresh) == ((), (), len(EVERYTHING))
    lacking = "its file is missing; put it at data/sources/absent.json (it is absent.json of the archive)"
    assert plan.unavailable == {"absent": lacking}


def test_a_refresh_of_what_is_fresh_runs_nothing(copied: Box) -> None:
    before = copied.events()
    done = copied.refresh()
    assert not done.failures
    assert (done.runs, done.waves, done.failures) == (0, [], [])
    assert copied.events() == before


def test_a_cold_project_is_all_missing(fresh: Box) -> None:
    plan = fresh.plan()
    assert set(parts(plan)) == EVERYTHING
    assert {work.kind for work in plan.work} == {"missing"}
    assert {work.why for work in plan.work} == {("never made",)}


def test_a_changed_constant_runs_one_system_from_its_search_on(copied: Box) -> None:
    copied.edit_systems({"systems": {"hybrid": {"retrieval": {"rrf_k": 1, "blend_similarity": 0.0}}}})
    plan = copied.plan()
    (work,) = plan.work
    assert (str(work.part), work.kind) == ("hybrid/search_results [tiny]", "stale")
    assert work.why == ("setting retrieval.blend_similarity: 0.6 -> 0.0", "setting retrieval.rrf_k: 60 -> 1")
    assert [str(one) for one in plan.may_follow] == [f"hybrid/{stage}" for stage in CHAIN[1:]] + BOTH
    before = copied.events()
    assert ran(copied.refresh()) == [f"hybrid/{stage}" for stage in CHAIN] + BOTH
    after = copied.events()
    moved = {name for name in after if after[name].storage_id != before[name].storage_id}
    assert moved == {*(f"hybrid/{stage}" for stage in CHAIN), *BOTH}
    assert copied.plan().work == ()


def test_equal_results_stop_the_wave(copied: Box) -> None:
    copied.edit_systems({"systems": {"hybrid": {"revision": 2}}})
    before = copied.versions()
    done = copied.refresh()
    assert not done.failures
    assert ran(done) == ["hybrid/search_results [tiny]"]
    assert [one.changed for wave in done.waves for one in wave.ran] == [False]
    assert copied.versions() == before
    assert copied.plan().work == ()


def test_a_changed_line_of_code_stops_where_results_are_equal(copied: Box, sources: Path) -> None:
    append(sources / "providers" / "local" / "fusion.py", "\nCHANGED = 1\n")
    plan = copied.plan()
    assert parts(plan) == ["bm25/search_results [tiny]", "hybrid/search_results [tiny]"]
    assert {work.why for work in plan.work} == {("code of providers.local.fusion",)}
    assert ran(copied.refresh()) == parts(plan)


def test_a_comment_makes_nothing_stale(copied: Box, sources: Path) -> None:
    edit(sources / "providers" / "local" / "fusion.py", "from __future__", "# A reason.\nfrom __future__")
    assert copied.plan().work == ()


def test_a_corrected_label_scores_again_and_searches_nothing(copied: Box) -> None:
    fixture = copy.deepcopy(TINY)
    fixture["queries"][0]["expected_ids"] = ["c"]
    copied.write_fixture(fixture)
    before = copied.versions()
    work = copied.plan().work
    assert [str(one.part) for one in work] == ["benchmark_source [tiny]"]
    assert work[0].why[0].startswith("the file changed: sha256 ")
    done = copied.refresh()
    assert not done.failures
    after = copied.versions()
    changed = {name for name in after if after[name] != before[name]}
    scored = {f"{system}/{stage}" for system in ("bm25", "hybrid") for stage in CHAIN[1:]}
    assert changed == {"benchmark_source [tiny]", "corpus/ground_truth [tiny]", *scored, *BOTH}
    assert set(ran(done)) == {"benchmark_source [tiny]", *CORPUS, *scored, *BOTH}


def test_a_changed_memory_is_stored_and_searched_again(copied: Box) -> None:
    fixture = copy.deepcopy(TINY)
    fixture["memories"][2]["content"] = "The launch party is in July."
    copied.write_fixture(fixture)
    before = copied.versions()
    done = ran(copied.refresh())
    assert {"stores/turns [tiny]", "bm25/search_results [tiny]", "hybrid/search_results [tiny]"} <= set(done)
    after = copied.versions()
    assert after["stores/turns [tiny]"] != before["stores/turns [tiny]"]
    assert after["corpus/questions [tiny]"] == before["corpus/questions [tiny]"]


def test_touched_moved_or_packed_bytes_are_the_same_bytes(copied: Box) -> None:
    copied.fixture.touch()
    assert copied.plan().work == ()
    shutil.move(copied.fixture, copied.chats.parent / "moved")
    benchmarks = copied.root / "data" / "benchmarks.yaml"
    benchmarks.write_text(benchmarks.read_text().replace("fixtures/tiny.json", "moved"))
    assert copied.plan().work == ()


def test_a_benchmark_whose_file_went_is_still_served(copied: Box) -> None:
    copied.fixture.unlink()
    copied.edit_systems({"systems": {"hybrid": {"revision": 2}}})
    plan = copied.plan()
    assert parts(plan) == ["hybrid/search_results [tiny]"]
    assert ran(copied.refresh()) == ["hybrid/search_results [tiny]"]
    with copied.open() as session, pytest.raises(BadInput, match=r"tiny: its file is missing; put it at .*tiny\.json"):
        Scope(session.graph, benchmarks=["tiny"]).check()


def test_a_lost_corpus_without_its_file_is_unavailable(copied: Box) -> None:
    copied.fixture.unlink()
    shutil.rmtree(copied.root / "data" / "tables" / "corpus" / "turns" / "tiny")
    plan = copied.plan()
    assert plan.work == ()
    assert "tiny" in plan.unavailable


def test_a_lost_file_is_made_again(copied: Box) -> None:
    (path,) = copied.root.glob("data/tables/stores/turns/tiny/*-*/vectors.parquet")
    path.unlink()
    (work,) = copied.plan().work
    assert (str(work.part), work.kind) == ("stores/turns [tiny]", "missing")
    assert work.why == (f"its file is gone: {path.relative_to(copied.root)}",)
    before = copied.versions()
    assert ran(copied.refresh()) == ["stores/turns [tiny]"]
    assert copied.versions() == before


def test_a_report_is_made_again_when_its_scores_ran(copied: Box) -> None:
    (path,) = copied.root.glob("data/tables/bm25/retrieval_scores/tiny/*-*.parquet")
    path.unlink()
    assert ran(copied.refresh()) == [f"bm25/{stage}" for stage in CHAIN[1:]] + BOTH


def test_a_refresh_of_some_systems_leaves_the_others(tmp_path_factory: pytest.TempPathFactory) -> None:
    box = make_project(tmp_path_factory.mktemp("scoped") / "project")
    done = box.refresh(systems=["bm25"], benchmarks=["tiny"], to="search")
    assert set(ran(done)) == {"benchmark_source [tiny]", *CORPUS, "stores/turns [tiny]", "bm25/search_results [tiny]"}
    assert box.plan(systems=["bm25"], benchmarks=["tiny"], to="search").work == ()
    with box.open() as session:
        scope = Scope(session.graph, systems=["tuned"], benchmarks=["tiny"])
        done = refresh(session.instance, session.definitions, scope)
    swept = {f"tuned__rrf_k_{k}/{stage}" for k in (10, 20) for stage in CHAIN}
    assert set(ran(done)) == {*swept, "leaderboard"}
    assert part("hybrid/search_results") in [work.part for work in box.plan().work]
