"""The notebook widget of a search that runs."""

from __future__ import annotations

from html import escape

import traitlets

from tvmlab.inspect import tuning_report

from .host_widget import HostWidget
from .search_commands import answer_search
from .search_session import SearchSession


class SearchWidget(HostWidget):
    """Shows a search in the output of a cell, any number of times; closed, the search goes on."""

    kind = traitlets.Unicode("search").tag(sync=True)
    search = traitlets.Dict().tag(sync=True)

    def __init__(self, session: SearchSession) -> None:
        self.session = session
        super().__init__(
            session.subscribe, lambda c: answer_search(session, c), search=session.state
        )

    def still(self) -> str:
        """A table of what was found."""
        report = tuning_report(self.session.tuner)
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in report.facts
        )
        return f"<table><caption>{escape(report.title)}</caption>{rows}</table>"
