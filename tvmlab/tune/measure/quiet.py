"""Quiet on the machine: building shares a lock, timing holds it alone.

The lock is a file, so it also keeps the workers of two notebooks apart, and it is free again as
soon as its holder dies. Who wants to time goes first: no build begins as long as one waits, so a
few workers fall into step by themselves, all build at the same time and then time one by one.
Nobody waits for ever: after `patience` seconds work goes on, marked disturbed.

>>> lock = QuietLock(path)
>>> with lock.alone() as disturbed:
...     ...
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - a system without file locks measures without them
    fcntl = None

_POLL_SECONDS = 0.001


class QuietLock:
    """A lock between processes, by a file that they all can open."""

    def __init__(self, path: str | os.PathLike[str], patience: float = 60.0) -> None:
        self.path = Path(path)
        self.patience = patience

    @contextmanager
    def shared(self) -> Generator[tuple[str, ...]]:
        """While any number of workers build, nobody times."""
        with self._held(exclusive=False) as disturbed:
            yield disturbed

    @contextmanager
    def alone(self) -> Generator[tuple[str, ...]]:
        """While one worker times, nobody else builds or times; yields what may disturb it."""
        with self._held(exclusive=True) as disturbed:
            yield disturbed

    @contextmanager
    def _held(self, *, exclusive: bool) -> Generator[tuple[str, ...]]:
        if fcntl is None:  # pragma: no cover
            yield ("this system has no file locks: other measurements may run at the same time",)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock, waiting = self._open(""), self._open(".waiting")
        try:
            attempt = _timing_turn if exclusive else _building_turn
            disturbed = self._wait(lambda: attempt(lock, waiting))
            os.close(waiting)
            waiting = -1
            yield disturbed
        finally:
            for descriptor in (lock, waiting):
                if descriptor >= 0:
                    os.close(descriptor)  # frees the lock

    def _open(self, ending: str) -> int:
        name = f"{self.path}{ending}"
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def _wait(self, attempt: Callable[[], None]) -> tuple[str, ...]:
        give_up = time.monotonic() + self.patience
        while True:
            try:
                attempt()
                return ()
            except BlockingIOError:
                if time.monotonic() > give_up:
                    return (f"another measurement held the machine for {self.patience:.0f} s",)
                time.sleep(_POLL_SECONDS)


@contextmanager
def alone_with(path: Path) -> Generator[None]:
    """Hold a lock file that one process has at a time; the others sleep until it is free."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _timing_turn(lock: int, waiting: int) -> None:
    """Say that one waits to time, and take the lock if nobody builds or times."""
    assert fcntl is not None
    fcntl.flock(waiting, fcntl.LOCK_SH | fcntl.LOCK_NB)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _building_turn(lock: int, waiting: int) -> None:
    """Take a share of the lock, unless somebody times or waits to."""
    assert fcntl is not None
    fcntl.flock(waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(waiting, fcntl.LOCK_UN)
    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU time so far: of this process, of the machine, and lost to a virtual machine's host."""

    wall: float
    own: float
    busy: float = math.nan
    stolen: float = math.nan

    @staticmethod
    def now() -> Usage:
        times = os.times()
        busy, stolen = _machine_seconds()
        return Usage(time.perf_counter(), times.user + times.system, busy, stolen)

    def disturbances(self, before: Usage) -> tuple[str, ...]:
        """What took the CPU away between two moments; nothing if the system does not tell."""
        cpu_seconds = (self.wall - before.wall) * (os.cpu_count() or 1)
        if cpu_seconds <= 0.05:  # the system counts in hundredths
            return ()
        found: list[str] = []
        others = (self.busy - before.busy - (self.own - before.own)) / cpu_seconds
        if others > 0.1:
            found.append(f"other processes used {min(others, 1):.0%} of the CPUs")
        stolen = (self.stolen - before.stolen) / cpu_seconds
        if stolen > 0.02:
            found.append(f"the virtual machine lost {min(stolen, 1):.0%} of its time to its host")
        return tuple(found)


def _machine_seconds() -> tuple[float, float]:
    """CPU seconds that all processes used, and seconds stolen, since the machine started."""
    try:
        with open("/proc/stat", encoding="ascii") as stat:
            words = stat.readline().split()
        ticks = [int(word) for word in words[1:9]]
        per_second = os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return math.nan, math.nan
    user, nice, system, _idle, _iowait, irq, softirq, stolen = ticks
    return (user + nice + system + irq + softirq) / per_second, stolen / per_second
