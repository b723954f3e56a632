"""Exploring for a session: measure random schedules, train the cost model, fill the plot.

A prediction is always made before its schedule is measured, so the plot shows what the model knew,
not what it remembers.
"""

from __future__ import annotations

import threading
import time

from tvmlab.support import TvmlabError
from tvmlab.tune import Record, explore_space

from .guesses import Guesses
from .ledger import PlottedSchedule
from .measuring import Measuring, Owner
from .state import JobReport
from .telling import told

_TITLE = "measuring random schedules"
_REFRESH_SECONDS = 0.1


class Exploring:
    """Random schedules for a session's cost model to learn from."""

    def __init__(self, owner: Owner, measuring: Measuring, guesses: Guesses) -> None:
        self._owner = owner
        self._measuring = measuring
        self._guesses = guesses
        self._explored = 0

    def explore(self, count: int, *, seed: int | None) -> None:
        """Queue the measurement of so many random schedules; a new seed each time by default."""
        owner = self._owner
        with owner.lock:
            chosen = self._explored if seed is None else seed
            self._explored += 1
            owner.desk.put(lambda cancelled: self._explore(count, chosen, cancelled))
            owner.show_job(JobReport("explore", _TITLE, 0, count, "waiting"))

    def _explore(self, count: int, seed: int, cancelled: threading.Event) -> None:
        owner = self._owner
        failure = ""
        try:
            self._take_records(count, seed, cancelled)
            self._guesses.learner.refit()  # with the last ones too
        except TvmlabError as error:
            failure = told(error)
        except Exception as error:  # say so in the view; the session goes on
            failure = f"{type(error).__name__}: {error}"
        with owner.lock:
            owner.ledger.remark = failure or self._guesses.words
            self._guesses.forget()
            owner.show_job(None)

    def _take_records(self, count: int, seed: int, cancelled: threading.Event) -> None:
        owner = self._owner
        records = explore_space(
            owner.schedule.history.nodes[0].program,
            n=count,
            seed=seed,
            measurer=self._measuring.runner,
            target=owner.target,
            cancel=cancelled,
            learner=self._guesses.learner,
        )
        shown = 0.0
        for done, record in enumerate(records, 1):
            with owner.lock:
                self._enter(record)
                if time.monotonic() - shown > _REFRESH_SECONDS:
                    shown = time.monotonic()
                    owner.ledger.remark = self._guesses.words
                    owner.show_job(JobReport("explore", _TITLE, done, count, _words(record)))

    def _enter(self, record: Record) -> None:
        ledger = self._owner.ledger
        ledger.seen.add(record.program_hash)
        ledger.file(record.result, record.program_hash, checked=True)
        if record.gflops is None or record.predicted_gflops is None:
            return
        ledger.points.append(
            PlottedSchedule(
                record.program_hash,
                f"random schedule {record.index}",
                record.predicted_gflops,
                record.gflops,
                record.trace,
                None,
            )
        )


def _words(record: Record) -> str:
    if record.gflops is None:
        return f"schedule {record.index}: {record.result.error}"
    return f"schedule {record.index}: {record.gflops:.1f} GFLOP/s"
