"""A search in a notebook: it runs while the kernel is free, pauses, and its trials open."""

from __future__ import annotations

import re

import pytest
from helpers.explorer import open_notebook, run_all
from helpers.lab import Lab
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SEARCH = """
import tvmlab as tl
from tvmlab import te, topi
from tvmlab.tune import Tuner, generic_space

out = topi.matmul(64, 64, 64)[2]
tuner = Tuner(generic_space(out), name="small product")
widget = tl.watch(tuner, trials=400)
"""


@pytest.fixture
def view(page: Page, lab: Lab) -> Locator:
    name = lab.write_notebook("search.ipynb", SEARCH, "widget")
    open_notebook(page, lab, name)
    run_all(page)
    return page.locator(".tvmlab-search-view")


def test_a_search_is_watched_paused_opened_and_stopped(view: Locator) -> None:
    page = view.page
    expect(view).to_contain_text("Search small product")
    points = view.get_by_role("region", name="Best so far").locator("circle")
    expect(points.nth(7)).to_be_visible(timeout=60_000)
    expect(view.get_by_role("progressbar", name="Trials")).to_be_visible()
    expect(view).to_contain_text(re.compile("trials/s"))

    view.get_by_role("button", name="Pause").click()
    expect(view.get_by_role("button", name="Resume")).to_be_visible()
    expect(view).to_contain_text("paused")

    # A trial by keys, and its schedule in place of the search.
    chart = view.get_by_role("img", name=re.compile("Best so far"))
    chart.focus()
    page.keyboard.press("ArrowRight")
    expect(view.get_by_role("region", name="Best so far")).to_contain_text("Trial 1: measured")
    page.keyboard.press("Enter")
    expect(view.get_by_role("tree")).to_contain_text("for ")
    expect(view).to_contain_text("trial 1")
    view.get_by_role("button", name="← Search").click()
    expect(chart).to_be_visible()

    view.get_by_role("button", name="Resume").click()
    view.get_by_role("button", name="Stop").click()
    expect(view.get_by_text("Stopped; the log keeps what was measured.")).to_be_visible(
        timeout=30_000
    )
    expect(view.get_by_role("button", name="100 more")).to_be_visible()
