"""`Measurer`: measures programs in worker processes, so that none can harm the notebook.

>>> with Measurer() as measurer:
...     result = measurer.measure(MeasureRequest.of(program))
>>> result.status
'ok'
"""

from __future__ import annotations

import contextlib
import queue
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tvmlab.runtime import default_cache_dir
from tvmlab.support import OptionError, RuntimeFailure, available_cpus

from .process import WorkerProcess
from .quiet import QuietLock
from .request import MeasureRequest
from .result import MeasureResult

_MOST_WORKERS = 16


class Runner(Protocol):
    """Whatever measures: local workers here, a device pool elsewhere."""

    def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
        """Queue a request."""
        ...

    def cancel(self, future: Future[MeasureResult] | None = None) -> None:
        """End one request, or all, waiting or running: the result has the status "cancelled"."""
        ...


@dataclass(slots=True, eq=False)
class _Job:
    request: MeasureRequest
    future: Future[MeasureResult]
    cancelled: bool = False


class Measurer:
    """A few worker processes behind a queue. They build at the same time and time one by one.

    Parameters
    ----------
    workers
        Number of processes. One needs the least memory; `busy_workers()` keep all cores at work
        while nobody times.
    lock
        File of the lock that keeps timing quiet on this machine; by default one for the user.
    """

    def __init__(self, workers: int = 1, *, lock: Path | None = None) -> None:
        if workers < 1:
            raise OptionError(f"a measurer needs at least one worker, not {workers}")
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock_file = lock or default_cache_dir() / "measure.lock"
        self.quiet = QuietLock(self._lock_file)
        self._scratch = Path(tempfile.mkdtemp(prefix="tvmlab-measure-"))
        self._slots = [
            _Slot(self._jobs, self._lock_file, self._scratch, number) for number in range(workers)
        ]
        self._state = threading.Lock()
        self._open: dict[Future[MeasureResult], _Job] = {}
        self._started = False
        self._closed = False
        self._finalizer = weakref.finalize(self, _shut_down, self._jobs, self._slots, self._scratch)

    def start(self) -> None:
        """Start the workers now, so that the first measurement need not wait for them."""
        with self._state:
            if self._closed:
                raise RuntimeFailure("the measurer is closed", hint="make a new one")
            if not self._started:
                self._started = True
                for slot in self._slots:
                    slot.start()

    def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
        """Queue a request; the future's result is a `MeasureResult`, whatever the program does.

        Raises
        ------
        RuntimeFailure
            If the measurer is closed.
        """
        self.start()
        job = _Job(request, Future())
        with self._state:
            self._open[job.future] = job
        job.future.add_done_callback(self._forget)
        self._jobs.put(job)
        return job.future

    def _forget(self, future: Future[MeasureResult]) -> None:
        with self._state:
            self._open.pop(future, None)

    def measure(self, request: MeasureRequest) -> MeasureResult:
        """Measure one program and wait for the result."""
        future = self.submit(request)
        try:
            return future.result()
        except KeyboardInterrupt:
            self.cancel(future)
            raise

    def measure_all(
        self, requests: Iterable[MeasureRequest]
    ) -> Iterator[tuple[int, MeasureResult]]:
        """Measure many programs; results come as they are ready, each with its request's place."""
        futures = {self.submit(request): place for place, request in enumerate(requests)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                self.cancel(future)

    def cancel(self, future: Future[MeasureResult] | None = None) -> None:
        """End one request, or all, waiting or running; the measurer stays usable.

        The result is a `MeasureResult` with the status "cancelled". A future that is done, or that
        another measurer made, is left as it is.
        """
        with self._state:
            jobs = [job for key, job in self._open.items() if future is None or key is future]
        for job in jobs:
            job.cancelled = True
            for slot in self._slots:
                slot.end(job)

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """The processes that run now."""
        return tuple(pid for slot in self._slots if (pid := slot.pid) is not None)

    def close(self) -> None:
        """End the workers and remove their files. Waiting requests end as cancelled."""
        self.cancel()
        with self._state:
            self._closed = True
        self._finalizer()

    def __enter__(self) -> Measurer:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def busy_workers() -> int:
    """So many workers measure the most programs in a second: some build, others wait to time."""
    return min(2 * available_cpus(), _MOST_WORKERS)


def while_nobody_times(runner: Runner) -> AbstractContextManager[object]:
    """For work beside a search, which would disturb what is timed on this machine."""
    return runner.quiet.shared() if isinstance(runner, Measurer) else contextlib.nullcontext()


def _shut_down(jobs: queue.SimpleQueue[_Job | None], slots: list[_Slot], scratch: Path) -> None:
    for slot in slots:
        slot.stop()
    for _ in slots:
        jobs.put(None)
    for slot in slots:
        slot.join()
    shutil.rmtree(scratch, ignore_errors=True)


class _Slot:
    """A thread that owns one worker process and replaces it when it has died."""

    def __init__(
        self, jobs: queue.SimpleQueue[_Job | None], lock: Path, scratch: Path, number: int
    ) -> None:
        self._jobs = jobs
        self._lock_file = lock
        self._scratch = scratch
        self._number = number
        self._guard = threading.Lock()
        self._process: WorkerProcess | None = None
        self._current: _Job | None = None
        self._stopped = False
        self._thread = threading.Thread(
            target=self._serve, name=f"tvmlab-measure-{number}", daemon=True
        )

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.alive else None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the process and let the thread end at its next look at the queue."""
        with self._guard:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def join(self) -> None:
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    def end(self, job: _Job) -> None:
        """End the process if it runs a job that was cancelled."""
        with self._guard:
            if self._current is job and self._process is not None:
                self._process.kill()

    def _serve(self) -> None:
        try:
            with contextlib.suppress(OSError):  # a worker that cannot start says so with a job
                self._ensure_process()
            while (job := self._jobs.get()) is not None:
                if job.future.set_running_or_notify_cancel():
                    job.future.set_result(self._run(job))
        finally:
            if self._process is not None:
                self._process.close()

    def _run(self, job: _Job) -> MeasureResult:
        with self._guard:
            if job.cancelled or self._stopped:
                return _cancelled(job)
            self._current = job
        try:
            result = self._ensure_process().measure(job.request)
        except Exception as error:  # the thread must outlive whatever goes wrong here
            text = f"the worker could not be used: {error}"
            result = MeasureResult(
                "crash", error=text, stage="start", program_hash=job.request.program_hash
            )
        with self._guard:
            self._current = None
            ended = job.cancelled or self._stopped
        return _cancelled(job) if ended and not result.ok else result

    def _ensure_process(self) -> WorkerProcess:
        process = self._process
        if process is None or not process.alive:
            if process is not None:
                process.close()
            process = WorkerProcess(self._lock_file, self._scratch, self._number)
            with self._guard:
                self._process = process
                if self._stopped or (self._current is not None and self._current.cancelled):
                    process.kill()
            with QuietLock(self._lock_file).shared():  # starting takes a core for a while
                process.warm()
        return process


def _cancelled(job: _Job) -> MeasureResult:
    return MeasureResult(
        "cancelled",
        error="the measurement was cancelled",
        program_hash=job.request.program_hash,
    )
