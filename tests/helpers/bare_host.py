"""The notebook widget in a plain page, with a live session behind it: a host that is no JupyterLab.

The page loads the bundle that a cell loads and gives it the least that an anywidget host must. It
starts in a fraction of the time that JupyterLab needs, and shows that the bundle needs no more.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from helpers.explorer import Explorer
from playwright.sync_api import Locator, Page

from tvmlab.schedule import Schedule
from tvmlab.widgets import Session, answer
from tvmlab.widgets.bundles import bundle_text

POLL_SECONDS = 10

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>A plain host</title>
<body style="margin: 0; background: Canvas"><main id="cell"></main>
<script type="module">
import widget from './explorer.js';
const values = new Map(), heard = new Map();
const say = (name, value) => (heard.get(name) ?? []).forEach(listener => listener(value));
const post = message => fetch('./send', {method: 'POST', body: JSON.stringify(message)});
const model = {
  get: key => values.get(key),
  set: (key, value) => values.set(key, value),
  save_changes: () => undefined,
  send: message => void post(message).catch(() => undefined),
  on: (name, listener) => heard.set(name, [...(heard.get(name) ?? []), listener]),
  off: (name, listener) => heard.set(name, (heard.get(name) ?? []).filter(f => f !== listener))
};
const get = path => fetch(path).then(response => response.json());
async function follow() {
  for (let seen = 0; ;) {
    const messages = await get(`./events?${seen}`).catch(() => null);
    if (messages === null) return say('comm_live_update');
    seen += messages.length;
    for (const message of messages) {
      if (message.type === 'trait') { values.set('state', message.state); say('change:state'); }
      else say('msg:custom', message);
    }
  }
}
values.set('state', await get('./state'));
widget.render({model, el: document.getElementById('cell')});
void follow();
</script></html>
"""


class BareHost:
    """One page with the explorer of one session."""

    def __init__(self, page: Page, schedule: Schedule | Session, **options: Any) -> None:
        self.page = page
        is_session = isinstance(schedule, Session)
        self.session = schedule if is_session else Session(schedule, **options)
        self._wire = _Wire(self.session)
        page.goto(self._wire.url)
        self.explorer = Explorer(page, "#cell")
        self.explorer.root.get_by_role("treeitem").first.wait_for()

    def insight(self, name: str) -> Locator:
        """Open a tab of the insights and give its panel."""
        self.explorer.root.get_by_role("tab", name=name, exact=True).click()
        return self.explorer.root.get_by_role("tabpanel", name=name, exact=True)

    def die(self) -> None:
        """Stop answering, as a kernel that died does."""
        self._wire.close()

    def close(self) -> None:
        """End the session."""
        self._wire.close()
        self.session.close()


@contextmanager
def bare_host(page: Page, schedule: Schedule | Session, **options: Any) -> Generator[BareHost]:
    """An explorer in a plain page until the end of the block."""
    host = BareHost(page, schedule, **options)
    try:
        yield host
    finally:
        host.close()


Opened = Callable[[Schedule | Session], BareHost]
"""The fixture that shows a schedule or a session until the end of a test."""


class _Wire:
    """What lies between the page and the session: two requests, one of which waits for news."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._news: list[Any] = []
        self._more = threading.Condition()
        self._closed = False
        self._stop = session.subscribe(self._changed)
        handler = type("Handler", (_Handler,), {"wire": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def close(self) -> None:
        if self._closed:
            return
        self._stop()
        with self._more:
            self._closed = True
            self._more.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def carry_out(self, command: Any) -> None:
        """What the widget does with a message of a view."""
        with self.session.lock:
            reply = answer(self.session, command)
            if command.get("type") == "state":
                self._put({"type": "state", "state": self.session.state})
            self._put(reply)

    def after(self, count: int) -> list[Any] | None:
        """The news since the first so many, waiting for some; None once closed."""
        with self._more:
            self._more.wait_for(lambda: self._closed or len(self._news) > count, POLL_SECONDS)
            return None if self._closed else self._news[count:]

    def _changed(self, message: Any) -> None:
        del message
        self._put({"type": "trait", "state": self.session.state})

    def _put(self, message: Any) -> None:
        with self._more:
            self._news.append(message)
            self._more.notify_all()


class _Handler(BaseHTTPRequestHandler):
    wire: _Wire
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/":
            self._reply(_PAGE, "text/html; charset=utf-8")
        elif path == "/explorer.js":
            self._reply(bundle_text("explorer.js"), "text/javascript; charset=utf-8")
        elif path == "/state":
            self._reply(json.dumps(self.wire.session.state), "application/json")
        elif path == "/events":
            self._events(int(query))
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._reply("", "text/plain")
        self.wire.carry_out(json.loads(body))

    def _events(self, count: int) -> None:
        found = self.wire.after(count)
        if found is None:
            self.close_connection = True
        else:
            self._reply(json.dumps(found), "application/json")

    def _reply(self, text: str, media: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are nobody's news."""
