"""The view of a cell in hosts that are no JupyterLab: Jupyter Notebook 7 and marimo."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.explorer import Explorer, run_all, wait_for_kernel
from helpers.lab import run_lab
from helpers.marimo_host import run_marimo
from helpers.notebooks import MATMUL
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

pytestmark = [pytest.mark.browser, pytest.mark.slow]

START_TIMEOUT = 90_000


def _background(place: Locator) -> str:
    return place.evaluate("element => getComputedStyle(element).backgroundColor")


def _takes_steps(explorer: Explorer) -> None:
    """A refusal and its way out, a step by key and one from the list of actions."""
    expect(explorer.lines).to_have_count(4, timeout=START_TIMEOUT)
    explorer.select("k")
    explorer.press("p")
    expect(explorer.card.locator(".tvmlab-differs")).to_have_text(["k=0", "k=1"])
    explorer.press("Escape")
    explorer.select("i")
    explorer.press("p")
    expect(explorer.line("i")).to_contain_text("parallel(")
    explorer.select("j")
    explorer.root.locator('[data-action="vectorize"]').click()
    expect(explorer.line("j")).to_contain_text("vectorize(")
    assert explorer.kinds() == "PVR▣"
    listing = explorer.root.get_by_role("region", name="Code").get_by_role("tabpanel")
    expect(listing).to_contain_text("sch.vectorize(j)")


def _drags(explorer: Explorer) -> None:
    """A line dragged by the pointer shows where it may go, and goes there."""
    explorer.press("Control+z", "Control+z")
    expect(explorer.root.locator(".tvmlab-kind")).to_have_text(["S", "S", "R", "▣"])
    explorer.line("k").hover()
    explorer.page.mouse.down()
    explorer.line("i").hover(position={"x": 60, "y": 4})
    expect(explorer.root.locator(".tvmlab-slot[data-at=true]")).to_be_visible()
    explorer.page.mouse.up()
    expect(explorer.lines.first).to_contain_text("for k in")


def _is_laid_out(explorer: Explorer, dark: bool) -> None:
    """The styles hold: the actions stand beside the nest, and it is as dark as its host."""
    nest, side = (
        explorer.root.get_by_role("region", name=name).bounding_box()
        for name in ("Loop nest", "Selected line")
    )
    assert nest is not None
    assert side is not None
    assert side["x"] >= nest["x"] + nest["width"] - 2
    red = int(_background(explorer.root).removeprefix("rgb(").split(",")[0])
    assert (red < 80) == dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_cell_of_notebook_7(browser: Browser, built: None, tmp_path: Path, theme: str) -> None:
    pytest.importorskip("notebook", reason="Jupyter Notebook 7 is not installed")
    with run_lab(tmp_path, "notebook") as host:
        page = _page(browser)
        name = host.write_notebook("notebook.ipynb", MATMUL, "tl.explore(sch)")
        page.goto(host.address(f"notebooks/{name}"))
        wait_for_kernel(page)
        page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})",
            f"JupyterLab {theme.title()}",
        )
        run_all(page)
        explorer = Explorer.in_cell(page)
        _takes_steps(explorer)
        _is_laid_out(explorer, theme == "dark")
        _drags(explorer)
        # Notebook hears keys first; they are the view's all the same.
        explorer.press("b", "a", "x", "d", "d", "y", "ArrowDown")
        expect(page.locator(".jp-Cell")).to_have_count(2)
        explorer.press("m")
        expect(explorer.root.locator(".tvmlab-stat")).to_contain_text(re.compile("quartiles|meas"))
        expect(page.locator(".jp-MarkdownCell")).to_have_count(0)
        page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_cell_of_marimo(browser: Browser, built: None, tmp_path: Path, theme: str) -> None:
    pytest.importorskip("marimo", reason="marimo is not installed")
    with run_marimo(tmp_path, MATMUL, theme) as address:
        page = _page(browser)
        page.goto(address)
        explorer = Explorer(page, "marimo-anywidget")
        _wait_for_marimo(explorer)
        _takes_steps(explorer)
        _is_laid_out(explorer, theme == "dark")
        _drags(explorer)
        page.context.close()


def _wait_for_marimo(explorer: Explorer) -> None:
    """Marimo runs the cells by itself; a page that lost its first connection is loaded again."""
    for _ in range(2):
        try:
            explorer.lines.first.wait_for(timeout=START_TIMEOUT / 3)
        except PlaywrightTimeout:
            explorer.page.reload()
        else:
            return
    expect(explorer.lines.first, explorer.page.locator("body").inner_text()).to_be_visible()


def _page(browser: Browser) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 1080}).new_page()
    page.set_default_timeout(START_TIMEOUT)
    return page
