"""Studies of a state by role and name: the interpreter, the profile, the pool of processors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.bare_host import bare_host
from helpers.schedules import matmul_schedule
from helpers.sessions import FakeRunner, ok
from playwright.sync_api import Page, expect

from tvmlab.tune import MeasureRequest, MeasureResult
from tvmlab.widgets import Session, guessing

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LONG = 60_000


def test_the_interpreter_finds_a_race_and_leads_to_its_line(plain_page: Page) -> None:
    schedule = matmul_schedule(64, 64, 64)
    _, _, k = schedule.loops("C")
    with bare_host(plain_page, schedule) as host:
        panel = host.insight("Proof")
        panel.get_by_role("button", name="Run it").click()
        expect(panel.get_by_role("status")).to_contain_text("Nothing was found", timeout=LONG)
        schedule.assume("independent", k)
        schedule.parallel(k)
        expect(panel).to_contain_text("not")
        panel.get_by_role("button", name="Run it").click()
        first = panel.get_by_role("list", name="Findings").get_by_role("listitem").first
        expect(first).to_contain_text("race", timeout=LONG)
        expect(first).to_contain_text("in k = 0 and in k = 1")
        first.get_by_role("button", name=re.compile(r"C\[vi, vj\]")).click()
        line = host.explorer.lines.filter(has_text="for k in parallel")
        expect(line).to_have_attribute("aria-selected", "true")


def test_lines_show_the_time_that_they_were_seen_to_take(plain_page: Page) -> None:
    with bare_host(plain_page, matmul_schedule(96, 96, 96)) as host:
        panel = host.insight("Profile")
        panel.get_by_role("button", name="Watch it run").click()
        status = panel.get_by_role("status")
        expect(status).to_contain_text("A call takes", timeout=LONG)
        counters = panel.get_by_role("table", name="Counters")
        expect(panel).to_contain_text("Counters, for one call")
        if "not measured" in (status.text_content() or ""):
            pytest.skip(status.text_content() or "")
        expect(counters.get_by_role("row", name=re.compile("^page faults"))).to_be_visible()
        shares = panel.get_by_role("table", name="Measured shares")
        expect(shares.get_by_role("row", name=re.compile("^i "))).to_contain_text("%")
        expect(status).to_contain_text("slower while they were taken")
        host.explorer.root.get_by_label("Cost to show").select_option("measured")
        assert host.session.state["shares"]
        expect(host.explorer.lines.first).to_contain_text(re.compile(r"\d+%"))


def test_a_pool_is_measured_and_ranks_otherwise(plain_page: Page) -> None:
    def seconds(request: MeasureRequest) -> MeasureResult:
        alone = request.target["num_threads"] == 1
        return ok(2e-3 if "parallel" not in request.program else 4e-3 if alone else 1e-3)

    session = Session(matmul_schedule(64, 64, 64), runner=FakeRunner(seconds))
    if session.target.num_threads < 2:
        pytest.skip("this machine has one thread")
    session.schedule.parallel(session.schedule.loops("C")[0])
    with bare_host(plain_page, session) as host:
        panel = host.insight("Machines")
        panel.get_by_label("Other machine").select_option("pool")
        panel.get_by_role("button", name="Measure the pool").click()
        table = panel.get_by_role("table", name="Measured on the pool")
        row = table.get_by_role("row", name=re.compile("^parallel i"))
        expect(row).to_contain_text("fastest", timeout=LONG)
        expect(row.get_by_role("cell").last).to_contain_text("4.00 ms")
        flips = panel.get_by_role("list", name="Ranked otherwise")
        expect(flips).to_contain_text("0.5× on one thread")
        values = panel.get_by_role("list", name="Values elsewhere")
        expect(values.get_by_role("listitem").first).to_contain_text("AArch64")
        panel.get_by_role("button", name="another by its code").click()
        expect(panel.get_by_role("table", name="Both machines")).to_be_visible()


def test_a_measurement_waits_until_it_was_guessed(
    plain_page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guessing, "default_cache_dir", lambda: tmp_path)

    def seconds(request: MeasureRequest) -> MeasureResult:
        return ok(1e-3 if "parallel" in request.program else 2e-3)

    session = Session(matmul_schedule(16, 16, 16), runner=FakeRunner(seconds))
    session.measure()
    assert session.wait(10)
    with bare_host(plain_page, session) as host:
        host.insight("Guess").get_by_role("button", name="Guess first").click()
        session.schedule.parallel(session.schedule.loops("C")[0])
        host.insight("Model")
        host.explorer.root.get_by_role("button", name="Measure").click()
        panel = host.explorer.root.get_by_role("tabpanel", name="Guess")
        expect(panel.get_by_role("status")).to_contain_text("parallel i is measured")
        expect(host.explorer.root).not_to_contain_text("1.00 ms")
        panel.get_by_label("Bound by").select_option("memory")
        panel.get_by_role("button", name="faster", exact=True).click()
        expect(panel.get_by_role("status")).to_contain_text("2× as fast as start")
        expect(panel.get_by_role("status")).to_contain_text("You were right")
        expect(panel.get_by_role("table", name="How your guesses were")).to_contain_text("1 (100%)")
        expect(host.explorer.root).to_contain_text("1.00 ms")
