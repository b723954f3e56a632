"""Code linked to the nest, comparing, picking and gains, in a browser by role and name."""

from __future__ import annotations

import json
import re

import pytest
from helpers.explorer import Explorer, open_notebook, run_all
from helpers.lab import Lab
from helpers.notebooks import MATMUL
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BRANCHES = (
    MATMUL
    + """
i, j, k = sch.loops("C")
outer, inner = sch.split(i, [None, 8])
sch.checkpoint("tiled")
sch.vectorize(j)
sch.goto("tiled")
sch.parallel(outer)
"""
)


@pytest.fixture
def explorer(page: Page, lab: Lab) -> Explorer:
    open_notebook(page, lab, lab.write_notebook("history.ipynb", BRANCHES, "tl.explore(sch)"))
    run_all(page)
    return Explorer.in_cell(page)


def test_a_line_is_lit_in_every_stage_of_the_code(explorer: Explorer) -> None:
    explorer.select("k")
    code = explorer.root.get_by_role("region", name="Code")
    for tab, text in (
        ("Loops", "for k in"),
        ("Lowered", "for k in"),
        ("LLVM IR", "%k"),
        ("Assembly", ""),
    ):
        code.get_by_role("tab", name=tab).click()
        expect(code.locator(".tvmlab-lit", has_text=text).first).to_be_visible()
    code.get_by_role("tab", name="Python").click()
    explorer.select("i_outer")
    expect(code.locator(".tvmlab-lit")).to_contain_text(["sch.split(i", "sch.parallel(i_outer)"])

    # And the other way: a line of the code lights the nest, and chooses its line.
    code.get_by_role("tab", name="Lowered").click()
    line = code.locator(".tvmlab-line", has_text="for k in")
    line.hover()
    expect(explorer.line("k")).to_have_class(re.compile("tvmlab-linked"))
    line.click()
    expect(explorer.line("k")).to_have_attribute("aria-selected", "true")


def test_passes_say_why_they_are_and_what_they_changed(explorer: Explorer) -> None:
    explorer.root.get_by_role("tab", name="Passes").click()
    panel = explorer.root.get_by_role("tabpanel", name="Passes")
    expect(panel).to_contain_text("passes changed the program")
    panel.locator("summary", has_text="dissolve_blocks").click()
    diff = panel.get_by_role("group", name="What dissolve_blocks changed")
    expect(diff.locator("[data-sign='-']").first).to_contain_text("block")


def test_states_are_compared_and_a_step_is_picked(explorer: Explorer) -> None:
    explorer.root.get_by_role("tab", name="Compare").click()
    panel = explorer.root.get_by_role("tabpanel", name="Compare")
    panel.get_by_label("This state").select_option("2")
    expect(panel).to_contain_text("Both come from tiled")
    nest = panel.get_by_role("group", name="Difference of the nests")
    expect(nest.locator("[data-sign='-']", has_text="vectorized")).to_be_visible()
    panel.get_by_role("button", name="Pick its step for here").click()
    expect(explorer.line("j")).to_contain_text("vectorize(128)")
    expect(explorer.line("i_outer")).to_contain_text("parallel")


def test_gains_are_measured_with_each_step_left_out(explorer: Explorer) -> None:
    explorer.root.get_by_role("tab", name="Gains").click()
    panel = explorer.root.get_by_role("tabpanel", name="Gains")
    expect(panel).to_contain_text("others need it")
    panel.get_by_role("button", name="Measure all steps").click()
    rows = panel.get_by_role("row")
    expect(rows.filter(has_text="parallel i_outer")).to_contain_text(
        re.compile(r"×.*s.*×"), timeout=90_000
    )


def test_a_saved_session_is_opened_again_after_a_restart(
    explorer: Explorer, page: Page, lab: Lab
) -> None:
    explorer.root.locator("summary", has_text="Share").click()
    with page.expect_download() as download:
        explorer.root.get_by_role("button", name="Save the session").click()
    path = lab.notebooks / "again.tvmlab.json"
    download.value.save_as(path)
    assert json.loads(path.read_text(encoding="utf-8"))["format"] == "tvmlab-session"
    cell = "import tvmlab as tl\ntl.explore('again.tvmlab.json')"
    open_notebook(page, lab, lab.write_notebook("again.ipynb", cell))
    run_all(page)
    again = Explorer.in_cell(page)
    expect(again.line("i_outer")).to_contain_text("parallel")
    expect(again.root.locator("[data-node]", has_text="tiled")).to_be_visible()


def test_measuring_by_itself_follows_each_step(explorer: Explorer) -> None:
    explorer.root.get_by_role("button", name="Auto").click()
    expect(explorer.root.get_by_role("button", name="Auto")).to_have_attribute(
        "aria-pressed", "true"
    )
    explorer.select("j")
    explorer.press("v")
    expect(explorer.root.locator(".tvmlab-stat")).to_contain_text("quartiles", timeout=60_000)
