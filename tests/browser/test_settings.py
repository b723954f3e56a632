"""Settings made in JupyterLab's own editor: they hold in every view at once, and stay."""

from __future__ import annotations

import re

import pytest
from helpers.explorer import Explorer, command, open_notebook, run_all, wait_for_kernel
from helpers.lab import Lab
from helpers.notebooks import MATMUL
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def _edit(page: Page) -> None:
    """Open the settings of the laboratory in JupyterLab's editor."""
    page.evaluate(
        "() => { void window.jupyterapp.commands.execute("
        "'settingeditor:open', {query: 'tvmlab'}); }"
    )
    expect(_setting(page, "time")).to_be_visible()


def _setting(page: Page, name: str) -> Locator:
    """The field of a setting; JupyterLab gives its fields no labels of their own."""
    return page.locator(f"[id$='tvmlab-lab:plugin_{name}']")


def test_settings_hold_in_all_views_at_once_and_after_a_reload(page: Page, lab: Lab) -> None:
    notebook = lab.write_notebook("settings.ipynb", MATMUL, "tl.explore(sch)")
    open_notebook(page, lab, notebook)
    run_all(page)
    command(page, "tvmlab:open-panel")
    cell, panel = Explorer.in_cell(page), Explorer.in_panel(page)
    cell.press("m")
    for explorer in (cell, panel):
        expect(explorer.root.locator(".tvmlab-stat")).to_contain_text("quartiles", timeout=60_000)

    _edit(page)
    _setting(page, "time").select_option("ns")
    _setting(page, "rate").select_option("MFLOP/s")
    _setting(page, "bytes").select_option("decimal")
    _setting(page, "codeTheme").select_option("contrast")
    _setting(page, "autoMeasure").check()
    figures = panel.root.locator(".tvmlab-stat")
    expect(figures).to_contain_text(re.compile(r"\d ns median.*\d MFLOP/s"))
    expect(panel.root).to_have_attribute("data-code-theme", "contrast")
    expect(panel.root.get_by_role("button", name="Auto")).to_have_attribute("aria-pressed", "true")
    expect(panel.root.locator(".tvmlab-side")).to_contain_text("66 kB")
    # The cell's view is another program on the same page.
    page.get_by_role("tab", name="settings.ipynb").click()
    expect(cell.root.locator(".tvmlab-stat")).to_contain_text(re.compile(r"\d ns median"))
    listing = cell.root.locator(".tvmlab-listing-box")
    expect(listing).to_have_css("background-color", "rgb(0, 0, 0)")

    page.goto(lab.url(notebook))
    wait_for_kernel(page)
    run_all(page)
    cell.press("m")
    expect(cell.root.locator(".tvmlab-stat")).to_contain_text(
        re.compile(r"\d ns median"), timeout=60_000
    )

    _edit(page)
    page.get_by_role("button", name="Restore to Defaults").click()
    page.get_by_role("tab", name="settings.ipynb").click()
    expect(cell.root.locator(".tvmlab-stat")).to_contain_text("GFLOP/s")
    expect(cell.root).to_have_attribute("data-code-theme", "host")


def test_letters_can_be_no_keys_and_commands_have_shortcuts(page: Page, lab: Lab) -> None:
    open_notebook(page, lab, lab.write_notebook("keys.ipynb", MATMUL, "tl.explore(sch)"))
    run_all(page)
    cell = Explorer.in_cell(page)
    page.keyboard.press("Control+Alt+l")
    expect(Explorer.in_panel(page).lines.first).to_be_visible()

    _edit(page)
    _setting(page, "letterKeys").uncheck()
    page.get_by_role("tab", name="keys.ipynb").click()
    cell.select("i")
    expect(cell.root.locator(".tvmlab-side .tvmlab-key[data-letter]").first).to_be_hidden()
    cell.press("s")
    expect(cell.root.locator(".tvmlab-form")).to_be_hidden()
    cell.press("Enter")
    expect(cell.root.locator(".tvmlab-form")).to_be_visible()
    cell.press("Escape")

    _edit(page)
    page.get_by_role("button", name="Restore to Defaults").click()
    page.get_by_role("tab", name="keys.ipynb").click()
    expect(cell.root.locator(".tvmlab-side .tvmlab-key[data-letter]").first).to_be_visible()
    cell.press("s")
    expect(cell.root.locator(".tvmlab-form")).to_be_visible()
