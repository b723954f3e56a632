"""axe-core over a page: what a person with a screen reader or weak eyes would stumble over."""

from __future__ import annotations

from functools import cache

from helpers.lab import REPOSITORY
from playwright.sync_api import Page

_SCRIPT = REPOSITORY / "extensions" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async ([root, rules]) => {
    const only = rules === null ? {} : {runOnly: {type: 'rule', values: rules}};
    const found = await axe.run(root, {resultTypes: ['violations'], ...only});
    const where = node => `${node.target.join(' ')}: ${node.any.map(c => c.message).join('; ')}`;
    const told = rule => [`${rule.impact} ${rule.id}`, ...rule.nodes.slice(0, 6).map(where)];
    return found.violations
        .filter(rule => ['serious', 'critical'].includes(rule.impact))
        .map(rule => told(rule).join('\\n'));
}"""


def installed() -> bool:
    """Whether the front end's development packages are there."""
    return _SCRIPT.is_file()


@cache
def _script() -> str:
    return _SCRIPT.read_text(encoding="utf-8")


def findings(
    page: Page, root: str = ".tvmlab-explorer", rules: tuple[str, ...] | None = None
) -> list[str]:
    """The serious and critical findings inside an element, by all rules or by some."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_script())
    return page.evaluate(_RUN, [root, rules])
