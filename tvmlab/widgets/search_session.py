"""`SearchSession`: a search that runs in the background while views look at it.

>>> session = SearchSession(tuner, trials=200)                     # doctest: +SKIP
>>> session.start(); session.pause(); session.resume(); session.wait()
>>> schedule = session.open(12).schedule                           # that of a trial
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable
from typing import Literal

from tvmlab.inspect import plain
from tvmlab.inspect.tuning_view import measured_trials, search_view
from tvmlab.support import TvmlabError, UserError
from tvmlab.tune import Tuner

from .listeners import Listener, Listeners, Message
from .registry import open_session
from .session import Session
from .telling import told

Status = Literal["ready", "running", "paused", "stopping", "done", "failed"]
VERSION = 1
_REFRESH_SECONDS = 0.4

_log = logging.getLogger(__name__)
_numbers = itertools.count(1)


class SearchSession:
    """One search with its controls, shared by any number of views.

    Parameters
    ----------
    tuner
        What searches; the trials that it has already count too.
    trials
        How many more to measure.
    """

    def __init__(self, tuner: Tuner, trials: int = 200) -> None:
        self.id = f"t{next(_numbers)}"
        self.tuner = tuner
        self.lock = threading.RLock()
        self._wanted = tuner.measured + trials
        self._status: Status = "ready"
        self._note = ""
        self._go = threading.Event()
        self._go.set()
        self._thread: threading.Thread | None = None
        self._listeners = Listeners(f"search {self.id}", self.lock)
        self._opened: dict[int, Session] = {}
        self._worked = 0.0
        self._done_while_working = 0
        self._shown = 0.0
        self._state: Message = {"revision": 0, **self._write()}

    # ----------------------------------------------------------------- views

    @property
    def state(self) -> Message:
        """What the views show, as plain data. Never changed in place."""
        return self._state

    @property
    def status(self) -> Status:
        return self._status

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a view with each new state; returns a function that ends this."""
        return self._listeners.add(listener)

    def refresh(self) -> None:
        """Write the state anew and send it."""
        with self.lock:
            self._shown = time.monotonic()
            self._state = {"revision": self._state["revision"] + 1, **self._write()}
            self._listeners.tell(self._state)

    # -------------------------------------------------------------- controls

    def start(self, more: int = 0) -> None:
        """Begin, or go on after the end with so many more trials."""
        with self.lock:
            if self._thread is not None and self._thread.is_alive():
                raise UserError("the search runs already")
            if more:
                self._wanted = self.tuner.measured + more
            self.tuner.stop.clear()
            self._go.set()
            self._thread = threading.Thread(target=self._work, name="tvmlab-search", daemon=True)
            self._tell("running")
            self._thread.start()

    def pause(self) -> None:
        """Measure nothing more for now; what is under way is measured to its end."""
        with self.lock:
            if self._status != "running":
                raise UserError("the search does not run, so it cannot pause")
            self._go.clear()
            self._tell("paused")

    def resume(self) -> None:
        """Go on after a pause."""
        with self.lock:
            if self._status != "paused":
                raise UserError("the search does not pause")
            self._go.set()
            self._tell("running")

    def stop(self) -> None:
        """End the search; `start` goes on where it ended."""
        with self.lock:
            if self._status not in ("running", "paused"):
                raise UserError("the search does not run")
            self.tuner.stop.set()
            self._go.set()
            self._tell("stopping")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end; returns whether it came."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def close(self) -> None:
        """End the search, and wait until it has let go of its workers."""
        self.tuner.stop.set()
        self._go.set()
        self.wait(30)

    def open(self, trial: int) -> Session:
        """The session of a measured schedule, to look at and to change."""
        trials = measured_trials(self.tuner)
        if not 0 <= trial < len(trials):
            raise UserError(f"there is no trial {trial + 1} among {len(trials)}")
        with self.lock:
            if trial not in self._opened or self._opened[trial].closed:
                schedule = trials[trial].schedule(self.tuner.space.program)
                name = f"{self.tuner.workload.name}, trial {trial + 1}"
                self._opened[trial] = open_session(
                    schedule, target=self.tuner.space.target, name=name
                )
            return self._opened[trial]

    # --------------------------------------------------------------- working

    def _work(self) -> None:
        note, status = "", "done"
        try:
            self._measure()
            if self.tuner.stop.is_set():
                note = "Stopped; the log keeps what was measured."
            elif self.tuner.measured < self._wanted:
                note = "The search has ended early: nothing is left to try, or patience is over."
        except TvmlabError as error:
            note, status = told(error), "failed"
        except Exception as error:  # say so in the view; what was measured stays
            _log.exception("search %s failed", self.id)
            note, status = f"{type(error).__name__}: {error}", "failed"
        with self.lock:
            self._note = note
            self._tell("failed" if status == "failed" else "done")

    def _measure(self) -> None:
        last = time.monotonic()
        for trial in self.tuner.run(max(0, self._wanted - self.tuner.measured)):
            now = time.monotonic()
            self._worked += now - last
            self._done_while_working += trial.status != "refused"
            if now - self._shown > _REFRESH_SECONDS:
                self.refresh()
            self._go.wait()
            last = time.monotonic()

    def _tell(self, status: Status) -> None:
        self._status = status
        if status == "running":
            self._note = ""
        self.refresh()

    def _write(self) -> Message:
        view = plain(search_view(self.tuner))
        left = max(0, self._wanted - view["measured"])
        rate = self._done_while_working / self._worked if self._worked > 0 else None
        running = self._status in ("running", "paused")
        return {
            "version": VERSION,
            **view,
            "status": self._status,
            "note": self._note,
            "wanted": self._wanted,
            "rate": rate,
            "eta": left / rate if rate and running else None,
        }
