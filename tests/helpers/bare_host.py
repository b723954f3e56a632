"""The notebook widget in a plain page, with a live session behind it: a host that is no JupyterLab.

The page loads the bundle that a cell loads and gives it the least that an anywidget host must:
a model with `get`, `send` and events. It starts in a fraction of the time that JupyterLab needs.
"""

from __future__ import annotations

import queue
from typing import Any

from helpers.explorer import Explorer
from playwright.sync_api import Page, Route

from tvmlab.schedule import Schedule
from tvmlab.widgets import Session
from tvmlab.widgets.bundles import bundle_text
from tvmlab.widgets.commands import answer

ADDRESS = "http://host.test/"
_PULL_MS = 40
_HOST = """<!doctype html><html lang="en" style="color-scheme: light dark"><meta charset="utf-8">
<title>A plain host</title><body style="margin: 0; background: Canvas"><main id="cell"></main>
<script type="module">
import widget from './explorer.js';
const heard = new Map();
const say = (name, value) => (heard.get(name) ?? []).forEach(listener => listener(value));
let state = await window.tvmlabState();
const model = {
  get: () => state,
  set: () => {},
  save_changes: () => {},
  send: message => void window.tvmlabSend(message).then(take),
  on: (name, listener) => heard.set(name, [...(heard.get(name) ?? []), listener]),
  off: (name, listener) => heard.set(name, (heard.get(name) ?? []).filter(f => f !== listener))
};
const take = ({ fresh, reply }) => {
  if (fresh) { state = fresh; say('change:state'); }
  if (reply) say('msg:custom', reply);
};
widget.render({ model, el: document.getElementById('cell') });
setInterval(() => void window.tvmlabPull().then(take), PULL);
</script></html>"""


class BareHost:
    """One page with the explorer of one session."""

    def __init__(self, page: Page, schedule: Schedule, **options: Any) -> None:
        self.page = page
        self.session = Session(schedule, **options)
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.session.subscribe(lambda _: self._news.put(None))
        page.route(f"{ADDRESS}**", self._serve)
        page.expose_function("tvmlabState", lambda: self.session.state)
        page.expose_function("tvmlabSend", self._receive)
        page.expose_function("tvmlabPull", self._pull)
        page.goto(ADDRESS)
        self.explorer = Explorer(page, "#cell")
        self.explorer.root.get_by_role("treeitem").first.wait_for()

    def insight(self, name: str) -> Any:
        """Open a tab of the insights and give its panel."""
        self.explorer.root.get_by_role("tab", name=name, exact=True).click()
        return self.explorer.root.get_by_role("tabpanel", name=name, exact=True)

    def close(self) -> None:
        """End the session."""
        self.session.close()

    def _receive(self, command: Any) -> Any:
        reply = answer(self.session, command)
        return {"fresh": self._pull()["fresh"], "reply": reply}

    def _pull(self) -> Any:
        """The state, if it is another one than before."""
        changed = False
        while not self._news.empty():
            self._news.get()
            changed = True
        return {"fresh": self.session.state if changed else None, "reply": None}

    def _serve(self, route: Route) -> None:
        if route.request.url.endswith("explorer.js"):
            script = bundle_text("explorer.js")
            route.fulfill(body=script, content_type="text/javascript")
        else:
            page = _HOST.replace("PULL", str(_PULL_MS))
            route.fulfill(body=page, content_type="text/html")
