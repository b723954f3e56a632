"""The tabs of insights in a plain page, by role and name, on three kinds of programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.bare_host import Opened
from playwright.sync_api import expect

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.schedule import Schedule, forget_composite
from tvmlab.schedule.refs import LoopRef

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def matmul(n: int = 64) -> Schedule:
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis(n, "k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return tl.Schedule(c)


def softmax() -> Schedule:
    return topi.schedule(topi.softmax(te.placeholder((32, 1000), name="x")))


def conv() -> Schedule:
    data = te.placeholder((1, 4, 16, 16), name="data")
    weight = te.placeholder((8, 4, 3, 3), name="weight")
    return tl.Schedule(topi.conv2d(data, weight, 1, 1, 1, "NCHW"))


def test_the_flow_of_data_leads_to_the_lines(opened: Opened) -> None:
    host = opened(conv())
    flow = host.insight("Flow").get_by_role("group", name="Flow of data")
    expect(flow.get_by_role("button", name=re.compile("input data"))).to_be_disabled()
    flow.get_by_role("button", name=re.compile("^block conv2d")).click()
    line = host.explorer.lines.filter(has_text="conv2d[")
    expect(line).to_have_attribute("aria-selected", "true")
    expect(flow.get_by_role("button", name=re.compile("^block conv2d"))).to_have_attribute(
        "aria-pressed", "true"
    )
    panel = host.explorer.root.get_by_role("tabpanel", name="Flow")
    panel.get_by_text("How often each element is used").click()
    expect(panel.get_by_role("row", name=re.compile("weight"))).to_contain_text("conv2d")


def test_iterations_are_scrubbed_and_say_what_they_need(opened: Opened) -> None:
    schedule = matmul(20)
    i, _, _ = schedule.loops("C")
    schedule.split(i, [None, 12])
    host = opened(schedule)
    panel = host.insight("Iterations")
    needs = panel.get_by_role("list", name="Dependences")
    expect(needs).to_contain_text("needs the one at distance vi 0, vk −1")
    slider = panel.get_by_role("slider", name="Iteration")
    slider.fill("0")
    expect(panel.get_by_role("status")).to_contain_text("1 of 480: vi=0, vk=0")
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "2 of 480: vi=0, vk=1")
    slider.fill("479")
    expect(panel.get_by_role("status")).to_contain_text("lies beyond the domain")
    panel.get_by_label("Across").select_option("vj")
    expect(panel).to_contain_text("any order will do")


@pytest.mark.parametrize("make", [matmul, softmax, conv])
def test_every_tab_shows_something_for_every_kind_of_program(
    opened: Opened, make: Callable[[], Schedule]
) -> None:
    host = opened(make())
    tabs = host.explorer.root.get_by_role("tablist", name="Insights").get_by_role("tab")
    for name in tabs.all_text_contents():
        panel = host.insight(name)
        expect(panel).to_contain_text(re.compile(r"\w"))
        expect(panel).not_to_contain_text("did not work")
        expect(panel).not_to_contain_text("…", timeout=10_000) if name == "Memory" else None


def test_the_memory_view_tells_each_access(opened: Opened) -> None:
    panel = opened(softmax()).insight("Memory")
    slider = panel.get_by_role("slider", name="Access")
    slider.fill("0")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^1 of [\d,]+: .*compulsory"))
    expect(panel.get_by_role("row", name=re.compile("^L1"))).to_be_visible()
    panel.get_by_label("Caches").select_option("machine")
    expect(panel).to_contain_text("caches of this machine, each")


def test_other_sizes_are_tried_without_touching_the_schedule(opened: Opened) -> None:
    schedule = matmul(64)
    schedule.split(schedule.loops("C")[0], [None, 12])
    host = opened(schedule)
    panel = host.insight("What if")
    size = panel.get_by_role("spinbutton", name=re.compile("^Size i"))
    size.fill("60")
    size.press("Tab")
    expect(panel).to_contain_text("The one step works at these sizes")
    expect(panel.get_by_role("row", name=re.compile("loops with a remark"))).to_contain_text("none")
    expect(panel.get_by_role("group", name="What changes in the nest")).to_contain_text("range(5)")
    assert len(schedule.trace) == 1
    panel.get_by_role("button", name="The sizes as they are").click()
    expect(panel).to_contain_text("Change a size")


def test_another_machine_stands_beside_this_one(opened: Opened) -> None:
    schedule = matmul(64)
    schedule.vectorize(schedule.loops("C")[1])
    panel = opened(schedule).insight("Machines")
    expect(panel.get_by_role("row", name=re.compile("^vectors"))).to_contain_text("AVX2")
    panel.get_by_label("Other machine").select_option("RISC-V board")
    expect(panel.get_by_role("listitem").first).to_contain_text("there are no vectors")


def test_the_model_learns_and_says_why(opened: Opened) -> None:
    host = opened(matmul(32))
    panel = host.insight("Learning")
    expect(panel).to_contain_text("so far there are 0")
    panel.get_by_role("button", name="Measure more").click()
    expect(panel.get_by_role("button", name="Measure more")).to_be_visible()
    host.session.wait(60)
    expect(panel.get_by_role("slider")).to_be_visible(timeout=60_000)
    slider = panel.get_by_role("slider", name="Size of the training set")
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^Trained on 8"))
    panel = host.insight("Why")
    parts = panel.get_by_role("table", name="Parts of the prediction")
    expect(parts.get_by_role("row", name=re.compile("all other features"))).to_be_visible()


def test_a_step_of_ones_own_is_in_the_menu(opened: Opened) -> None:
    @tl.composite("tile for vectors", key="w")
    def tile_for_vectors(sch: Schedule, loop: LoopRef, width: int = 8) -> None:
        sch.vectorize(sch.split(loop, [None, width])[1])

    try:
        schedule = matmul(32)
        explorer = opened(schedule).explorer
        explorer.select("j")
        explorer.root.get_by_role("button", name=re.compile("tile for vectors")).click()
        explorer.root.get_by_role("button", name="Apply", exact=True).click()
        expect(explorer.line("j_inner")).to_contain_text("vectorize(8)")
        assert [step.primitive for step in schedule.trace.steps] == ["split", "vectorize"]
    finally:
        forget_composite("tile_for_vectors")


def test_costs_are_shown_by_the_chosen_measure(opened: Opened) -> None:
    host = opened(matmul(64))
    root = host.explorer.root
    first = root.get_by_role("treeitem").last.locator(".tvmlab-pc")
    root.get_by_label("Cost to show").select_option("data moved, own")
    expect(first).to_have_text(re.compile(r"^\d+%$"))
    root.get_by_label("Cost to show").select_option("measured time")
    expect(first).to_have_text("–")
    root.get_by_role("button", name=re.compile("Measure")).first.click()
    expect(first).to_have_text(re.compile(r"\d+ [mµn]s"), timeout=60_000)


def test_an_exercise_is_solved_in_the_view(opened: Opened, tmp_path: Path) -> None:
    exercise = tl.exercise("reorder", progress=tmp_path / "progress.json")
    host = opened(exercise.schedule)
    panel = host.explorer.root.get_by_role("tabpanel", name="Exercise")
    goals = panel.get_by_role("list", name="Goals")
    expect(goals).to_contain_text("not checked")
    panel.get_by_role("button", name="Check", exact=True).click()
    expect(goals).to_contain_text("not met")
    panel.get_by_role("button", name=re.compile("^Hint")).click()
    expect(panel.get_by_role("status")).to_contain_text("Hint 1 of")
    panel.get_by_role("button", name="mine has fewer").click()
    expect(panel).to_contain_text("you said: mine")
    exercise.task.solve(exercise.schedule)
    expect(panel).to_contain_text("check again")
    panel.get_by_role("button", name="Check", exact=True).click()
    expect(panel).to_contain_text("✓ solved")
    expect(goals).not_to_contain_text("not met")
