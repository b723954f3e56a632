"""Measuring by itself: once steps have rested, and given up when the next one comes."""

from __future__ import annotations

import threading
from collections.abc import Callable

REST_SECONDS = 0.4


class AutoMeasure:
    """Starts a measurement a moment after the last step, while it is switched on.

    Parameters
    ----------
    measure, cancel
        Start the measurement of the current state; end one that runs.
    rest
        How long steps must rest, in seconds.
    """

    def __init__(
        self,
        measure: Callable[[], None],
        cancel: Callable[[], None],
        rest: float = REST_SECONDS,
    ) -> None:
        self.on = False
        self.rest = rest
        self._measure = measure
        self._cancel = cancel
        self._timer: threading.Timer | None = None
        self._started = False

    def step(self) -> None:
        """A step was taken: figures of the state before are not waited for any more."""
        if not self.on:
            return
        self.stop()
        if self._started:
            self._started = False
            self._cancel()
        self._timer = threading.Timer(self.rest, self._start)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Forget a measurement that has not begun."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start(self) -> None:
        self._started = True
        self._measure()
