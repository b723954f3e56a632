"""Counters of the processor and of the system, by Linux' `perf_event_open`.

The processor's need a performance monitoring unit, which many virtual machines hide; the system's
own (time on the CPU, page faults, changes of context) are there without one. What cannot be opened
says why, in words.

>>> with Counters([*HARDWARE, *SOFTWARE]) as counters:         # doctest: +SKIP
...     kernel(a, b, c)
>>> counters.read()                                            # doctest: +SKIP
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

try:
    import fcntl
except ImportError:  # pragma: no cover - no counters where there are no files of this kind
    fcntl = None

_NUMBERS = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
_SIZE = 128
_TIMES = 1 | 2  # read_format: how long the event was wanted, and how long it was counted
_DISABLED, _INHERIT, _NO_KERNEL, _NO_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_ENABLE, _DISABLE = 0x2400, 0x2401
_CACHE = 3


@dataclass(frozen=True, slots=True)
class Event:
    """Something that can be counted: its name, and the system's numbers for it."""

    name: str
    kind: int
    config: int
    unit: str = ""


def _misses(cache: int) -> int:
    """The number for read misses of a cache."""
    return cache | 1 << 16


HARDWARE = (
    Event("cycles", 0, 0),
    Event("instructions", 0, 1),
    Event("L1 data misses", _CACHE, _misses(0)),
    Event("cache misses beyond L2", 0, 3),
    Event("last-level misses", _CACHE, _misses(2)),
    Event("branch misses", 0, 5),
)
SOFTWARE = (
    Event("time on the CPU", 1, 1, "ns"),
    Event("page faults", 1, 2),
    Event("context switches", 1, 3),
    Event("moves to another CPU", 1, 4),
)


@dataclass(frozen=True, slots=True)
class Counted:
    """An event, and how often it happened; scaled up if the processor counted in turns."""

    name: str
    value: float
    unit: str
    scaled: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """An event that cannot be counted here, and why."""

    name: str
    reason: str


class Counters:
    """Counts events of this process and the threads that it starts later, while entered."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.missing: list[Missing] = []
        self._open: list[tuple[Event, int]] = []
        for event in events:
            file = open_event(event, flags=_INHERIT)
            if isinstance(file, str):
                self.missing.append(Missing(event.name, file))
            else:
                self._open.append((event, file))

    def __enter__(self) -> Counters:
        self._tell(_ENABLE)
        return self

    def __exit__(self, *_exception: object) -> None:
        self._tell(_DISABLE)

    def read(self) -> list[Counted]:
        """What was counted so far."""
        found: list[Counted] = []
        for event, file in self._open:
            value, wanted, counted = struct.unpack("QQQ", os.read(file, 24))
            if counted == 0 and wanted > 0:
                self.missing.append(Missing(event.name, "the processor was never free to count it"))
                continue
            scale = wanted / counted if counted else 1.0
            found.append(Counted(event.name, value * scale, event.unit, scale > 1.0))
        return found

    def close(self) -> None:
        """Give the counters back."""
        for _, file in self._open:
            os.close(file)
        self._open.clear()

    def _tell(self, what: int) -> None:
        for _, file in self._open:
            switch(file, what)


def switch(file: int, what: int) -> None:
    """Have an event counted, or not."""
    assert fcntl is not None
    fcntl.ioctl(file, what, 0)


def enable(file: int) -> None:
    """Begin to count."""
    switch(file, _ENABLE)


def disable(file: int) -> None:
    """Count no more."""
    switch(file, _DISABLE)


def open_event(
    event: Event, *, thread: int = 0, period: int = 0, sample: int = 0, flags: int = 0
) -> int | str:
    """The file of an event that is not counted yet, or why there is none.

    Parameters
    ----------
    thread
        Whose event; 0 for the caller.
    period, sample
        Take a sample, of these things, each time that so many have happened.
    """
    number = _NUMBERS.get(platform.machine())
    if fcntl is None or number is None or platform.system() != "Linux":
        return f"{platform.system()} on {platform.machine()} has no perf_event_open"
    # What the system does for a program counts only where one may look into it.
    reason = ""
    for hidden in (0, _NO_KERNEL | _NO_HYPERVISOR):
        attributes = bytearray(_SIZE)
        bits = _DISABLED | flags | hidden
        layout = (event.kind, _SIZE, event.config, period, sample, _TIMES, bits)
        struct.pack_into("=IIQQQQQ", attributes, 0, *layout)
        block = (ctypes.c_char * _SIZE).from_buffer(attributes)
        file = _call(number, block, thread)
        if not isinstance(file, str):
            return file
        reason = file
    return reason


def _call(number: int, block: ctypes.Array[ctypes.c_char], thread: int) -> int | str:
    library = ctypes.CDLL(None, use_errno=True)
    syscall = library.syscall
    syscall.restype = ctypes.c_long
    file = syscall(
        ctypes.c_long(number), ctypes.byref(block), ctypes.c_int(thread), ctypes.c_int(-1),
        ctypes.c_int(-1), ctypes.c_ulong(8),
    )  # fmt: skip
    if file >= 0:
        return int(file)
    code = ctypes.get_errno()
    known = _REASONS.get(code)
    name = errno.errorcode.get(code, str(code))
    return f"{known or os.strerror(code)} ({name})"


_REASONS = {
    errno.ENOENT: "this processor, or the virtual machine around it, offers no such counter",
    errno.EACCES: "the system forbids it; /proc/sys/kernel/perf_event_paranoid says to whom",
    errno.EPERM: "the system forbids it; a container may need CAP_PERFMON",
    errno.ENOSYS: "the system's kernel was made without perf_event_open",
    errno.EOPNOTSUPP: "the processor cannot count this",
    errno.EINVAL: "the system does not know this counter",
}
