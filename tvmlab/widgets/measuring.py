"""Measuring for a session, in its background thread; worker processes do the work itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from tvmlab.bench.peaks import machine_peaks
from tvmlab.inspect import programs_without, step_label
from tvmlab.ir import Program, structural_hash
from tvmlab.schedule import HistoryNode, Schedule
from tvmlab.target import Target
from tvmlab.tune import Measurer, MeasureRequest, MeasureResult, Runner

from .desk import Desk
from .guesses import Guesses
from .guessing import Guessing, Held, limit_of
from .ledger import Ledger, PlottedSchedule, measured_of
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


@dataclass(frozen=True, slots=True)
class _Work:
    """A program to time; `node` is its state in the history, if it is one."""

    program: Program
    program_hash: str
    title: str
    label: str
    node: int | None


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
        self._running: Future[MeasureResult] | None = None
        self.guessing = Guessing()

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
        self._owner.desk.cancel()
        running = self._running
        if running is not None:
            self.runner.cancel(running)

    def measure_gains(self) -> None:
        """Time every state on the current path, and its end without each of its steps."""
        owner = self._owner
        with owner.lock:
            history = owner.schedule.history
            known = owner.writer.measured_nodes(owner.ledger)
            for node in history.path():
                if node.id not in known:
                    owner.desk.put(lambda cancelled, node=node: self._measure(node, cancelled))
            for label, program in programs_without(history):
                work = _Work(program, structural_hash(program), f"without {label}", label, None)
                if owner.ledger.measured(work.program_hash) is None:
                    owner.desk.put(lambda cancelled, work=work: self._time(work, cancelled))
            owner.refresh()

    def measure_machine(self) -> None:
        """Measure the ceilings of this machine, unless that was done before."""
        owner = self._owner

        def work(cancelled: threading.Event) -> None:
            if not cancelled.is_set():
                machine_peaks()
            with owner.lock:
                owner.show_job(None)

        with owner.lock:
            owner.desk.put(work)
            owner.show_job(JobReport("machine", "measuring the machine", 0, 1))

    def _measure(self, node: HistoryNode, cancelled: threading.Event) -> None:
        owner = self._owner
        start = owner.schedule.history.nodes[0]
        title = "measuring" if node is not start else "measuring the unscheduled program"
        label = node.label or step_label(node.step)
        work = _Work(node.program, owner.writer.hash_of(node), title, label, node.id)
        self._time(work, cancelled)

    def _time(self, work: _Work, cancelled: threading.Event) -> None:
        owner = self._owner
        start = owner.schedule.history.nodes[0]
        if cancelled.is_set() and work.node is None:
            return
        with owner.lock:
            owner.ledger.expect(work.program_hash, "running")
            owner.show_job(JobReport("measure", work.title, 0, 1))
        new = work.program_hash not in owner.ledger.seen
        predicted = self._guesses.predict(work.program) if new else None
        reference = None if work.node == start.id else start.program
        request = MeasureRequest.of(work.program, owner.target, reference=reference)
        result = self.run(request, cancelled)
        checked = reference is not None

        def publish() -> None:
            self._publish(work, result, predicted, checked=checked, new=new)

        with owner.lock:
            held = self._held(work, result, publish)
            if held is None or not self.guessing.hold(held):
                publish()
                return
            owner.ledger.forget_expected()
            owner.show_job(None)

    def _held(self, work: _Work, result: MeasureResult, publish: Callable[[], None]) -> Held | None:
        """A measurement that may be guessed first: a state whose parent, or start, is measured."""
        owner = self._owner
        nodes = owner.schedule.history.nodes
        times = measured_of(result)
        if work.node is None or times is None or work.node == 0:
            return None
        for number in (nodes[work.node].parent, 0):
            other = nodes[number or 0]
            base = owner.ledger.measured(owner.writer.hash_of(other))
            if base is not None:
                limit = limit_of(work.program, owner.ledger.flops, owner.target)
                against = other.label or step_label(other.step)
                return Held(work.label, against, base, times, limit, publish)
        return None

    def _publish(
        self,
        work: _Work,
        result: MeasureResult,
        predicted: float | None,
        *,
        checked: bool,
        new: bool,
    ) -> None:
        """Write a measurement down, show it, and learn from it."""
        owner = self._owner
        gflops = result.gflops(owner.ledger.flops) if owner.ledger.flops else None
        with owner.lock:
            if work.node is None:
                owner.ledger.file_aside(result, work.program_hash)
            else:
                owner.ledger.enter(result, work.program_hash, checked=checked)
            if predicted is not None and gflops is not None and work.node is not None:
                owner.ledger.points.append(
                    PlottedSchedule(
                        work.program_hash, work.label, predicted, gflops, None, work.node
                    )
                )
            owner.show_job(None)
        if new and result.status != "cancelled":
            owner.ledger.seen.add(work.program_hash)
            self._guesses.learn(work.program, gflops)
            with owner.lock:
                owner.ledger.remark = self._guesses.words
                owner.refresh()

    def run(self, request: MeasureRequest, cancelled: threading.Event) -> MeasureResult:
        """Measure and wait; whatever goes wrong is in the result."""
        if cancelled.is_set():
            return MeasureResult("cancelled", error="the measurement was cancelled")
        try:
            future = self._running = self.runner.submit(request)
            if cancelled.is_set():  # meanwhile
                self.runner.cancel(future)
            return future.result()
        except Exception as error:  # the runner itself failed: say so in the view
            return MeasureResult("crash", error=f"measuring is not possible: {error}")
        finally:
            self._running = None
