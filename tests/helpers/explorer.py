"""What a person does with a notebook and an explorer, for browser tests."""

from __future__ import annotations

import re

from helpers.lab import Lab
from playwright.sync_api import Locator, Page, expect

RUN_TIMEOUT = 60_000
# A shared machine may be slow; only the latency test asks for speed.
expect.set_options(timeout=20_000)


KERNEL_IDLE = """() => {
    const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
    return context?.isReady && context.session?.kernel?.status === 'idle';
}"""


def wait_for_kernel(page: Page) -> None:
    """Wait until the open notebook has a kernel with nothing to do."""
    page.wait_for_function(KERNEL_IDLE, timeout=RUN_TIMEOUT)


def open_notebook(page: Page, lab: Lab, name: str) -> None:
    """Open a notebook and wait for its kernel."""
    page.goto(lab.url(name))
    wait_for_kernel(page)


def command(page: Page, name: str) -> None:
    """Start a command of JupyterLab; it may still run when this returns."""
    page.evaluate("name => { void window.jupyterapp.commands.execute(name); }", name)


def run_all(page: Page) -> None:
    """Run every cell to the end."""
    finished = page.evaluate(
        """limit => Promise.race([
            window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => true),
            new Promise(resolve => setTimeout(() => resolve(false), limit)),
        ])""",
        RUN_TIMEOUT,
    )
    assert finished, "the cells did not end in time"


def restart_kernel(page: Page) -> None:
    """Restart the kernel of the open notebook, without the question."""
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )


class Explorer:
    """One explorer on the page: in a cell, in the panel, or in a tab."""

    def __init__(self, page: Page, place: str) -> None:
        self.page = page
        self.root = page.locator(f"{place} .tvmlab-explorer")

    @classmethod
    def in_cell(cls, page: Page) -> Explorer:
        return cls(page, ".jp-OutputArea")

    @classmethod
    def in_panel(cls, page: Page) -> Explorer:
        return cls(page, "#tvmlab-panel")

    @classmethod
    def in_tab(cls, page: Page) -> Explorer:
        return cls(page, "#jp-main-dock-panel .tvmlab-SessionView")

    @property
    def tree(self) -> Locator:
        return self.root.get_by_role("tree")

    @property
    def lines(self) -> Locator:
        return self.root.get_by_role("treeitem")

    @property
    def card(self) -> Locator:
        return self.root.locator(".tvmlab-card")

    @property
    def note(self) -> Locator:
        return self.root.locator(".tvmlab-note")

    @property
    def points(self) -> Locator:
        return self.root.locator(".tvmlab-point")

    @property
    def current_point(self) -> Locator:
        return self.root.locator(".tvmlab-point.tvmlab-now")

    def line(self, name: str) -> Locator:
        """The loop of a name."""
        exact = re.compile(rf"\bfor {re.escape(name)} in\b")
        return self.lines.filter(has=self.page.locator(".tvmlab-text", has_text=exact))

    def select(self, name: str) -> None:
        """Click a loop, and wait for its actions."""
        self.line(name).click()
        expect(self.line(name)).to_have_attribute("aria-selected", "true")
        expect(self.root.locator(".tvmlab-side h4")).to_contain_text(name)
        expect(self.root.locator("[data-action]").first).to_be_visible()

    def press(self, *keys: str) -> None:
        """Press keys with the focus in the nest."""
        self.tree.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def kinds(self) -> str:
        """The letters before the lines, top to bottom."""
        return "".join(self.root.locator(".tvmlab-kind").all_text_contents())

    def loops(self) -> list[str]:
        """Names of the loops, outermost first."""
        rows = self.lines.filter(has_text=re.compile("^.for "))
        return rows.locator(".tvmlab-name").all_text_contents()

    def state(self, place: int = -1) -> Locator:
        """A state in the history strip."""
        return self.root.locator("[data-node]").nth(place)
