"""Compiling kernels in several processes.

Python's threads gain nothing here, and the ways of `multiprocessing` run a user's script anew. So
workers are processes of `tvmlab.graph.compile_worker`, fed through pipes, each by a thread.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tvmlab.support import InternalError, TvmlabError, available_cpus
from tvmlab.target import Target

Request = tuple[str, str, str] | tuple[str, str, str, int]
"""The symbol and text of a group, the steps of its schedule, and what it may replace."""

Made = tuple[str, bytes, int, float, bool]
"""The symbol of a kernel, its object, and what else `CompiledKernel` tells."""


def compile_in_processes(
    requests: Sequence[Request], target: Target, cache: Path | None
) -> Iterator[Made]:
    """Each kernel as it is finished.

    Parameters
    ----------
    requests
        The fields of each `KernelRequest`.
    cache
        The folder of objects; None for no cache.

    Raises
    ------
    TvmlabError
        What a worker raised, or that one ended without an answer.
    """
    waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()
    for request in requests:
        waiting.put(request)
    results: queue.SimpleQueue[Made | TvmlabError] = queue.SimpleQueue()
    count = min(available_cpus(), len(requests))
    workers = [_start() for _ in range(count)]
    threads = [
        threading.Thread(target=_feed, args=(w, waiting, results, target, cache), daemon=True)
        for w in workers
    ]
    try:
        for thread in threads:
            thread.start()
        for _ in requests:
            made = results.get()
            if isinstance(made, TvmlabError):
                raise made
            yield made
    finally:
        for worker in workers:
            worker.kill()
        for thread in threads:
            thread.join()
        for worker in workers:
            _close(worker)


def _start() -> subprocess.Popen[bytes]:
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH", "")) if p)
    return subprocess.Popen(
        [sys.executable, "-m", "tvmlab.graph.compile_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def _close(worker: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # what was not sent yet is of no use any more
        worker.communicate()


def _feed(
    worker: subprocess.Popen[bytes],
    waiting: queue.SimpleQueue[Request],
    results: queue.SimpleQueue[Any],
    target: Target,
    cache: Path | None,
) -> None:
    """Hand requests to one worker until none is left."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    while True:
        try:
            request = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            pickle.dump((request, target, cache), worker.stdin)
            worker.stdin.flush()
            answer: Any = pickle.load(worker.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            results.put(
                InternalError(f"the process that compiled {request[0]} ended without a word")
            )
            return
        results.put(answer)
