"""The notebook widget of a compiled graph."""

from __future__ import annotations

import traitlets

from tvmlab.inspect.graph_html import graph_html

from .graph_commands import answer_graph
from .graph_session import GraphSession
from .host_widget import HostWidget


class GraphWidget(HostWidget):
    """Shows a compiled graph in the output of a cell, any number of times."""

    kind = traitlets.Unicode("graph").tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)

    def __init__(self, session: GraphSession) -> None:
        self.session = session
        super().__init__(session.subscribe, lambda c: answer_graph(session, c), graph=session.state)

    def still(self) -> str:
        """A table of the kernels."""
        return graph_html(self.session.model.plan.name, self.session.rows())
