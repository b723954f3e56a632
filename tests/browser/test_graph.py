"""The graph of a model in a notebook: search, nodes, the schedule of a kernel, and its pin."""

from __future__ import annotations

import re

import pytest
from helpers.explorer import open_notebook, run_all
from helpers.lab import Lab
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MODEL = """
import tvmlab as tl
from tvmlab.graph import GraphBuilder, TensorType

g = GraphBuilder("chain")
x = g.input("x", TensorType.of("float32", (64, 64)))
value = x
for _ in range(3):
    value = g.add("relu", g.add("matmul", value, x))
    value = g.add("add", g.add("softmax", value, axis=1), value)
g.output(value)
widget = tl.explore(g.graph())
"""


@pytest.fixture
def view(page: Page, lab: Lab) -> Locator:
    name = lab.write_notebook("graph.ipynb", MODEL, "widget", "widget.session.wait(60)")
    open_notebook(page, lab, name)
    run_all(page)
    return page.locator(".tvmlab-graph-view")


def test_a_kernel_is_found_opened_changed_and_pinned(view: Locator) -> None:
    page = view.page
    grid = view.get_by_role("treegrid", name="Kernels of the graph")
    rows = grid.get_by_role("row")
    expect(rows).to_have_count(6)
    details = view.get_by_role("region", name="Selected kernel")
    expect(details).to_contain_text("relu joined onto the output of matmul")
    expect(details.get_by_role("button", name="Pin for the model")).to_be_disabled()

    # Nodes of a kernel, by keys.
    grid.focus()
    page.keyboard.press("ArrowRight")
    expect(rows).to_have_count(8)
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowLeft")

    # Times, measured in the background.
    page.keyboard.press("m")
    expect(grid.get_by_role("gridcell", name=re.compile("[µn]s"))).to_have_count(6)
    expect(details).to_contain_text("of a run")

    # A search, and back.
    page.keyboard.press("/")
    page.keyboard.type("softmax")
    expect(rows).to_have_count(3)
    expect(view.get_by_text("3 of 6")).to_be_visible()
    page.keyboard.press("Escape")
    expect(rows).to_have_count(6)

    # What a pass did.
    view.get_by_text("join nodes to kernels").click()
    changed = view.get_by_role("group", name="join nodes to kernels")
    expect(changed).to_contain_text("ends here")

    # The schedule of a kernel takes the graph's place; a step in it is pinned.
    page.keyboard.press("Home")
    grid.get_by_role("row").first.dblclick()
    nest = view.get_by_role("tree")
    expect(nest).to_contain_text("for k in")
    nest.get_by_role("treeitem").filter(has_text=re.compile(r"for k in")).first.click()
    page.keyboard.press("u")
    view.get_by_role("button", name="Pin for the model").first.click()
    expect(view.locator(".tvmlab-said")).to_contain_text("results differ by")
    view.get_by_role("button", name="← Graph").click()
    expect(rows.first).to_contain_text("pinned")
    expect(view.get_by_text(re.compile("[123] pinned"))).to_be_visible()
