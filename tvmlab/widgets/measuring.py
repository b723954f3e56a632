"""Measuring for a session, in its background thread; worker processes do the work itself."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Protocol

from tvmlab.inspect import step_label
from tvmlab.schedule import HistoryNode, Schedule
from tvmlab.target import Target
from tvmlab.tune import Measurer, MeasureRequest, MeasureResult, Runner

from .desk import Desk
from .guesses import Guesses
from .ledger import Ledger
from .state import JobReport, StateWriter


class Owner(Protocol):
    """What measuring needs of its session."""

    @property
    def schedule(self) -> Schedule: ...
    @property
    def target(self) -> Target: ...
    @property
    def lock(self) -> threading.RLock: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def desk(self) -> Desk: ...
    @property
    def writer(self) -> StateWriter: ...
    def refresh(self) -> None: ...
    def show_job(self, job: JobReport | None) -> None: ...


@lru_cache(maxsize=1)
def shared_measurer() -> Measurer:
    """The worker process that all sessions of this process share."""
    return Measurer()


class Measuring:
    """Measures states of a session's history.

    Parameters
    ----------
    runner
        Who measures; None for the shared worker process, started when first needed.
    """

    def __init__(self, owner: Owner, runner: Runner | None, guesses: Guesses) -> None:
        self._owner = owner
        self._guesses = guesses
        self._runner = runner

    @property
    def runner(self) -> Runner:
        """Who measures."""
        if self._runner is None:
            self._runner = shared_measurer()
        return self._runner

    def warm(self) -> None:
        """Start the worker process ahead of the first measurement."""
        if isinstance(self.runner, Measurer):
            self.runner.start()

    def measure(self) -> None:
        """Time the current state, and once the unscheduled program that gains are told against."""
        owner = self._owner
        with owner.lock:
            node, start = owner.schedule.history.node, owner.schedule.history.nodes[0]
            owner.ledger.expect(owner.writer.hash_of(node), "queued")
            owner.desk.put(lambda cancelled: self._measure(node, cancelled))
            if node is not start and owner.ledger.measured(owner.writer.hash_of(start)) is None:
                owner.desk.put(lambda cancelled: self._measure(start, cancelled))
            owner.refresh()

    def cancel(self) -> None:
        """End what runs and waits."""
        if self._owner.desk.busy:
            self._owner.desk.cancel()
            self.runner.cancel()

    def run(self, request: MeasureRequest) -> MeasureResult:
        """Measure and wait; whatever goes wrong is in the result."""
        try:
            return self.runner.submit(request).result()
        except Exception as error:  # the runner itself failed: say so in the view
            return MeasureResult("crash", error=f"measuring is not possible: {error}")

    def _measure(self, node: HistoryNode, cancelled: threading.Event) -> None:
        owner = self._owner
        start = owner.schedule.history.nodes[0]
        program_hash = owner.writer.hash_of(node)
        reference = None if node is start else start.program
        request = MeasureRequest.of(node.program, owner.target, reference=reference)
        title = "measuring" if node is not start else "measuring the unscheduled program"
        with owner.lock:
            owner.ledger.expect(program_hash, "running")
            owner.show_job(JobReport("measure", title, 0, 1))
        predicted = self._guesses.predict(node.program)
        if cancelled.is_set():
            result = MeasureResult("cancelled", error="the measurement was cancelled")
        else:
            result = self.run(request)
        with owner.lock:
            owner.ledger.enter(result, program_hash, checked=reference is not None)
            flops = owner.ledger.flops
            measured = result.gflops(flops) if flops else None
            if predicted is not None and measured is not None:
                name = node.label or step_label(node.step)
                owner.ledger.plot_state(node.id, program_hash, name, predicted, measured)
            owner.show_job(None)
