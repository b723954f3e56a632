"""Pages, saved notebooks, cells and files: a session outside of its kernel, in a browser."""

from __future__ import annotations

import re

import pytest
from helpers.explorer import Explorer, command, open_notebook, run_all
from helpers.lab import Lab
from helpers.notebooks import MATMUL
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STEPS = (
    MATMUL
    + """
i, j, k = sch.loops("C")
outer, inner = sch.split(i, [None, 8])
sch.checkpoint("tiled")
sch.parallel(outer)
"""
)


@pytest.fixture
def explorer(page: Page, lab: Lab) -> Explorer:
    open_notebook(page, lab, lab.write_notebook("sharing.ipynb", STEPS, "tl.explore(sch)"))
    run_all(page)
    return Explorer.in_cell(page)


def _share(explorer: Explorer, item: str) -> None:
    explorer.root.locator("summary", has_text="Share").click()
    explorer.root.get_by_role("button", name=item).click()


def test_a_page_shows_the_session_with_no_network(explorer: Explorer, lab: Lab) -> None:
    page = explorer.page
    with page.expect_download() as download:
        _share(explorer, "Save as a page")
    path = lab.notebooks / "session.html"
    download.value.save_as(path)
    alone = page.context.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(path.as_uri())
    kept = Explorer(alone, "#tvmlab-page")
    expect(kept.line("i_outer")).to_contain_text("parallel")
    kept.root.get_by_role("tab", name="Assembly").click()
    expect(kept.root.locator(".tvmlab-code-note")).to_contain_text("instructions")
    kept.root.locator("[data-node]", has_text="start").click()
    expect(kept.lines).to_have_count(4)
    kept.root.get_by_role("tab", name="Compare").click()
    panel = kept.root.get_by_role("tabpanel", name="Compare")
    panel.get_by_label("against").select_option("2")
    expect(panel).to_contain_text("Both come from tiled")
    kept.root.get_by_role("button", name="Measure").click()
    expect(kept.card).to_contain_text("This is a recording")
    assert asked == [path.as_uri()]
    assert path.stat().st_size < 5_000_000


def test_a_saved_notebook_shows_the_nest_without_a_kernel(
    explorer: Explorer, page: Page, lab: Lab
) -> None:
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    lab.stop_kernels()
    page.goto(lab.url("sharing.ipynb") + "&kernel=none")
    kept = Explorer.in_cell(page)
    expect(kept.line("i_outer")).to_contain_text("parallel", timeout=40_000)
    expect(kept.root.locator("[data-node]", has_text="tiled")).to_be_visible()


def test_the_session_is_written_into_a_cell_and_makes_the_state_again(
    explorer: Explorer, page: Page
) -> None:
    cells = page.locator(".jp-NotebookPanel:visible .jp-CodeCell")
    before = cells.count()
    _share(explorer, "Write into the notebook")
    expect(cells).to_have_count(before + 1)
    written = cells.nth(before)
    expect(written).to_contain_text("sch.parallel(i_outer)")
    explorer.root.locator("[data-node]", has_text="start").click()
    expect(explorer.lines).to_have_count(4)
    # Writing again changes the same cell, which the notebook can undo: edits that follow one
    # another within half a second are one to it.
    page.wait_for_timeout(800)
    _share(explorer, "Write into the notebook")
    expect(written).not_to_contain_text("parallel")
    expect(cells).to_have_count(before + 1)
    written.click()
    page.keyboard.press("Control+z")
    expect(written).to_contain_text("sch.parallel(i_outer)")
    command(page, "notebook:run-cell")
    expect(explorer.line("i_outer")).to_contain_text("parallel")


def test_a_file_is_looked_at_and_opened_in_a_notebook(
    explorer: Explorer, page: Page, lab: Lab
) -> None:
    with page.expect_download() as download:
        _share(explorer, "Save the session")
    download.value.save_as(lab.notebooks / "kept.tvmlab.json")
    page.goto(lab.url("kept.tvmlab.json"))
    kept = Explorer(page, "#jp-main-dock-panel")
    expect(kept.line("i_outer")).to_contain_text("parallel", timeout=40_000)
    page.get_by_role("button", name="Open in a notebook").click()
    expect(page.locator(".jp-NotebookPanel:visible .jp-CodeCell")).to_contain_text(
        "tl.explore(", timeout=40_000
    )


def test_the_panel_offers_every_session_of_the_kernel(page: Page, lab: Lab) -> None:
    second = MATMUL.replace("sch = ", "other = ") + "tl.explore(other, name='other')"
    name = lab.write_notebook("two.ipynb", STEPS, "tl.explore(sch, name='first')", second)
    open_notebook(page, lab, name)
    run_all(page)
    command(page, "tvmlab:open-panel")
    panel = Explorer.in_panel(page)
    expect(panel.lines).to_have_count(4)
    chooser = page.locator("#tvmlab-panel").get_by_role("combobox", name="Session to show")
    first = chooser.locator("option", has_text=re.compile("^first"))
    chooser.select_option(value=first.get_attribute("value"))
    expect(panel.line("i_outer")).to_contain_text("parallel")
