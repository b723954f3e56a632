"""The notebook widget of a compiled graph; beside `widget`, the one place that imports anywidget.

Messages to and from the session of a kernel's schedule, once one is opened, travel through it in an
envelope: `{"type": "inner", "session": id, "message": ...}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from tvmlab.inspect.graph_html import graph_html

from .asking import fields_of
from .bundles import bundle_text
from .commands import answer
from .graph_commands import answer_graph
from .graph_session import GraphSession
from .registry import find_session
from .session import Message


class GraphWidget(anywidget.AnyWidget):
    """Shows a compiled graph in the output of a cell, any number of times."""

    kind = traitlets.Unicode("graph").tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)

    def __init__(self, session: GraphSession) -> None:
        self.session = session
        anywidget.AnyWidget.__init__(self, graph=session.state, _esm=bundle_text("explorer.js"))
        self._stops: dict[str, Callable[[], None]] = {"": session.subscribe(self._changed)}
        self.on_msg(self._received)  # pyright: ignore[reportUnknownMemberType]

    def close(self) -> None:
        """Take the widget off its sessions; they live on."""
        for stop in self._stops.values():
            stop()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The live view; and for who opens the notebook without a kernel, a table."""
        shown: Any = super()._repr_mimebundle_(**options)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if shown is None:
            return None
        data, metadata = shown
        name = self.session.model.plan.name
        return {**data, "text/html": graph_html(name, self.session.rows())}, metadata

    def _changed(self, state: Message) -> None:
        self.graph = state

    def _received(self, _widget: object, command: object, _buffers: Any) -> None:
        fields = fields_of(command)
        if fields.get("type") == "inner":
            self._inner(str(fields.get("session")), fields.get("message"))
        else:
            self._tell(answer_graph(self.session, command))

    def _inner(self, name: str, command: object) -> None:
        """Carry out a command for the session of a kernel, and follow what happens to it."""
        session = find_session(name)
        with session.lock:
            if name not in self._stops:
                self._stops[name] = session.subscribe(lambda m: self._wrap(name, m))
            reply = answer(session, command)
            if fields_of(command).get("type") == "state":
                self._wrap(name, {"type": "state", "state": session.state})
            self._wrap(name, reply)

    def _wrap(self, name: str, message: Message) -> None:
        self._tell({"type": "inner", "session": name, "message": message})

    def _tell(self, message: Message) -> None:
        self.send(message)  # pyright: ignore[reportUnknownMemberType]
