"""Fixtures for tests that drive JupyterLab in Chromium.

Without a browser or a built extension the tests skip and say so; with
`TVMLAB_REQUIRE_BROWSER=1`, as in CI, that is a failure. A failed test leaves pictures of its page,
in light and dark, under tests/.artifacts; `TVMLAB_SCREENSHOTS=1` asks for them of every test.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from helpers.bare_host import Opened, bare_host
from helpers.lab import EXTENSION, REPOSITORY, Lab, run_lab
from playwright.sync_api import Browser, Page, sync_playwright

EXPLORER = REPOSITORY / "tvmlab" / "static" / "explorer.js"
ARTIFACTS = REPOSITORY / "tests" / ".artifacts"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
PASSED = pytest.StashKey[bool]()


def _missing(what: str) -> None:
    if os.environ.get("TVMLAB_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{what}, but TVMLAB_REQUIRE_BROWSER=1 asks for the browser tests")
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        _missing("no chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def built() -> None:
    """The front end is there."""
    if not (EXTENSION / "package.json").exists():
        _missing("the JupyterLab extension is not built (npm run build in extensions/)")


@pytest.fixture(scope="session")
def lab(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with run_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture
def page(browser: Browser, lab: Lab, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of JupyterLab, whose kernels and settings end with the test."""
    with _new_page(browser, request, set_theme) as page:
        yield page
    lab.stop_kernels()
    lab.forget_settings()


@pytest.fixture
def bare_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of no JupyterLab, for views alone; it is there at once."""
    if not EXPLORER.is_file():
        _missing("the front end is not built (npm run build in extensions/)")
    with _new_page(browser, request, set_bare_theme) as page:
        yield page


@contextmanager
def _new_page(
    browser: Browser, request: pytest.FixtureRequest, theme: Callable[[Page, str], None]
) -> Generator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 1080})
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    passed = request.node.stash.get(PASSED, False)
    if not passed or os.environ.get("TVMLAB_SCREENSHOTS") == "1":
        _take_pictures(page, ARTIFACTS, re.sub(r"\W+", "-", request.node.name), theme)
    context.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport]:
    """Let the page fixture know how its test ended."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call":
        item.stash[PASSED] = report.passed


def _take_pictures(
    page: Page, folder: Path, name: str, set_theme: Callable[[Page, str], None]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        set_theme(page, theme)
        page.screenshot(path=folder / f"{name}-{theme}.png")


def set_bare_theme(page: Page, theme: str) -> None:
    """Choose light or dark where the page follows the system."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")


def set_theme(page: Page, theme: str) -> None:
    """Choose JupyterLab's light or dark theme through its own command."""
    page.evaluate(
        """async theme => {
            const app = window.jupyterapp;
            await app.commands.execute('apputils:change-theme', {theme});
        }""",
        f"JupyterLab {theme.title()}",
    )
    page.wait_for_timeout(400)


@pytest.fixture
def plain_page(browser: Browser) -> Iterator[Page]:
    """A page with no JupyterLab in which no script may fail."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    yield page
    context.close()
    assert failures == []


@pytest.fixture
def opened(plain_page: Page) -> Iterator[Opened]:
    """Shows a schedule or a session in a plain page."""
    with ExitStack() as shown:
        yield lambda what: shown.enter_context(bare_host(plain_page, what))
