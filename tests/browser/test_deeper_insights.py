"""Assembly with its inner loop, outliers, two memories, roofline by level, in a plain page."""

from __future__ import annotations

import re

import pytest
from helpers.bare_host import Opened
from helpers.schedules import matmul_schedule
from playwright.sync_api import expect

from tvmlab.bench.peaks import Bandwidth, MachinePeaks
from tvmlab.tune import MeasureResult
from tvmlab.widgets import Session, questions
from tvmlab.widgets.ledger import PlottedSchedule

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def explored(count: int = 30) -> Session:
    """A session with a plot: every fifth schedule is half as fast as predicted."""
    schedule = matmul_schedule(32, 32, 32)
    session = Session(schedule)
    i, _, _ = schedule.loops("C")
    schedule.split(i, [None, 8])
    for n in range(count):
        fast = 10.0 + n
        session.ledger.points.append(
            PlottedSchedule(
                f"h{n}", f"schedule {n}", fast * (2 if n % 5 == 0 else 1), fast, None, n % 2
            )
        )
    session.refresh()
    return session


def test_the_inner_loop_stands_beside_its_assembly(opened: Opened) -> None:
    schedule = matmul_schedule(64, 64, 64)
    host = opened(Session(schedule))
    host.explorer.root.get_by_role("tab", name="Assembly").click()
    report = host.explorer.root.get_by_role("complementary", name="Inner loop")
    expect(report).to_contain_text("bound by the chain from one iteration to the next")
    pressure = report.get_by_role("table", name="Pressure on the processor")
    expect(pressure.get_by_role("row", name=re.compile("bound"))).to_have_count(1)
    expect(pressure.get_by_role("row", name=re.compile("^loads"))).to_be_visible()
    expect(report.get_by_text("multiply-adds")).to_be_visible()
    host.explorer.lines.filter(has_text=re.compile(r"C\[")).click()
    expect(report).to_contain_text("Of the selected line")


def test_a_region_of_the_plot_is_marked_and_its_schedules_are_listed(opened: Opened) -> None:
    host = opened(explored())
    host.insight("Model")
    plot = host.explorer.root.get_by_role("region", name="Predicted against measured")
    plot.get_by_role("button", name="Mark a region").click()
    box = plot.get_by_role("img").bounding_box()
    assert box is not None
    mouse = host.page.mouse
    mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.1 * box["height"])
    mouse.down()
    mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.5 * box["height"], steps=4)
    mouse.up()
    panel = host.explorer.root.get_by_role("tabpanel", name="Outliers")
    expect(panel.get_by_role("status")).to_contain_text(re.compile(r"^\d+ schedules of 30"))
    listed = panel.get_by_role("list", name="Schedules of the region").get_by_role("listitem")
    assert listed.count() > 0
    panel.get_by_role("spinbutton", name="predicted from").fill("60")
    panel.get_by_role("spinbutton", name="predicted from").press("Tab")
    expect(panel.get_by_role("status")).to_contain_text(re.compile(r"^[1-4] schedules of 30"))
    panel.get_by_label("Schedules", exact=True).select_option("slow")
    expect(listed).to_have_count(3)
    expect(listed.first).to_contain_text("2.0× slower than predicted")
    assert host.session.schedule.history.current == 1
    panel.get_by_role("button", name="schedule 0", exact=True).click()
    expect(host.explorer.lines).to_have_count(4)
    assert host.session.schedule.history.current == 0


def test_two_memories_move_with_one_slider(opened: Opened) -> None:
    schedule = matmul_schedule(12, 12, 12)
    _, j, k = schedule.loops("C")
    schedule.reorder(k, j)
    panel = opened(Session(schedule)).insight("Memory")
    panel.get_by_label("Beside it").select_option("0")
    here = panel.get_by_role("region", name="Accesses of this state")
    there = panel.get_by_role("region", name="Accesses of start")
    expect(there.locator("output")).to_contain_text(re.compile(r"^[\d,]+ of"))
    slider = panel.get_by_role("slider", name="Access")
    slider.fill("6000")
    words = [pane.locator("output").text_content() or "" for pane in (here, there)]
    assert words[0] != words[1]
    moments = [re.match(r"([\d,]+) of", text) for text in words]
    assert moments[0] is not None
    assert moments[1] is not None
    assert moments[0][1] == moments[1][1] == "6,001"
    expect(slider).to_have_attribute("aria-valuetext", f"{words[0]}; beside it {words[1]}")
    expect(there.get_by_role("row", name=re.compile("^L1"))).to_be_visible()


def test_the_roofline_tells_each_level(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    levels = [("L1", 400.0), ("L2", 150.0), ("L3", 60.0), ("memory", 20.0)]
    bandwidths = tuple(Bandwidth(n, 2, 1 << 30, 1 << 28, r, r, r) for n, r in levels)
    peaks = MachinePeaks("box", 512, 3.5, {"float32": {1: 100.0, 2: 190.0}}, bandwidths)
    monkeypatch.setattr(questions, "read_peaks", lambda: peaks)
    session = Session(matmul_schedule(64, 64, 64))
    times = MeasureResult("ok", seconds=(1e-4, 1.1e-4, 1.2e-4))
    session.ledger.enter(times, session.writer.hash_of(session.schedule.history.node), checked=True)
    session.refresh()
    panel = opened(session).insight("Roofline")
    expect(panel).to_contain_text("operations a byte from memory")
    panel.get_by_label("Bytes that count").select_option("L1")
    expect(panel).to_contain_text("operations a byte from L1")
    panel.get_by_label("Bytes that count").select_option("every")
    for name, _ in levels:
        expect(panel).to_contain_text(f"operations a byte from {name}")
    expect(panel.get_by_role("img")).to_be_visible()
