"""Who is told of what happens in a session: its views, of which any may vanish at any time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

Message = dict[str, Any]
Listener = Callable[[Message], None]

_log = logging.getLogger(__name__)


class Listeners:
    """The views of one session.

    Parameters
    ----------
    whose
        What they look at, for the log.
    lock
        The lock of the session.
    """

    def __init__(self, whose: str, lock: AbstractContextManager[Any]) -> None:
        self._whose = whose
        self._lock = lock
        self._all: list[Listener] = []

    def add(self, listener: Listener) -> Callable[[], None]:
        """Tell one more of what happens; returns a function that ends this."""
        with self._lock:
            self._all.append(listener)

        def remove() -> None:
            with self._lock:
                if listener in self._all:
                    self._all.remove(listener)

        return remove

    def tell(self, message: Message) -> None:
        """Send a message to all; one that fails hears no more."""
        with self._lock:
            for listener in list(self._all):
                try:
                    listener(message)
                except Exception:  # a view that has gone must not stop the others
                    _log.warning("a view of %s is gone", self._whose, exc_info=True)
                    self._all.remove(listener)

    def clear(self) -> None:
        """Tell nobody any more."""
        with self._lock:
            self._all.clear()
