"""Threads that stay on their CPUs while a program is timed, as far as the system allows it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

from tvmlab.runtime import pin_threads


@contextlib.contextmanager
def bound_to_cpus(threads: int) -> Generator[None]:
    """Keep the caller on one CPU and the threads of parallel loops on the others, in turn."""
    if not hasattr(os, "sched_setaffinity"):  # pragma: no cover - not on Linux
        yield
        return
    allowed = sorted(os.sched_getaffinity(0))
    if threads > 1:
        pin_threads([*allowed[1:], allowed[0]])  # before the caller: they inherit its CPUs
    os.sched_setaffinity(0, allowed[:1])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
