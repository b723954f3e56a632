"""The desk: one thread per session that does slow work in order, while views stay alive.

The thread waits for worker processes, so it costs the notebook nothing.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

Task = Callable[[threading.Event], None]
"""Slow work; it looks at the event between its parts and ends early once that is set."""

_log = logging.getLogger(__name__)


class Desk:
    """Runs tasks one after another in a thread of its own, started with the first."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: queue.SimpleQueue[tuple[Task, threading.Event] | None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._idle = threading.Condition(self._guard)
        self._open: list[threading.Event] = []
        self._thread: threading.Thread | None = None

    def put(self, task: Task) -> None:
        """Queue a task."""
        cancelled = threading.Event()
        with self._guard:
            self._open.append(cancelled)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()
        self._tasks.put((task, cancelled))

    def cancel(self) -> None:
        """Ask the running task to end early; waiting ones see the request at once."""
        with self._guard:
            for event in self._open:
                event.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until there is nothing to do; False if that takes longer than the timeout."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._open, timeout)

    def close(self) -> None:
        """Cancel everything and let the thread end."""
        self.cancel()
        with self._guard:
            started = self._thread is not None
        if started:
            self._tasks.put(None)

    @property
    def busy(self) -> bool:
        """Whether a task runs or waits."""
        with self._guard:
            return bool(self._open)

    def _serve(self) -> None:
        while (item := self._tasks.get()) is not None:
            task, cancelled = item
            try:
                task(cancelled)
            except Exception:  # a task reports its own failures; this one is a bug
                _log.exception("background work of %s failed", self._name)
            finally:
                with self._idle:
                    self._open.remove(cancelled)
                    self._idle.notify_all()
