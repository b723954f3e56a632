"""Measures what this machine can do at most: multiply-adds a second, bytes a second by level.

Rates of kernels are read against these. They are measured once, in about a second, and kept in a
file of the cache folder, one for each machine; `tvmlab.target` reads it.

>>> peaks = machine_peaks()
>>> peaks.gflops[2]                                          # doctest: +SKIP
451.2
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.codegen import compile_module
from tvmlab.runtime import (
    BufferParam,
    Kernel,
    ScalarParam,
    Signature,
    default_cache_dir,
    empty,
    num_threads,
)
from tvmlab.support import FLOAT32, INDEX, write_whole
from tvmlab.target import Bandwidth, MachinePeaks, Target, machine_id, peaks_path, read_peaks
from tvmlab.tune import QuietLock

from .peak_ir import CHAINS, CLOCK_STEPS, STREAMS, Multiply, clock_ir, multiply_kinds, rate_ir
from .stream_ir import copy_ir, read_ir, write_ir

Floats: TypeAlias = NDArray[np.float32]
_REPEATS = 5
_STEPS = 200_000
_PASS_BYTES = 16 << 20
"""What a thread reads before it meets the others again: far more than waking it costs."""
_MOST_BYTES = 256 << 20
_UNLIMITED = 1 << 62


def machine_peaks(folder: Path | None = None, *, again: bool = False) -> MachinePeaks:
    """The limits of this machine, from its file, or measured now (about a second) and kept.

    Parameters
    ----------
    folder
        Where the file is; by default the cache folder.
    again
        Measure even if there is a file, for example because the machine was busy then.
    """
    known = None if again else read_peaks(folder)
    if known is not None:
        return known
    peaks = measure_peaks(Target.host())
    # A folder that cannot be written means measuring again next time.
    with contextlib.suppress(OSError):
        write_whole(peaks_path(folder), json.dumps(peaks.to_json(), indent=1))
    return peaks


def measure_peaks(target: Target, *, quick: bool = False) -> MachinePeaks:
    """Measure the limits of this machine, while no other measurement runs.

    Parameters
    ----------
    target
        A description of this machine: how wide its vectors are, how many threads it has.
    quick
        A few milliseconds only: for tests, not for numbers.
    """
    counts = sorted({1, target.num_threads})
    with QuietLock(default_cache_dir() / "measure.lock", patience=10.0).alone():
        rates = {
            kind.dtype: {threads: _rate(kind, target, threads, quick) for threads in counts}
            for kind in multiply_kinds(target)
        }
        clock = clock_ghz(target)
        streams = _Streams(target)
        bandwidths = [
            streams.bandwidth(level, threads, capacity, size, quick)
            # The largest first, whose arrays the others use.
            for threads in counts
            for level, capacity, size in reversed(_working_sets(target, threads, quick))
        ]
        bandwidths.sort(key=lambda b: (b.threads, b.capacity))
    return MachinePeaks(machine_id(), target.vector_bits, clock, rates, tuple(bandwidths))


def clock_ghz(target: Target | None = None) -> float:
    """The clock at this moment, from a chain of operations of one cycle each."""
    machine = target or Target.host()
    kernel = _kernel(clock_ir(), machine, "peak_clock", ("D", "steps", "threads"))
    data = np.arange(16, dtype=np.float32)
    timing = kernel.time(data, 2_000, 1, repeats=_REPEATS, min_repeat_ms=1.0)
    return CLOCK_STEPS * 2_000 / timing.min / 1e9


def _kernel(text: str, target: Target, name: str, params: Sequence[str]) -> Kernel:
    """A kernel whose parameters are float32 buffers (capitals) and whole numbers."""
    made = [
        BufferParam(p, FLOAT32, (f"size{p}",), written=True)
        if p.isupper()
        else ScalarParam(p, INDEX)
        for p in params
    ]
    sizes = [ScalarParam(f"size{p}", INDEX) for p in params if p.isupper()]
    signature = Signature(name, (*made, *sizes))
    return Kernel(compile_module(text, target).object_bytes, signature)


def _rate(kind: Multiply, target: Target, threads: int, quick: bool) -> float:
    kernel = _kernel(rate_ir(kind), target, "peak_rate", ("D", "steps", "threads"))
    # Half of a number between 0 and 1, and a half more, is such a number again.
    words = (2 + CHAINS + threads) * kind.lanes * kind.bytes // 4
    data = np.full(words, 0.5, np.float32)
    steps = _STEPS // 100 if quick else _STEPS
    with num_threads(threads):
        timing = kernel.time(data, steps, threads, repeats=_REPEATS, min_repeat_ms=_ms(quick))
    return float(kind.operations) * CHAINS * steps * threads / timing.min / 1e9


class _Streams:
    """The kernels that read, write and copy, compiled once.

    Far memory is also written past the caches, which do not fetch the lines first then; the faster
    way is what the machine can do.
    """

    def __init__(self, target: Target) -> None:
        self.lanes = target.lanes(32)
        self._data = self._other = _ones(0)
        params = ("D", "E", "blocks", "steps", "threads")
        text = {"read": read_ir(self.lanes)}
        text |= {"write": write_ir(self.lanes), "copy": copy_ir(self.lanes)}
        text |= {"write past": write_ir(self.lanes, past_caches=True)}
        text |= {"copy past": copy_ir(self.lanes, past_caches=True)}
        self._kernels = {
            name: _kernel(code, target, f"peak_{name.split()[0]}", params)
            for name, code in text.items()
        }

    def bandwidth(
        self, level: str, threads: int, capacity: int, size: int, quick: bool
    ) -> Bandwidth:
        """Read and write so many bytes, shared out to the threads; copy one half to the other."""
        whole, half = self._blocks(size, threads), self._blocks(size // 2, threads)
        far = ("", " past") if level == "memory" else ("",)
        with num_threads(threads):
            read = self._rate("read", whole, threads, quick)
            write = max(self._rate(f"write{way}", whole, threads, quick) for way in far)
            copy = max(2 * self._rate(f"copy{way}", half, threads, quick) for way in far)
        touched = whole * threads * self._block_bytes
        return Bandwidth(level, threads, capacity, touched, read, write, copy)

    @property
    def _block_bytes(self) -> int:
        return STREAMS * self.lanes * 4

    def _blocks(self, size: int, threads: int) -> int:
        return max(1, size // (self._block_bytes * threads))

    def _arrays(self, elements: int) -> tuple[Floats, Floats]:
        """The beginnings of two arrays: new pages would cost more than the measurement."""
        if elements > self._data.size:
            self._data, self._other = _ones(elements), _ones(elements)
        return self._data[:elements], self._other[:elements]

    def _rate(self, name: str, blocks: int, threads: int, quick: bool) -> float:
        elements = blocks * threads * self._block_bytes // 4
        data, other = self._arrays(max(elements, threads * self.lanes))
        pass_bytes = _PASS_BYTES >> 6 if quick else _PASS_BYTES
        steps = blocks * max(1, pass_bytes // (blocks * self._block_bytes))
        timing = self._kernels[name].time(
            data, other, blocks, steps, threads, repeats=_REPEATS, min_repeat_ms=_ms(quick)
        )
        return steps * threads * self._block_bytes / timing.min / 1e9


def _ones(elements: int) -> Floats:
    array = empty(elements, "float32")
    array[...] = 1.0
    return array


def _ms(quick: bool) -> float:
    return 0.1 if quick else 3.0


def _working_sets(target: Target, threads: int, quick: bool) -> list[tuple[str, int, int]]:
    """For each level its capacity, and bytes that fit in it, but not in the level before.

    Three quarters of it: the pages of an array fall into a cache at random, so a full one would
    miss now and then.
    """
    sets: list[tuple[str, int, int]] = []
    largest = 0
    for cache in target.caches:
        capacity = cache.size * (threads if cache.shared_by == 1 else 1)
        sets.append((f"L{cache.level}", capacity, min(capacity * 3 // 4, _MOST_BYTES)))
        largest = max(largest, cache.size)
    if not quick:
        sets.append(("memory", _UNLIMITED, min(max(4 * largest, 64 << 20), _MOST_BYTES)))
    return sets[:1] if quick else sets
