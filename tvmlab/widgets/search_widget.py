"""The notebook widget of a search that runs; with `widget`, one of those that import anywidget."""

from __future__ import annotations

from html import escape
from typing import Any

import anywidget
import traitlets

from tvmlab.inspect import tuning_report

from .bundles import bundle_text
from .inner import InnerSessions
from .listeners import Message
from .search_commands import answer_search
from .search_session import SearchSession


class SearchWidget(anywidget.AnyWidget):
    """Shows a search in the output of a cell, any number of times."""

    kind = traitlets.Unicode("search").tag(sync=True)
    search = traitlets.Dict().tag(sync=True)

    def __init__(self, session: SearchSession) -> None:
        self.session = session
        anywidget.AnyWidget.__init__(self, search=session.state, _esm=bundle_text("explorer.js"))
        self._inner = InnerSessions(self._tell)
        self._stop = session.subscribe(self._changed)
        self.on_msg(self._received)  # pyright: ignore[reportUnknownMemberType]

    def close(self) -> None:
        """Take the widget off its search, which goes on."""
        self._stop()
        self._inner.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The live view; and for who opens the notebook without a kernel, what was found."""
        shown: Any = super()._repr_mimebundle_(**options)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if shown is None:
            return None
        data, metadata = shown
        report = tuning_report(self.session.tuner)
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in report.facts
        )
        table = f"<table><caption>{escape(report.title)}</caption>{rows}</table>"
        return {**data, "text/html": table}, metadata

    def _changed(self, state: Message) -> None:
        self.search = state

    def _received(self, _widget: object, command: object, _buffers: Any) -> None:
        if not self._inner.take(command):
            self._tell(answer_search(self.session, command))

    def _tell(self, message: Message) -> None:
        self.send(message)  # pyright: ignore[reportUnknownMemberType]
