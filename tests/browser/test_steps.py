"""Steps with parameters of every kind, threads, and refusals with their fixes, in a browser."""

from __future__ import annotations

import re

import pytest
from helpers.explorer import Explorer, open_notebook, run_all
from helpers.lab import Lab
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SETUP = """
import tvmlab as tl
from tvmlab import te

N = 128
A = te.placeholder((N, N), name="A")
B = te.placeholder((N, N), name="B")
k = te.reduce_axis(N, "k")
C = te.compute((N, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
sch = tl.Schedule(C)
"""


@pytest.fixture
def explorer(page: Page, lab: Lab) -> Explorer:
    open_notebook(page, lab, lab.write_notebook("steps.ipynb", SETUP, "tl.explore(sch)"))
    run_all(page)
    return Explorer.in_cell(page)


def _open(explorer: Explorer, action: str) -> None:
    explorer.root.locator(f'[data-action="{action}"]').first.click()
    expect(explorer.root.locator(".tvmlab-form")).to_be_visible()


def _apply(explorer: Explorer) -> None:
    expect(explorer.root.locator(".tvmlab-outcome")).to_contain_text("✓")
    explorer.root.get_by_role("button", name="Apply").click()
    expect(explorer.root.locator(".tvmlab-form")).to_be_hidden()


def test_a_product_is_tiled_bound_and_noted(explorer: Explorer) -> None:
    # Tiles, by numbers typed and picked.
    explorer.select("i")
    _open(explorer, "tile")
    explorer.root.locator('[data-field="fx"] input').fill("8")
    explorer.root.locator('[data-field="fy"] [data-value="16"]').click()
    _apply(explorer)
    assert explorer.loops() == ["i_outer", "j_outer", "i_inner", "j_inner", "k"]

    # Threads, by a choice.
    for loop, thread in (("i_outer", "blockIdx.x"), ("i_inner", "threadIdx.x")):
        explorer.select(loop)
        _open(explorer, "bind")
        explorer.root.locator(f'[data-value="{thread}"]').click()
        _apply(explorer)
        expect(explorer.line(loop)).to_contain_text(thread)
    assert explorer.kinds() == "GSTSR▣"

    # A note, by two texts; the session as Python has it all.
    explorer.select("k")
    _open(explorer, "pragma")
    explorer.root.locator('[data-field="value"] input').fill("")
    expect(explorer.root.locator('[data-field="value"] .tvmlab-problem')).not_to_be_empty()
    explorer.root.locator('[data-field="value"] input').fill("32")
    _apply(explorer)
    expect(explorer.line("k")).to_contain_text("auto_unroll_max_step 32")
    listing = explorer.root.get_by_role("region", name="Code").get_by_role("tabpanel")
    for line in ("sch.tile(i, j, 8, 16)", '"blockIdx.x"', '"auto_unroll_max_step", 32'):
        expect(listing).to_contain_text(line)


def test_a_refusal_shows_two_iterations_and_its_fix_is_one_click(explorer: Explorer) -> None:
    explorer.select("k")
    explorer.press("p")
    expect(explorer.card.locator(".tvmlab-differs")).to_have_text(["k=0", "k=1"])
    expect(explorer.card.locator(".tvmlab-cell")).to_have_text("C[0, 0]")
    explorer.card.locator("[data-fix]", has_text=re.compile("rfactor")).click()
    expect(explorer.lines.filter(has_text="C_rf").first).to_be_visible()
    expect(explorer.card).to_have_count(0)


def test_a_form_says_what_cannot_be_done_with_its_values(explorer: Explorer) -> None:
    explorer.select("i")
    _open(explorer, "peel")
    first = explorer.root.locator('[data-field="first"] input')
    first.fill("1000")
    expect(explorer.root.locator(".tvmlab-outcome .tvmlab-card")).to_be_visible()
    first.fill("2")
    _apply(explorer)
    expect(explorer.lines).not_to_have_count(4)
