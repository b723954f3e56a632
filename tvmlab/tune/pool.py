"""A pool of machines behind `dask.distributed`: each device a worker, by turns with its tasks.

Another machine joins with one command, which `worker_command` prints. A worker process of the pool
measures in a process of its own, so a candidate that crashes costs one result; if the worker itself
dies, its task runs again on another one, and Dask's nanny starts a new worker.

>>> with DaskRunner("tcp://10.0.0.1:8786") as runner:
...     Tuner(space, runner=runner)
"""

from __future__ import annotations

import atexit
import threading
from concurrent.futures import Future
from typing import Any

from tvmlab.support import OptionError, RuntimeFailure

from .measure import Measurer, MeasureRequest, MeasureResult

DEVICE = "device"
"""The resource of which each measurement takes one."""
_RETRIES = 2


class DaskRunner:
    """Measures on the workers of a Dask cluster.

    Parameters
    ----------
    address
        Of the scheduler, or a `distributed.Client` or cluster; None starts a cluster on this
        machine.
    workers
        Number of workers of a cluster that is started here.
    """

    def __init__(self, address: Any = None, workers: int = 1) -> None:
        distributed = _distributed()
        self._own: list[Any] = []
        if address is None:
            address = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                resources={DEVICE: 1},
                dashboard_address=None,
            )
            self._own.append(address)
        if isinstance(address, distributed.Client):
            self.client = address
        else:
            self.client = distributed.Client(address, timeout=30)
            self._own.insert(0, self.client)
        self._open: dict[Future[MeasureResult], Any] = {}
        self._guard = threading.Lock()

    def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
        """Queue a request; the result comes back as soon as it is there.

        If the scheduler is lost, waiting futures raise `RuntimeFailure`: none waits for ever.

        Raises
        ------
        RuntimeFailure
            If the scheduler is gone.
        """
        if self.client.status != "running":
            raise _lost(self.client)
        task = self.client.submit(
            measure_here,
            request.to_json(),
            resources={DEVICE: 1},
            retries=_RETRIES,
            pure=False,
        )
        future: Future[MeasureResult] = Future()
        with self._guard:
            self._open[future] = task

        def finish(done: Any) -> None:
            self._finish(future, done, request)

        task.add_done_callback(finish)
        return future

    def cancel(self, future: Future[MeasureResult] | None = None) -> None:
        """End one request, or all; what runs on a worker ends there by its own time limit."""
        with self._guard:
            chosen = [f for f in self._open if future is None or f is future]
            tasks = [self._open[f] for f in chosen]
        for one, task in zip(chosen, tasks, strict=True):
            # Settled first: a task that is cancelled otherwise was lost with its scheduler.
            _settle(one, MeasureResult("cancelled", error="the measurement was cancelled"))
            task.cancel()

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self.cancel()
        for part in self._own:
            part.close()
        self._own = []

    def __enter__(self) -> DaskRunner:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _finish(self, future: Future[MeasureResult], task: Any, request: MeasureRequest) -> None:
        with self._guard:
            self._open.pop(future, None)
        if task.status == "finished":
            _settle(future, MeasureResult.from_json(task.result()))
        elif task.status == "cancelled":
            if not future.done():
                future.set_exception(_lost(self.client))
        else:
            text = f"the pool could not measure it: {task.exception()}"
            result = MeasureResult("crash", error=text, program_hash=request.program_hash)
            _settle(future, result)


def _lost(client: Any) -> RuntimeFailure:
    address = getattr(getattr(client, "scheduler", None), "address", None) or "of the pool"
    return RuntimeFailure(
        f"the scheduler {address} is gone, and what it had under way is lost",
        hint="start it and its workers again: with a log, the search goes on where it ended",
    )


def worker_command(address: str) -> str:
    """What to type on another machine, with tvmlab installed, to make it a device of a pool."""
    return f'dask worker {address} --nthreads 1 --resources "{DEVICE}=1"'


def measure_here(request: dict[str, Any]) -> dict[str, Any]:
    """Measure on this worker; plain data in and out."""
    return _measurer().measure(MeasureRequest.from_json(request)).to_json()


_made: list[Measurer] = []
_making = threading.Lock()


def _measurer() -> Measurer:
    """The measurer of this worker process."""
    with _making:
        if not _made:
            _made.append(Measurer(1))
            atexit.register(_made[0].close)
        return _made[0]


def _settle(future: Future[MeasureResult], result: MeasureResult) -> None:
    """Give a future its result, unless it has one."""
    if not future.done():
        future.set_result(result)


def _distributed() -> Any:
    """The one place that imports Dask."""
    try:
        import distributed
    except ImportError as error:
        raise OptionError(
            "a pool of machines needs dask.distributed, which is not installed",
            hint='pip install "tvmlab[pool]"',
        ) from error
    except OSError as error:  # pragma: no cover - a configuration that cannot be read
        raise RuntimeFailure(f"dask.distributed cannot be loaded: {error}") from error
    return distributed
