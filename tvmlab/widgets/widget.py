"""The notebook widget: an anywidget over a session. The one place that imports anywidget."""

from __future__ import annotations

from importlib import resources
from typing import Any

import anywidget
import traitlets

from tvmlab.support import OptionError

from .asking import fields_of
from .commands import answer
from .session import Message, Session


def bundle() -> str:
    """The built front end, which is part of an installed tvmlab.

    Raises
    ------
    OptionError
        If it has not been built in this source checkout.
    """
    path = resources.files("tvmlab") / "static" / "explorer.js"
    if not path.is_file():
        raise OptionError(
            "the explorer's front end has not been built in this checkout",
            hint="run: pip install -e . (or: npm run build in extensions/)",
        )
    return path.read_text(encoding="utf-8")


class ExplorerWidget(anywidget.AnyWidget):
    """Shows a session in the output of a cell, any number of times.

    The trait `state` carries the whole state; commands and replies are custom messages.
    """

    state = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Session) -> None:
        self.session = session
        anywidget.AnyWidget.__init__(self, state=session.state, _esm=bundle())
        self._stop = session.subscribe(self._changed)
        self.on_msg(self._received)  # pyright: ignore[reportUnknownMemberType]

    def close(self) -> None:
        """Take the widget off its session; the session lives on."""
        self._stop()
        super().close()

    def _changed(self, message: Message) -> None:
        del message  # the trait carries the state as a whole, and its revision
        self.state = self.session.state

    def _received(self, _widget: object, command: object, _buffers: Any) -> None:
        session = self.session
        with session.lock:
            reply = answer(session, command)
            if fields_of(command).get("type") == "state":
                self._tell({"type": "state", "state": session.state})
            self._tell(reply)

    def _tell(self, message: Message) -> None:
        self.send(message)  # pyright: ignore[reportUnknownMemberType]
