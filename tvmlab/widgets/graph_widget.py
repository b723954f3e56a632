"""The notebook widget of a compiled graph; with `widget`, one of those that import anywidget."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from tvmlab.inspect.graph_html import graph_html

from .bundles import bundle_text
from .graph_commands import answer_graph
from .graph_session import GraphSession
from .inner import InnerSessions
from .listeners import Message


class GraphWidget(anywidget.AnyWidget):
    """Shows a compiled graph in the output of a cell, any number of times."""

    kind = traitlets.Unicode("graph").tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)

    def __init__(self, session: GraphSession) -> None:
        self.session = session
        anywidget.AnyWidget.__init__(self, graph=session.state, _esm=bundle_text("explorer.js"))
        self._inner = InnerSessions(self._tell)
        self._stop = session.subscribe(self._changed)
        self.on_msg(self._received)  # pyright: ignore[reportUnknownMemberType]

    def close(self) -> None:
        """Take the widget off its sessions; they live on."""
        self._stop()
        self._inner.close()
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
        if not self._inner.take(command):
            self._tell(answer_graph(self.session, command))

    def _tell(self, message: Message) -> None:
        self.send(message)  # pyright: ignore[reportUnknownMemberType]
