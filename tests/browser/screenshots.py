"""Makes the pictures of the documentation: ``python tests/browser/screenshots.py`` writes docs/images/*.png."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from demo_site import CHROMIUM, CHROMIUM_ARGUMENTS, REPOSITORY, Site, copied, demo_site
from playwright.sync_api import FloatRect, Page, expect, sync_playwright

IMAGES: Final = REPOSITORY / "docs" / "images"
NAVIGATION: Final = 240
WIDTH: Final = 1540
HEIGHT: Final = 1000
PATIENCE: Final = 60_000


def main() -> None:
    """Run the demonstration, serve it, and take a picture of each page that the documentation shows."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        demo_site(copied(Path(folder) / "project")) as site,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS, headless=True)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(PATIENCE)
        for take in (lineage, report, stale, leaderboard):
            take(page, site)
        browser.close()


def lineage(page: Page, site: Site) -> None:
    """The graph, with the stages of one system opened; large, so that the stages say what state they are in."""
    page.set_viewport_size({"width": 2350, "height": 1600})
    page.goto(site.lineage("hybrid", "leaderboard"))
    page.get_by_text("search_results").first.wait_for()
    expect(page.get_by_text("Latest event").first).to_be_visible()
    for waiting in ("Loading...", "fetching statuses"):
        expect(page.get_by_text(waiting)).to_have_count(0, timeout=PATIENCE)
    _take(page, "lineage", {"x": NAVIGATION + 320, "y": 260, "width": 1750, "height": 1120})
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})


def report(page: Page, site: Site) -> None:
    """A report's tables, and the numbers that are plotted."""
    page.goto(site.partition("hybrid/report", "smoke"))
    page.get_by_text("by question type").wait_for()
    _take(page, "report", _top(HEIGHT))


def stale(page: Page, site: Site) -> None:
    """A partition that is out of date, with the cause."""
    page.goto(site.partition("hybrid/search_results", "smoke"))
    page.get_by_text("Unsynced").hover()
    page.get_by_text("has a new code version").wait_for()
    _take(page, "stale", _top(620))


def leaderboard(page: Page, site: Site) -> None:
    """The standings."""
    page.goto(site.asset("leaderboard", "events"))
    page.get_by_text("standings").wait_for()
    _take(page, "leaderboard", _top(520))


def _top(height: int) -> FloatRect:
    return {"x": NAVIGATION, "y": 0, "width": WIDTH - NAVIGATION, "height": height}


def _take(page: Page, name: str, clip: FloatRect) -> None:
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    page.screenshot(path=IMAGES / f"{name}.png", clip=clip, animations="disabled")


if __name__ == "__main__":
    main()
