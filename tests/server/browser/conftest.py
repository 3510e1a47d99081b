"""Chromium, a real server with a sixth game installed beside it, and people at pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.plugins import install

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.server.browser.people import Site
    from tests.server.server import Process

collect_ignore = ["people.py"]  # no test: it cannot be imported without a browser
NEEDED = ("playwright", "axe_playwright_python", "starlette", "uvicorn", "httpx")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def executable() -> str | None:
    """An installed Chromium; None for Playwright's own."""
    named = os.environ.get("DUELS_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"a browser test needs {', '.join(missing)}: pip install 'duels[dev]'")
    from playwright.sync_api import Error, expect, sync_playwright

    from tests.server.browser.people import TIMEOUT

    expect.set_options(timeout=TIMEOUT)

    with sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(
                executable_path=executable(), args=["--no-sandbox"]
            )
        except Error as error:
            if os.environ.get("DUELS_CI"):
                raise
            pytest.skip(f"no Chromium: {str(error).splitlines()[0]}")
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a sixth game is installed."""
    place = tmp_path_factory.mktemp("plugins")
    install(place)
    return place


@pytest.fixture(scope="package")
def shared(plugins: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server for the tests to which matches of others make no difference."""
    from tests.server.browser.people import start

    made = start(str(tmp_path_factory.mktemp("shared") / "duels.db"), str(plugins))
    yield made
    made.kill()


@pytest.fixture
def site(
    request: pytest.FixtureRequest, browser: Browser, plugins: Path, tmp_path: Path
) -> Iterator[Site]:
    """The visitors of a test and their server: its own, unless its module has SHARES_SERVER."""
    from tests.server.browser.people import Site

    server = request.getfixturevalue("shared") if hasattr(request.module, "SHARES_SERVER") else None
    made = Site(browser, str(tmp_path / "duels.db"), str(plugins), server)
    yield made
    made.close()
