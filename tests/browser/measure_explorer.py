"""Prints how long the explorer takes, in a real browser, beside what is asked of it.

    python tests/browser/measure_explorer.py steps 12  # on 4, 8 or 12 loops; 300: after 300 steps
    python tests/browser/measure_explorer.py code 12 lowered asm  # opening tabs, of all by default
    python tests/browser/measure_explorer.py first 64  # the first measurements of a matrix product
    python tests/browser/measure_explorer.py files  # saved sessions and pages
    python tests/browser/measure_explorer.py large  # 3,000 lines, 10,000 points

Each figure is the median and the 95th percentile of 50, seen from inside the page: from the event
to the changed elements, and for frames from one to the next.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.bare_host import bare_host
from helpers.explorer import Explorer, open_notebook, run_all
from helpers.lab import run_lab
from helpers.nests import long_history, many_lines, product
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tvmlab.widgets import Session, load_session, save_session
from tvmlab.widgets.ledger import PlottedSchedule
from tvmlab.widgets.page import page_text

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
TIMES = 50

CHANGE = """
(root, [act, target, done]) => new Promise(resolve => {
    const begin = performance.now();
    const watched = target === '' ? root : root.querySelector(target);
    const ready = () => new Function('root', `return ${done}`)(root);
    const observer = new MutationObserver(() => {
        if (ready()) { observer.disconnect(); resolve(performance.now() - begin); }
    });
    observer.observe(watched, {childList: true, subtree: true, characterData: true,
                               attributes: true});
    new Function('root', act)(root);
})
"""


def table(name: str, times: list[float], budget: float, unit: str = "ms") -> None:
    """One row: what, median, 95th percentile, and the budget."""
    ordered = sorted(times)
    late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    median = statistics.median(times)
    verdict = "met" if late <= budget else "met by the median" if median <= budget else "MISSED"
    figures = f"{median:8.1f} {late:8.1f} {unit}  of {len(times):3}"
    print(f"{name:44} {figures}  asked {budget:g}: {verdict}", flush=True)


def key(name: str, **more: bool) -> str:
    """A script that presses a key in the nest."""
    init = ", ".join(["bubbles: true", f"key: {name!r}"] + [f"{k}: true" for k in more])
    return (
        "root.querySelector('.tvmlab-tree').dispatchEvent("
        f"new KeyboardEvent('keydown', {{{init}}}))"
    )


def change(explorer: Explorer, act: str, done: str = "true", target: str = "") -> float:
    return explorer.root.evaluate(CHANGE, [act, target, done])


# ------------------------------------------------------------------- one nest


def measure_nest(explorer: Explorer, title: str) -> None:
    """Dragging, stepping and code on the nest that is open."""
    loops = explorer.loops()
    explorer.select(loops[len(loops) // 2])
    times: list[float] = []
    for _ in range(TIMES):
        times.append(change(explorer, key("g"), "root.querySelector('.tvmlab-slot')"))
        explorer.press("Escape")
        expect(explorer.root.locator(".tvmlab-slot")).to_have_count(0)
    table(f"{title}: verdicts of a drag", times, 100)

    times: list[float] = []
    explorer.select(loops[0])
    explorer.press("u")
    expect(explorer.root.get_by_role("button", name="Undo")).to_be_enabled()
    for turn in range(TIMES):
        name = "redo" if turn % 2 else "undo"
        button = explorer.root.locator(f'[data-command="{name}"]')
        expect(button).to_be_enabled()
        act = f"root.querySelector('[data-command={name}]').click()"
        times.append(change(explorer, act, target=".tvmlab-tree"))
        explorer.page.wait_for_timeout(60)
    table(f"{title}: undo, redo to picture", times, 200)
    explorer.press("Control+z")

    times: list[float] = []
    shown = "root.querySelector('.tvmlab-tree .tvmlab-kind[data-kind=unrolled]')"
    explorer.select(loops[-1])
    for _ in range(TIMES):
        act = key("u")
        times.append(change(explorer, act, shown, ".tvmlab-tree"))
        explorer.press("Control+z")
        expect(explorer.root.locator(".tvmlab-kind[data-kind=unrolled]")).to_have_count(0)
        explorer.root.locator("[data-action]").first.wait_for()
    table(f"{title}: unroll to picture", times, 200)


TABS = {"loops": "for ", "passes": "", "lowered": "for ", "llvm": "%", "asm": ","}
"""The tabs of code, and what some line of each has wherever the listing is scrolled to."""


NEW_STATE = """
sch.goto(start)
loop = max(sch.loops("C"), key=lambda loop: loop.extent or 0)
sch.split(loop, [None, {factor}])
"""


def measure_code(explorer: Explorer, title: str, tabs: list[str]) -> None:
    """Opening tabs of the code, of a program that is new each time: one loop is split otherwise."""
    code = explorer.root.get_by_role("region", name="Code")
    in_kernel(explorer.page, "start = sch.history.current")
    factors = iter(range(2, 500))
    for tab in tabs or TABS:
        shown = (
            "root.querySelector('.tvmlab-passes summary')"
            if tab == "passes"
            else f"root.querySelector('.tvmlab-listing[aria-busy=false]')"
            f"?.textContent.includes('{TABS[tab]}')"
        )
        times: list[float] = []
        for _ in range(TIMES):
            code.get_by_role("tab", name="Python").click()
            in_kernel(explorer.page, NEW_STATE.format(factor=next(factors)))
            explorer.page.wait_for_timeout(100)
            act = f"root.querySelector('[data-tab={tab}]').click()"
            times.append(change(explorer, act, shown))
        table(f"{title}: code tab {tab}", times, 300)


def in_kernel(page: Page, code: str) -> None:
    """Run Python in the kernel of the open notebook."""
    page.evaluate(
        """code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
            .requestExecute({code}).done.then(() => true)""",
        code,
    )


MEASURED = (
    "(text => text.includes('quartiles') && !/stale|measuring|waiting/.test(text))("
    "root.querySelector('.tvmlab-stat').textContent)"
)


def measure_first(explorer: Explorer, title: str) -> None:
    """The first measurement of the session, then that of states that are new each time."""
    very_first = change(explorer, key("m"), MEASURED)
    table(f"{title}: first measurement of a session", [very_first], 1000)
    times: list[float] = []
    for factor in range(2, 2 + TIMES):
        explorer.select("i")
        explorer.press("s")
        explorer.page.keyboard.type(f"auto, {factor}")
        explorer.page.keyboard.press("Enter")
        expect(explorer.line("i_outer")).to_be_visible()
        times.append(change(explorer, key("m"), MEASURED))
        explorer.press("Control+z")
        expect(explorer.line("i")).to_be_visible()
    table(f"{title}: first measurement of a state", times, 1000)


# ------------------------------------------------------------------ JupyterLab

NOTEBOOK = """
import sys; sys.path.insert(0, {helpers!r})
import tvmlab as tl
from helpers.nests import deep, long_history, product
sch = {nest}
"""


@contextmanager
def browser_and_page() -> Generator[tuple[Browser, Page]]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 1080})
        page.set_default_timeout(40_000)
        yield browser, page
        browser.close()


NESTS = {
    "4": "deep(512, loops=4)",
    "8": "deep(512, loops=8)",
    "12": "deep(512, loops=12)",
    "300": "long_history(300)",
}


def in_lab(nest: str, part: Callable[[Explorer, str], None]) -> None:
    """Measure in JupyterLab, on one of the nests."""
    code = NOTEBOOK.format(helpers=str(Path(__file__).parents[1]), nest=nest)
    with (
        tempfile.TemporaryDirectory() as folder,
        run_lab(Path(folder)) as lab,
        browser_and_page() as (_, page),
    ):
        open_notebook(page, lab, lab.write_notebook("measure.ipynb", code, "tl.explore(sch)"))
        run_all(page)
        explorer = Explorer.in_cell(page)
        explorer.lines.first.wait_for()
        page.wait_for_timeout(1500)  # the workers of measurements start in the background
        part(explorer, nest)


# ----------------------------------------------------------------------- files


def files() -> None:
    """Opening a saved session of 300 steps; a page of 200 steps."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(long_history(300))
        path = save_session(session, Path(folder) / "long")
        times: list[float] = []
        for _ in range(5):
            begin = time.perf_counter()
            load_session(path).close()
            times.append(1000 * (time.perf_counter() - begin))
        table("open a saved session of 300 steps", times, 1000)
        session.close()
        session = Session(long_history(200))
        page_path = Path(folder) / "page.html"
        page_path.write_text(page_text(session), encoding="utf-8")
        session.close()
        size = page_path.stat().st_size / 1e6
        print(
            f"{'a page of 200 steps':44} {size:8.2f} MB  asked 5: {'met' if size < 5 else 'MISSED'}"
        )
        with browser_and_page() as (browser, _):
            times: list[float] = []
            for _ in range(10):
                page = browser.new_context(offline=True).new_page()
                begin = time.perf_counter()
                page.goto(page_path.as_uri())
                page.locator("[role=treeitem]").first.wait_for()
                times.append(1000 * (time.perf_counter() - begin))
                page.context.close()
            table("open it without network", times, 1000)


# ----------------------------------------------------------------------- large

PAN = """
(drawing, frames) => new Promise(resolve => {
    const box = drawing.getBoundingClientRect();
    const at = [box.x + box.width / 2, box.y + box.height / 2];
    const tell = (type, x, y, target = drawing) => target.dispatchEvent(new PointerEvent(type,
        {bubbles: true, clientX: x, clientY: y, button: 0, buttons: 1, pointerId: 1}));
    tell('pointerdown', ...at);
    const times = [];
    let last = performance.now();
    const frame = now => {
        times.push(now - last);
        last = now;
        tell('pointermove', at[0] + 60 * Math.sin(times.length / 9), at[1] + times.length % 40);
        if (times.length < frames) requestAnimationFrame(frame);
        else { tell('pointerup', ...at); resolve(times.slice(2)); }
    };
    requestAnimationFrame(frame);
})
"""


def large() -> None:
    """Nests of thousands of lines and plots of ten thousand points."""
    with browser_and_page() as (_, page):
        session = Session(product(128))
        session.ledger.points.extend(
            PlottedSchedule(f"h{i}", f"p{i}", (i * 37 % 997) / 10, (i * 53 % 991) / 10, "[]", None)
            for i in range(10_000)
        )
        session.refresh()
        with bare_host(page, session) as host:
            times = host.explorer.root.locator(".tvmlab-plot .tvmlab-field-of-points").evaluate(
                PAN, 90
            )
            table("10,000 points, panning: a frame", times, 1000 / 30)
        with bare_host(page, many_lines(3000)) as host:
            measure_lines(host.explorer)


def measure_lines(explorer: Explorer) -> None:
    count = explorer.root.locator(".tvmlab-row").count()
    print(f"{'lines on the page of a nest of 3,000':44} {count:8}")
    times = [change(explorer, key("ArrowDown"), target=".tvmlab-tree") for _ in range(TIMES)]
    table("3,000 lines: next line", times, 50)
    frames: Any = explorer.tree.evaluate(
        """tree => new Promise(resolve => {
            const times = []; let last = performance.now();
            const frame = now => {
                times.push(now - last); last = now; tree.scrollTop += 200;
                times.length < 90 ? requestAnimationFrame(frame) : resolve(times.slice(2));
            };
            requestAnimationFrame(frame);
        })"""
    )
    table("3,000 lines: a frame while scrolling", frames, 1000 / 30)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "steps":
        in_lab(NESTS[rest[0]], measure_nest)
    elif what == "code":
        nest = f"deep(512, loops={int(rest[0]) - 1})" if rest[0] != "300" else NESTS["300"]
        in_lab(nest, lambda explorer, title: measure_code(explorer, title, rest[1:]))
    elif what == "first":
        in_lab(f"product({rest[0]})", measure_first)
    elif what == "files":
        files()
    elif what == "large":
        large()
