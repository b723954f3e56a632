"""Dragging loops, the palette, and the form with its preview, by role and name in a browser."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable

import pytest
from helpers.explorer import Explorer, open_notebook, run_all
from helpers.lab import Lab
from helpers.notebooks import MATMUL
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DEEP = (
    MATMUL
    + """
for loop in sch.loops("C"):
    outer, inner = sch.split(loop, [None, 8])
    sch.split(outer, [None, 2])
    sch.split(inner, [None, 2])
"""
)
VERDICTS_MS = 100


@pytest.fixture
def explorer(page: Page, lab: Lab) -> Explorer:
    open_notebook(page, lab, lab.write_notebook("moving.ipynb", MATMUL, "tl.explore(sch)"))
    run_all(page)
    return Explorer.in_cell(page)


def _drag(explorer: Explorer, loop: str, to: str) -> None:
    """Take a loop up and hold it over the upper half of another line."""
    mouse = explorer.page.mouse
    # Waits until the line stands still: the notebook may still be laying out its cells.
    explorer.line(loop).hover(position={"x": 60, "y": 12})
    mouse.down()
    start, goal = explorer.line(loop).bounding_box(), explorer.line(to).bounding_box()
    assert start is not None
    assert goal is not None
    mouse.move(start["x"] + 70, start["y"] + 2)
    mouse.move(goal["x"] + 70, goal["y"] + 3)


def test_a_loop_is_dragged_to_where_it_may_go(explorer: Explorer) -> None:
    _drag(explorer, "k", "i")
    slots = explorer.root.locator(".tvmlab-slot")
    expect(slots).to_have_count(4)
    expect(explorer.root.locator('.tvmlab-slot[data-at="true"]')).to_contain_text(
        "✓ k may go outside of i"
    )
    explorer.page.mouse.up()
    expect(explorer.lines.first).to_contain_text("for k in")
    assert explorer.loops() == ["k", "i", "j"]
    expect(slots).to_have_count(0)


def test_a_loop_that_may_not_go_there_stays_and_says_why(page: Page, lab: Lab) -> None:
    steps = MATMUL + "i, j, k = sch.loops('C')\nsch.reorder(k, i, j)\n"
    steps += "sch.split(sch.fuse(k, i), [None, 3])\n"
    open_notebook(page, lab, lab.write_notebook("refused.ipynb", steps, "tl.explore(sch)"))
    run_all(page)
    explorer = Explorer.in_cell(page)
    expect(explorer.lines.first).to_contain_text("for k_i_fused_outer in")
    before = explorer.loops()
    _drag(explorer, "k_i_fused_inner", "k_i_fused_outer")
    at = explorer.root.locator('.tvmlab-slot[data-at="true"]')
    expect(at).to_contain_text("⊘ not here")
    page.mouse.up()
    card = explorer.root.get_by_role("group", name="Why not move k_i_fused_inner")
    expect(card).to_contain_text("is refused")
    expect(card.locator(".tvmlab-cell")).to_have_text("C[1, 0]")
    assert explorer.loops() == before


def test_a_loop_is_moved_and_found_by_keys_alone(explorer: Explorer) -> None:
    explorer.select("k")
    explorer.press("g")
    expect(explorer.root.locator(".tvmlab-slot")).to_have_count(4)
    explorer.press("ArrowUp", "ArrowUp", "Enter")
    expect(explorer.lines.first).to_contain_text("for k in")

    explorer.press("/")
    dialog = explorer.root.get_by_role("dialog", name="Commands and lines")
    expect(dialog.get_by_role("combobox")).to_be_focused()
    explorer.page.keyboard.type("line j")
    expect(dialog.get_by_role("option")).to_have_count(1)
    explorer.page.keyboard.press("Enter")
    expect(explorer.line("j")).to_have_attribute("aria-selected", "true")
    explorer.press("/")
    explorer.page.keyboard.type("vectorize")
    explorer.page.keyboard.press("Enter")
    expect(explorer.line("j")).to_contain_text("vectorize(128)")


def test_a_form_shows_the_nest_as_it_would_be(explorer: Explorer) -> None:
    explorer.select("i")
    explorer.press("s")
    slider = explorer.root.get_by_role("slider", name="Inner factor")
    slider.focus()
    explorer.page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "64 × 2, no tail")
    for _ in range(4):
        explorer.page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("the last round has 8 of 24"))
    preview = explorer.root.get_by_role("group", name="Preview of the loop nest")
    expect(preview.locator("[data-sign='+']").first).to_contain_text("i_outer")
    explorer.page.keyboard.press("Enter")
    expect(explorer.line("i_outer")).to_be_visible()


def test_verdicts_of_a_drag_come_in_time(
    page: Page, lab: Lab, record_property: Callable[[str, object], None]
) -> None:
    open_notebook(page, lab, lab.write_notebook("drag.ipynb", DEEP, "tl.explore(sch)"))
    run_all(page)
    explorer = Explorer.in_cell(page)
    expect(explorer.lines).to_have_count(13)
    explorer.select(explorer.loops()[5])
    times = [_grab_to_places(explorer) for _ in range(20)]
    median, worst = statistics.median(times), max(times)
    record_property("drag_verdicts_ms", round(median, 1))
    print(f"\nverdicts of a drag, 12 loops: median {median:.0f} ms, worst {worst:.0f} ms, of 20")
    assert median < VERDICTS_MS


def _grab_to_places(explorer: Explorer) -> float:
    """Milliseconds from taking a loop up to the painted places, seen from inside the page."""
    took = explorer.tree.evaluate(
        """tree => new Promise(resolve => {
            const begin = performance.now();
            new MutationObserver((_, observer) => {
                if (tree.querySelector('.tvmlab-slot')) {
                    observer.disconnect();
                    resolve(performance.now() - begin);
                }
            }).observe(tree, {childList: true, subtree: true});
            const key = name => tree.dispatchEvent(
                new KeyboardEvent('keydown', {key: name, bubbles: true}));
            key('g');
        })"""
    )
    explorer.press("Escape")
    expect(explorer.root.locator(".tvmlab-slot")).to_have_count(0)
    return took
