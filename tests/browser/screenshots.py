"""Makes the pictures of the documentation: ``python tests/browser/screenshots.py`` writes docs/images/*.png."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from demo_site import CHROMIUM, CHROMIUM_ARGUMENTS, REPOSITORY, Site, demo_site
from playwright.sync_api import FloatRect, Page, sync_playwright

IMAGES: Final = REPOSITORY / "docs" / "images"
NAVIGATION: Final = 240
WIDTH: Final = 1540
HEIGHT: Final = 1000


def main() -> None:
    """Run the demonstration, serve it, and take a picture of each page that the documentation shows."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, demo_site(Path(folder)) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS, headless=True)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(60_000)
        for take in (lineage, report, stale, leaderboard):
            take(page, site)
        browser.close()


def lineage(page: Page, site: Site) -> None:
    """The graph, with the stages of one system opened; wide, so that the stages say what state they are in."""
    page.set_viewport_size({"width": 2 * WIDTH, "height": HEIGHT})
    page.goto(site.lineage("stores", "hybrid", "leaderboard"))
    page.get_by_text("search_results").first.wait_for()
    _take(page, "lineage", left=NAVIGATION + 300, height=HEIGHT)
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})


def report(page: Page, site: Site) -> None:
    """A report's tables, and the numbers that are plotted."""
    page.goto(site.partition("hybrid/report", "smoke"))
    page.get_by_text("by question type").wait_for()
    _take(page, "report", height=HEIGHT)


def stale(page: Page, site: Site) -> None:
    """A partition that is out of date, with the cause."""
    page.goto(site.partition("hybrid/search_results", "smoke"))
    page.get_by_text("Unsynced").hover()
    page.get_by_text("has a new code version").wait_for()
    _take(page, "stale", height=620)


def leaderboard(page: Page, site: Site) -> None:
    """The standings."""
    page.goto(site.asset("leaderboard", "events"))
    page.get_by_text("standings").wait_for()
    _take(page, "leaderboard", height=520)


def _take(page: Page, name: str, *, left: int = NAVIGATION, height: int) -> None:
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    size = page.viewport_size
    assert size
    clip: FloatRect = {"x": left, "y": 0, "width": size["width"] - left, "height": height}
    page.screenshot(path=IMAGES / f"{name}.png", clip=clip, animations="disabled")


if __name__ == "__main__":
    main()
