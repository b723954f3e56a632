"""The notebook widget: an anywidget over a session. With `host_widget`, what imports anywidget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from tvmlab.inspect import nest_html

from .asking import fields_of
from .bundles import bundle_text
from .commands import answer
from .listeners import Message
from .options import view_options
from .recording import MIME, recording
from .session import Session


class ExplorerWidget(anywidget.AnyWidget):
    """Shows a session in the output of a cell, any number of times.

    The trait `state` carries the whole state, `preferences` how this view shows it; commands and
    replies are custom messages.
    """

    state = traitlets.Dict().tag(sync=True)
    preferences = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Session, options: Mapping[str, object] | None = None) -> None:
        self.session = session
        anywidget.AnyWidget.__init__(
            self,
            state=session.state,
            preferences=view_options(options),
            _esm=bundle_text("explorer.js"),
        )
        self._stop = session.subscribe(self._changed)
        self.on_msg(self._received)  # pyright: ignore[reportUnknownMemberType]

    def close(self) -> None:
        """Take the widget off its session; the session lives on."""
        self._stop()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The live view; and for who opens the notebook without a kernel, what it showed."""
        shown: Any = super()._repr_mimebundle_(**options)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if shown is None:
            return None
        data, metadata = shown
        kept = {MIME: recording(self.session, whole=False)}
        return {**data, **kept, "text/html": nest_html(self.session.schedule)}, metadata

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
