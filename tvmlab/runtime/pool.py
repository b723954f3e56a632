"""Threads for parallel loops: how many, and the functions that kernels call to use them.

>>> with num_threads(1):
...     get_num_threads()
1
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from platform import machine
from typing import Literal, TypeAlias

from tvmlab.support import OptionError, default_num_threads

from .engine import keep_for_ever, load_ir
from .pool_ir import CPU_WORDS, MAX_WORKERS, SERIAL_IR, SERIAL_SYMBOLS, SYMBOLS, pool_ir

Chunking: TypeAlias = Literal["static", "dynamic"]
"""How iterations are dealt out: one equal part per thread, or small parts as threads come free."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Addresses of the pool's functions; `threads` is None where only serial loops exist."""

    serial_for: int
    static_for: int
    dynamic_for: int
    repeat: int
    run_steps: int
    run_while: int
    threads: ctypes.c_int32 | None
    spin: ctypes.c_int32 | None
    started: ctypes.c_int32 | None
    cpus: ctypes.Array[ctypes.c_uint64] | None
    workers: ctypes.Array[ctypes.c_int32] | None

    def parallel_for(self, chunking: Chunking) -> int:
        """The address that a kernel gets as its `parallel_for`."""
        return self.static_for if chunking == "static" else self.dynamic_for


_Find: TypeAlias = Callable[[str], "int | None"]
_offered: list[tuple[_Find, bool]] = []


def offer_pool(find: _Find, *, own: bool = False) -> None:
    """Tell of a library that carries the pool's functions, for machines without LLVM.

    Parameters
    ----------
    own
        Whether this version of tvmlab wrote it: then it spares loading LLVM where that is there.
    """
    _offered.append((find, own))


def pool_code(arch: str) -> str:
    """The pool's functions as LLVM IR, for libraries that carry them."""
    return pool_ir(arch) or SERIAL_IR


def _loaded(text: str, symbols: Sequence[str]) -> Mapping[str, int]:
    """The addresses of the pool's functions: compiled now, or found in a library.

    LLVM takes 90 MB and a tenth of a second to load, which a saved module does not need.
    """
    if "llvmlite" not in sys.modules:
        found = _found([find for find, own in _offered if own], symbols)
        if found:
            return found
    try:
        return keep_for_ever(load_ir(text, symbols)).addresses
    except ModuleNotFoundError:
        found = _found([find for find, _ in _offered], symbols)
        if not found:
            raise
        return found


def _found(libraries: Sequence[_Find], symbols: Sequence[str]) -> dict[str, int]:
    """The addresses of symbols in the first library that has all of them."""
    for find in libraries:
        found = {symbol: find(symbol) for symbol in symbols}
        known = {symbol: address for symbol, address in found.items() if address is not None}
        if len(known) == len(symbols):
            return known
    return {}


@lru_cache(maxsize=1)
def _create_pool() -> Pool:
    arch = {"AMD64": "x86_64", "arm64": "aarch64"}.get(machine(), machine())
    text = pool_ir(arch) if sys.platform == "linux" else None
    if text is None:
        code = _loaded(SERIAL_IR, SERIAL_SYMBOLS)
        serial = code["tvmlab_serial_for"]
        return Pool(serial, serial, serial, code["tvmlab_repeat"], code["tvmlab_run_steps"],
                    code["tvmlab_run_while"], None, None, None, None, None)  # fmt: skip
    code = _loaded(text, SYMBOLS)
    os.register_at_fork(after_in_child=ctypes.CFUNCTYPE(None)(code["tvmlab_reset"]))
    pool = Pool(
        code["tvmlab_serial_for"],
        code["tvmlab_parallel_for"],
        code["tvmlab_parallel_for_dynamic"],
        code["tvmlab_repeat"],
        code["tvmlab_run_steps"],
        code["tvmlab_run_while"],
        ctypes.c_int32.from_address(code["tvmlab_threads"]),
        ctypes.c_int32.from_address(code["tvmlab_spin"]),
        ctypes.c_int32.from_address(code["tvmlab_started"]),
        (ctypes.c_uint64 * CPU_WORDS).from_address(code["tvmlab_cpus"]),
        (ctypes.c_int32 * (MAX_WORKERS + 1)).from_address(code["tvmlab_workers"]),
    )
    _allow(pool, os.sched_getaffinity(0))
    assert pool.threads is not None
    pool.threads.value = min(default_num_threads(), MAX_WORKERS)
    return pool


def _allow(pool: Pool, cpus: Iterable[int]) -> None:
    """Tell the pool which CPUs its workers may run on, as long as it moves them itself."""
    assert pool.cpus is not None
    words = [0] * CPU_WORDS
    for cpu in cpus:
        if cpu < 64 * CPU_WORDS:
            words[cpu // 64] |= 1 << cpu % 64
    pool.cpus[:] = words


_lock = threading.Lock()


def pool() -> Pool:
    """The process-wide pool; its threads start at the first parallel loop."""
    with _lock:
        return _create_pool()


def get_num_threads() -> int:
    """How many threads a parallel loop uses, the caller included."""
    threads = pool().threads
    return 1 if threads is None else threads.value


def set_num_threads(count: int) -> None:
    """Set how many threads parallel loops use from now on, in this process.

    Raises
    ------
    OptionError
        If the number is not between 1 and 1023.
    """
    if not 1 <= count <= MAX_WORKERS:
        raise OptionError(f"{count} threads were asked for; it must be 1 to {MAX_WORKERS}")
    threads = pool().threads
    if threads is not None:
        threads.value = count


def set_spin(rounds: int) -> None:
    """Set how often a waiting thread looks before it sleeps; more is quicker, and uses more power.

    Raises
    ------
    OptionError
        If the number is negative.
    """
    if rounds < 0:
        raise OptionError(f"{rounds} spin rounds were asked for; the number cannot be negative")
    spin = pool().spin
    if spin is not None:
        spin.value = rounds


def pin_threads(cpus: Sequence[int] | None) -> None:
    """Bind the pool's threads to CPUs, in turn, or (None) leave it to the system where they run.

    The caller of a kernel is a thread of the program's own and is not bound: `os.sched_setaffinity`
    does that. Threads that are started later, because the number is raised, are not bound either.

    Raises
    ------
    OptionError
        If this process may not use one of the CPUs, or none is given.
    """
    current = pool()
    if current.workers is None or current.started is None:
        return  # there are no threads
    allowed = os.sched_getaffinity(os.getpid())
    wanted = sorted(allowed) if cpus is None else list(cpus)
    if not wanted or not allowed.issuperset(wanted):
        raise OptionError(
            f"threads cannot be bound to the CPUs {wanted}",
            hint=f"this process may use {sorted(allowed)}",
        )
    _start_workers(current)
    _allow(current, allowed if cpus is None else ())
    for number in range(1, current.started.value + 1):
        own = wanted if cpus is None else [wanted[(number - 1) % len(wanted)]]
        os.sched_setaffinity(current.workers[number], own)


def _start_workers(pool: Pool) -> None:
    """Run a loop of one empty iteration for each thread, and wait until all are known."""
    count = get_num_threads()
    _FOR_TYPE(pool.static_for)(_NOTHING, None, count)
    assert pool.workers is not None
    assert pool.started is not None
    while not all(pool.workers[number] for number in range(1, pool.started.value + 1)):
        time.sleep(0.0001)


_BODY_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_FOR_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, _BODY_TYPE, ctypes.c_void_p, ctypes.c_int64)


def _nothing(context: int | None, begin: int, end: int) -> int:
    del context, begin, end
    return 0


_NOTHING = _BODY_TYPE(_nothing)


@contextmanager
def num_threads(count: int) -> Generator[None]:
    """Use another number of threads inside a `with` block."""
    before = get_num_threads()
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(before)
