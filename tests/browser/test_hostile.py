"""Names that nobody should choose: they are shown as they are, and do nothing."""

from __future__ import annotations

import pytest
from helpers.bare_host import bare_host
from helpers.explorer import Explorer
from playwright.sync_api import Page, expect

import tvmlab as tl
from tvmlab import te
from tvmlab.widgets import Session
from tvmlab.widgets.page import page_text

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = (
    "<script>window.hurt = 1</script>",
    "</script><img src=x onerror='window.hurt = 1'>",
    "\"'><b onmouseover=alert(1)>",
    "\u202egnirts\u202c \u2067right to left",
    "x" * 400,
)


def _schedule(name: str) -> tl.Schedule:
    source = te.placeholder((16,), name="A")
    out = te.compute((16,), lambda i: source[i] + 1.0, name="C")
    sch = tl.Schedule(out, name="plain")
    sch.checkpoint(name)
    return sch


@pytest.mark.parametrize("name", HOSTILE, ids=["script", "end", "quotes", "rtl", "long"])
def test_a_name_is_a_text_and_no_more(bare_page: Page, name: str) -> None:
    with bare_host(bare_page, Session(_schedule(name), name=name)) as host:
        expect(host.explorer.root.locator("[data-node] b")).to_have_text(name)
        _unhurt(bare_page)
        text = page_text(host.session)
    bare_page.set_content(text)
    kept = Explorer(bare_page, "#tvmlab-page")
    expect(kept.root.locator("[data-node] b")).to_have_text(name)
    _unhurt(bare_page)


def _unhurt(page: Page) -> None:
    """Nothing ran, no element was made, and no name makes the page wider than it is."""
    assert page.evaluate("() => window.hurt") is None
    assert page.locator(".tvmlab-explorer :is(script, img, [onmouseover])").count() == 0
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 1
