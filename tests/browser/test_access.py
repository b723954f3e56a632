"""For everybody: no serious finding of axe-core in any view, and whole tasks by keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from helpers.axe import findings, installed
from helpers.bare_host import BareHost, bare_host
from helpers.explorer import Explorer, command, open_notebook, restart_kernel, run_all
from helpers.lab import Lab
from helpers.nests import product, tiled
from helpers.notebooks import MATMUL
from playwright.sync_api import Locator, Page, expect

from tvmlab.widgets import Session
from tvmlab.widgets.page import page_text

pytestmark = [pytest.mark.browser, pytest.mark.slow]

needs_axe = pytest.mark.skipif(
    not installed(), reason="axe-core is not there: npm ci in extensions/"
)


@pytest.fixture
def host(bare_page: Page) -> Iterator[BareHost]:
    with bare_host(bare_page, tiled()) as host:
        yield host


def _press(*keys: str) -> Callable[[BareHost], object]:
    return lambda host: host.explorer.press(*keys)


def _refuse(host: BareHost) -> None:
    host.explorer.select("j_inner")
    host.explorer.press("p")
    expect(host.explorer.card).to_be_visible()


def _split(host: BareHost) -> None:
    host.explorer.select("j_outer")
    host.explorer.press("s")
    expect(host.explorer.root.get_by_role("button", name="Apply")).to_be_visible()


def _move(host: BareHost) -> None:
    host.explorer.select("k_inner")
    host.explorer.press("g", "ArrowUp")
    expect(host.explorer.root.locator(".tvmlab-slot").first).to_be_attached()


def _measure(host: BareHost) -> None:
    host.explorer.press("m")
    expect(host.explorer.root.locator(".tvmlab-stat")).to_contain_text("quartiles", timeout=60_000)


def _die(host: BareHost) -> None:
    host.die()
    expect(host.explorer.note).to_contain_text("Session gone")


SCENES: dict[str, Callable[[BareHost], object]] = {
    "as it opens": lambda host: None,
    "a refusal": _refuse,
    "a form": _split,
    "a line on its way": _move,
    "keys": _press("?"),
    "palette": _press("/"),
    "share": lambda host: host.explorer.root.locator("summary", has_text="Share").click(),
    "a measurement": _measure,
    "a dead kernel": _die,
}


@needs_axe
def test_no_view_has_a_serious_finding(bare_page: Page) -> None:
    found: list[str] = []
    for name, show in SCENES.items():
        with bare_host(bare_page, tiled()) as host:
            show(host)
            found += _in_both_themes(bare_page, name)
    assert found == []


@needs_axe
def test_no_tab_has_a_serious_finding(host: BareHost) -> None:
    tabs = host.explorer.root.get_by_role("tab")
    found: list[str] = []
    for name in tabs.all_text_contents():
        tab = tabs.get_by_text(name, exact=True)
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        host.page.wait_for_timeout(250)
        found += _in_both_themes(host.page, name, f"section:has(> [role=tablist] #{tab_id(tab)})")
    assert found == []


def tab_id(tab: Locator) -> str:
    return str(tab.get_attribute("id"))


def _in_both_themes(page: Page, name: str, root: str = ".tvmlab-explorer") -> list[str]:
    """What all rules find in light, and what dark does to contrast."""
    page.emulate_media(color_scheme="light")
    found = findings(page, root)
    page.emulate_media(color_scheme="dark")
    found += findings(page, root, ("color-contrast",))
    page.emulate_media(color_scheme="light")
    return [f"{name}: {finding}" for finding in found]


@needs_axe
def test_a_page_for_any_browser_has_no_serious_finding(bare_page: Page) -> None:
    session = Session(tiled())
    bare_page.set_content(page_text(session))
    session.close()
    expect(Explorer(bare_page, "#tvmlab-page").line("k_inner")).to_be_visible()
    assert _in_both_themes(bare_page, "page", "html") == []


HIGH_CONTRAST = ("JupyterLab Light High Contrast", "JupyterLab Dark High Contrast")


@needs_axe
def test_jupyterlab_pages_and_saved_notebooks_have_no_serious_finding(page: Page, lab: Lab) -> None:
    open_notebook(page, lab, lab.write_notebook("access.ipynb", MATMUL, "tl.explore(sch)"))
    run_all(page)
    command(page, "tvmlab:open-panel")
    expect(Explorer.in_panel(page).lines).to_have_count(4)
    places = (".jp-OutputArea .tvmlab-explorer", "#tvmlab-panel")
    found = [finding for place in places for finding in findings(page, place)]
    for theme in HIGH_CONTRAST:
        page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
        )
        page.wait_for_timeout(500)
        found += [f"{theme}: {finding}" for finding in findings(page, places[0])]
    restart_kernel(page)
    expect(Explorer.in_panel(page).note).to_contain_text("Session gone")
    found += findings(page, places[1])
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    lab.stop_kernels()
    page.goto(lab.url("access.ipynb") + "&kernel=none")
    kept = Explorer.in_cell(page)
    expect(kept.line("k")).to_be_visible(timeout=40_000)
    found += findings(page, places[0])
    assert found == []


def test_a_tiled_parallel_vectorized_product_is_made_by_keys_alone(bare_page: Page) -> None:
    with bare_host(bare_page, product(256)) as host:
        explorer, keys = host.explorer, bare_page.keyboard
        # From the top of the page to the nest by Tab; a page that fills up may ask for more.
        expect(explorer.lines).to_have_count(4)
        for _ in range(40):
            keys.press("Tab")
            if explorer.tree.evaluate("tree => tree === document.activeElement"):
                break
        expect(explorer.tree).to_be_focused()
        _choose(explorer, "i")
        keys.press("t")  # tile with the next loop
        expect(explorer.root.locator('[data-field="fx"] input')).to_be_focused()
        keys.press("Control+a")
        keys.type("8")
        _tab_to(explorer, '[data-field="fy"] input')
        keys.press("Control+a")
        keys.type("32")
        keys.press("Enter")
        expect(explorer.line("j_inner")).to_be_visible()
        expect(explorer.tree).to_be_focused()
        _choose(explorer, "k")
        keys.press("Shift+ArrowUp")
        keys.press("Shift+ArrowUp")
        expect(explorer.lines.nth(2)).to_contain_text("for k in")
        _choose(explorer, "j_inner")
        keys.press("v")
        expect(explorer.line("j_inner")).to_contain_text("vectorize(32)")
        _choose(explorer, "i_inner")
        keys.press("u")
        expect(explorer.line("i_inner")).to_contain_text("unroll(8)")
        _choose(explorer, "i_outer")
        keys.press("p")
        expect(explorer.line("i_outer")).to_contain_text("parallel(32)")
        expect(explorer.tree).to_be_focused()
        keys.press("m")
        said = explorer.root.locator(".tvmlab-hidden[aria-live]")
        expect(said).to_contain_text(re.compile("Measured: .* GFLOP/s"), timeout=60_000)
        assert explorer.loops() == ["i_outer", "j_outer", "k", "i_inner", "j_inner"]


def _choose(explorer: Explorer, loop: str) -> None:
    """Go to a loop with the arrow keys."""
    explorer.page.keyboard.press("Home")
    for _ in range(explorer.lines.count()):
        if explorer.line(loop).get_attribute("aria-selected") == "true":
            break
        explorer.page.keyboard.press("ArrowDown")
    expect(explorer.line(loop)).to_have_attribute("aria-selected", "true")


def _tab_to(explorer: Explorer, field: str) -> None:
    wanted = explorer.root.locator(field)
    for _ in range(20):
        if wanted.evaluate("field => field === document.activeElement"):
            return
        explorer.page.keyboard.press("Tab")
    expect(wanted).to_be_focused()


def test_the_focus_is_never_lost(host: BareHost) -> None:
    explorer, page = host.explorer, host.page
    inside = "() => document.querySelector('.tvmlab-explorer').contains(document.activeElement)"

    def press(name: str, key: str = "Enter") -> None:
        explorer.root.get_by_role("button", name=name).first.focus()
        page.keyboard.press(key)
        page.wait_for_timeout(150)
        assert page.evaluate(inside), f"after {name}"

    before = explorer.root.locator("[data-node]").count()
    for _ in range(before):
        press("Undo")
    expect(explorer.root.get_by_role("button", name="Undo")).to_be_disabled()
    press("Redo")
    for action in ("Auto", "Auto", "Find", "Checkpoint"):
        press(action)
        page.keyboard.press("Escape")
        assert page.evaluate(inside), f"after {action} and Escape"
    explorer.root.locator("[data-node]").first.focus()
    page.keyboard.press("Enter")
    expect(explorer.lines).to_have_count(4)
    expect(explorer.root.locator("[data-node]").first).to_be_focused()
    explorer.select("i")
    press("vectorize")  # a step from the list of actions
    expect(explorer.tree).to_be_focused()


def test_what_happens_is_said(host: BareHost) -> None:
    explorer = host.explorer
    said = explorer.root.locator(".tvmlab-hidden[aria-live=polite]")
    explorer.press("Control+z")
    expect(said).to_have_text("unroll i_inner: 6 loops now.")
    explorer.select("j_inner")
    explorer.press("p")
    expect(said).to_contain_text("parallel is refused")


def test_nothing_moves_for_who_asks_for_no_motion(host: BareHost) -> None:
    host.page.emulate_media(reduced_motion="reduce")
    moving = host.explorer.root.evaluate(
        """root => [root, ...root.querySelectorAll('*')].filter(element => {
            const {animationName, transitionDuration} = getComputedStyle(element);
            return animationName !== 'none' || parseFloat(transitionDuration) > 0;
        }).length"""
    )
    assert moving == 0


def test_the_systems_own_colors_still_tell_states_apart(host: BareHost) -> None:
    host.page.emulate_media(forced_colors="active")
    outline = "element => getComputedStyle(element).outlineStyle"
    selected = host.explorer.root.locator(".tvmlab-row[aria-selected=true]")
    assert selected.evaluate(outline) == "solid"
    other = host.explorer.root.locator(".tvmlab-row[aria-selected=false]").first
    assert other.evaluate(outline) == "none"
