"""One browser and one served project for all tests of the UI; they skip, saying so, where there is no Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from demo_site import CHROMIUM, CHROMIUM_ARGUMENTS, Site, copied, demo_site, lessened
from playwright.sync_api import Browser, Page, sync_playwright

_PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    if not CHROMIUM.is_file():
        pytest.skip(f"no browser at {CHROMIUM}: install Chromium to test the UI")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS, headless=True)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A project after the demonstration, with its UI; named after the browser so that without one nothing starts."""
    with demo_site(lessened(copied(tmp_path_factory.mktemp("site") / "project"), answering="dense")) as served:
        yield served


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[Page]:
    """Wide enough for the tables. One for all tests: each new one would load the whole of the UI's code again."""
    context = browser.new_context(viewport={"width": 1500, "height": 1000}, reduced_motion="reduce")
    context.set_default_timeout(_PATIENCE_MS)
    yield context.new_page()
    context.close()


@pytest.fixture
def page(tab: Page, site: Site) -> Iterator[Page]:
    """An empty page, without what another test left in the browser's memory."""
    everything = {"origin": site.url, "storageTypes": "all"}
    yield tab
    tab.goto("about:blank")
    tab.context.new_cdp_session(tab).send("Storage.clearDataForOrigin", everything)
