"""What the widgets of graphs and searches share: sessions of schedules are opened inside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget

from .bundles import bundle_text
from .inner import InnerSessions
from .listeners import Listener, Message


class HostWidget(anywidget.AnyWidget):
    """A view of something in which schedules are opened; a kind of it has a trait for its state.

    Parameters
    ----------
    subscribe
        Tells a listener each new state; returns a function that ends this.
    answer
        Carries out a command of the view and replies.
    traits
        The first state, by the name of the trait that holds it.
    """

    def __init__(
        self,
        subscribe: Callable[[Listener], Callable[[], None]],
        answer: Callable[[object], Message],
        **traits: Any,
    ) -> None:
        anywidget.AnyWidget.__init__(self, **traits, _esm=bundle_text("explorer.js"))
        self._answer = answer
        self._inner = InnerSessions(self._tell)
        (self._trait,) = traits
        self._stop = subscribe(lambda state: setattr(self, self._trait, state))
        self.on_msg(self._received)  # pyright: ignore[reportUnknownMemberType]

    def still(self) -> str:
        """What those see, as HTML, who open the notebook without a kernel."""
        raise NotImplementedError

    def close(self) -> None:
        """Take the widget off its sessions; they live on."""
        self._stop()
        self._inner.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        shown: Any = super()._repr_mimebundle_(**options)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if shown is None:
            return None
        data, metadata = shown
        return {**data, "text/html": self.still()}, metadata

    def _received(self, _widget: object, command: object, _buffers: Any) -> None:
        if not self._inner.take(command):
            self._tell(self._answer(command))

    def _tell(self, message: Message) -> None:
        self.send(message)  # pyright: ignore[reportUnknownMemberType]
