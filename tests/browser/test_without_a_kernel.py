"""Tabs of the offline page that look at one state, and a search begun in the explorer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.bare_host import bare_host
from helpers.explorer import Explorer
from helpers.schedules import matmul_schedule
from helpers.sessions import FakeRunner, ok
from playwright.sync_api import Locator, Page, expect

from tvmlab.tune import MeasureRequest, MeasureResult
from tvmlab.widgets import Session
from tvmlab.widgets.page import page_text

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_page_answers_what_needs_no_kernel(plain_page: Page, tmp_path: Path) -> None:
    schedule = matmul_schedule(24, 24, 24)
    _, j, k = schedule.loops("C")
    schedule.reorder(k, j)
    text = page_text(Session(schedule))
    assert len(text) < 5_000_000
    file = tmp_path / "session.html"
    file.write_text(text, "utf-8")
    plain_page.goto(file.as_uri())
    explorer = Explorer(plain_page, "#tvmlab-page")

    def panel(name: str) -> Locator:
        explorer.root.get_by_role("tab", name=name, exact=True).click()
        return explorer.root.get_by_role("tabpanel", name=name, exact=True)

    expect(panel("Flow").get_by_role("button", name=re.compile("^block C"))).to_be_visible()
    memory = panel("Memory")
    memory.get_by_role("slider", name="Access").fill("10")
    expect(memory.locator("output")).to_contain_text("11 of")
    memory.get_by_label("Caches").select_option("machine")
    expect(memory).to_contain_text("it was saved on")
    iterations = panel("Iterations")
    iterations.get_by_role("slider", name="Iteration").fill("1")
    expect(iterations).to_contain_text("2 of")
    sizes = panel("What if")
    size = sizes.get_by_role("spinbutton", name=re.compile("^Size i"))
    size.fill("48")
    size.press("Tab")
    expect(sizes).to_contain_text("The one step works at these sizes")
    size = sizes.get_by_role("spinbutton", name=re.compile("^Size i"))
    size.fill("31")
    size.press("Tab")
    expect(sizes).to_contain_text("These sizes were not kept in the recording. Kept are i = 12")
    expect(panel("Proof")).to_contain_text("This is a recording")


def test_a_search_is_begun_watched_and_comes_back_as_a_branch(plain_page: Page) -> None:
    def shorter(request: MeasureRequest) -> MeasureResult:
        return ok(1e-9 * len(request.program))

    session = Session(matmul_schedule(16, 16, 16), runner=FakeRunner(shorter))
    session.schedule.parallel(session.schedule.loops("C")[0])
    with bare_host(plain_page, session) as host:
        panel = host.insight("Search")
        panel.get_by_role("button", name="Search from here").click()
        panel.get_by_role("button", name="Take the fastest").click(timeout=60_000)
        expect(host.explorer.root.first).to_contain_text(re.compile(r"search, trial \d+"))
        label = session.schedule.history.node.label
        assert label is not None
        assert label.startswith("search, trial")
        expect(host.explorer.lines.first).to_contain_text("parallel")
        fastest = panel.get_by_role("region", name="Fastest").get_by_role("button").first
        fastest.click()
        expect(panel.get_by_role("status").last).to_contain_text("is now a branch of the history")
