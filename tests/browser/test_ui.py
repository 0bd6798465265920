"""The UI as a person sees it after ``eval-assets demo``, in a real browser."""

from __future__ import annotations

import re

import pytest
from demo_site import Site
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

SYSTEMS = ("bm25", "dense", "hybrid")
PATIENCE = 60_000


def test_the_graph_reads_from_the_corpus_to_the_leaderboard(page: Page, site: Site) -> None:
    page.goto(site.lineage("stores", "hybrid", "leaderboard"))
    graph = page.locator("svg").filter(has=page.get_by_text("search_results")).first
    columns = ["turns", "search_results", "retrieval_scores", "report", "leaderboard"]
    for group in ("corpus", "stores", *SYSTEMS):
        expect(graph.get_by_text(group, exact=True).first).to_be_visible(timeout=PATIENCE)
    lefts = [_left(graph.get_by_text(name, exact=True).last) for name in columns]
    assert lefts == sorted(lefts) and _left(graph.get_by_text("corpus", exact=True).first) < lefts[0]
    assert graph.locator("path").count() >= len(columns)


def test_a_report_shows_the_numbers_of_the_command_line(page: Page, site: Site) -> None:
    told = site.report("dense", "smoke")
    headline = told["headline"]
    page.goto(site.partition("dense/report", "smoke"))
    for name, value in headline.items():
        if value is None:
            expect(_row(page, name)).to_have_count(0)
            continue
        shown = _row(page, name).get_by_role("cell").nth(1)
        expect(shown).to_be_visible(timeout=PATIENCE)
        assert float(shown.inner_text()) == pytest.approx(value, abs=5e-5), name

    whole = _row(page, "by question type").locator("tr").filter(has_text=re.compile(r"^\s*all"))
    cells = [text.split()[0] for text in whole.get_by_role("cell").all_inner_texts()]
    names = ("hit@5", "recall@5", "mrr@5", "hit@10", "recall@10", "mrr@10")
    assert cells[1:4] == [str(headline[count]) for count in ("n", "n_excluded", "n_failed")]
    assert cells[4:] == [f"{headline[name]:.3f}" for name in names]

    worst = _opened(page, _row(page, "worst questions"))
    ranks = {question["question_id"]: question["evidence_ranks"] for question in told["questions"]}
    rows = [row.get_by_role("cell").all_inner_texts() for row in worst.locator("tbody tr").all()]
    assert rows
    for question, _, found, *_ in rows:
        assert found.startswith(", ".join(map(str, ranks[question])) or "none"), question


def test_checks_are_listed_with_their_results(page: Page, site: Site) -> None:
    page.goto(site.asset("hybrid/search_results", "checks"))
    for name in ("every_question", "no_payload_leaks", "schema"):
        listed = page.get_by_title(name, exact=True).first.locator("xpath=..")
        expect(listed).to_contain_text("Succeeded", timeout=PATIENCE)
    expect(page.get_by_text("One row for every question.")).to_be_visible()


def test_the_leaderboard_ranks_the_systems_and_plots_them(page: Page, site: Site) -> None:
    page.goto(site.asset("leaderboard", "overview"))
    standings = _row(page, "standings").locator("tbody tr")
    expect(standings).to_have_count(len(SYSTEMS), timeout=PATIENCE)
    rows = [row.get_by_role("cell").all_inner_texts() for row in standings.all()]
    assert {row[1] for row in rows} == set(SYSTEMS)
    assert [float(row[4]) for row in rows] == sorted((float(row[4]) for row in rows), reverse=True)
    for _, system, _, _, hit, *_ in rows:
        shown = _row(page, f"smoke/{system} hit@5").get_by_role("cell").nth(2)
        assert f"{float(shown.inner_text()):.3f}" == hit, system

    page.get_by_role("button", name="Plots").click()
    for system in SYSTEMS:
        expect(page.get_by_text(f"smoke/{system} hit@5", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.locator("canvas").first).to_be_visible()


def test_the_sensor_is_off(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/locations/eval_assets/sensors/refresh_when_stale")
    running = page.locator("tr").filter(has_text="Running")
    expect(running).to_be_visible(timeout=PATIENCE)
    expect(running.locator("input[type=checkbox]")).not_to_be_checked()


def test_what_the_demo_left_out_of_date_is_mended_by_the_refresh_job(page: Page, site: Site) -> None:
    stale = site.partition("hybrid/search_results", "smoke")
    page.goto(stale)
    page.get_by_text("Unsynced").hover(timeout=PATIENCE)
    expect(page.get_by_text("has a new code version")).to_be_visible()
    expect(_row(page, "made with")).to_contain_text(re.compile(r"rrf_k: 1\b"))

    page.goto(f"{site.url}/locations/eval_assets/jobs/refresh/playground")
    expect(page.get_by_text("No errors")).to_be_visible(timeout=PATIENCE)
    _put_caret_in(page, "systems")
    for told in ("only these systems", "only these benchmarks", "up to this stage"):
        expect(page.get_by_text(told).first).to_be_visible()
    page.get_by_role("button", name="Launch Run").click()
    _wait_for_success(page, site)

    page.goto(stale)
    expect(_row(page, "made with")).to_contain_text(re.compile(r"rrf_k: 60\b"), timeout=PATIENCE)
    expect(page.get_by_text("Unsynced")).to_have_count(0)


def test_one_partition_is_materialized_from_its_page(page: Page, site: Site) -> None:
    own = site.partition("bm25/search_results", "smoke")
    page.goto(own)
    path = _row(page, "eval_assets/path").get_by_role("cell").nth(1)
    before = path.inner_text()
    page.get_by_role("button", name="Materialize").first.click()
    page.get_by_role("button", name="Launch 1 run").click()
    page.get_by_text("View", exact=True).click()
    _wait_for_success(page, site)

    page.goto(own)
    expect(path).not_to_have_text(before, timeout=PATIENCE)
    expect(page.get_by_text("Unsynced")).to_have_count(0)


def _left(locator: Locator) -> float:
    box = locator.bounding_box()
    assert box
    return box["x"]


def _row(page: Page, key: str) -> Locator:
    """The row of the metadata table with this key; not one of a table that is a value in it."""
    return page.locator(f"xpath=//tr[not(ancestor::td)][td[1][normalize-space(.)='{key}']]")


def _opened(page: Page, row: Locator) -> Locator:
    """The table that a row holds; one that is too long for its page opens in a dialog."""
    button = row.get_by_text("[Show Markdown]")
    if not button.is_visible():
        return row
    button.click()
    return page.get_by_role("dialog")


def _put_caret_in(page: Page, word: str) -> None:
    page.locator(".cm-atom, .CodeMirror-line span").filter(has_text=re.compile(f"^{word}$")).first.click()


def _wait_for_success(page: Page, site: Site) -> None:
    page.wait_for_url(re.compile(r"/runs/"))
    run = page.url
    # Elsewhere meanwhile: the page of a run draws itself anew all the time.
    page.goto("about:blank")
    while not site.ended(run.rpartition("/")[2].partition("?")[0]):
        page.wait_for_timeout(300)
    page.goto(run)
    expect(page.get_by_text("Success", exact=True).first).to_be_visible(timeout=PATIENCE)
