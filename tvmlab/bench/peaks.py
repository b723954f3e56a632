"""What this machine can do at most: multiply-adds a second, bytes a second by cache level.

Rates of kernels are read against these. They are measured once and kept in a file of the cache
folder, one for each machine.

>>> peaks = machine_peaks()
>>> peaks.gflops[2]                                          # doctest: +SKIP
451.2
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

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
from tvmlab.support import FLOAT32, INDEX, ParseError
from tvmlab.target import Target
from tvmlab.tune import QuietLock, machine_id

from .peak_ir import CHAINS, STREAMS, copy_ir, fma_ir, read_ir

Floats: TypeAlias = NDArray[np.float32]
VERSION = 1
_REPEATS = 7
_FMA_STEPS = 500_000
_PASS_BYTES = 64 << 20
"""What a thread reads before it meets the others again: far more than waking it costs."""
_MOST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """How fast data move from one level of the memory.

    Attributes
    ----------
    level
        "L1", "L2", "L3" or "memory".
    bytes
        What all threads touch together in the measurement.
    read, copy
        GB/s; a copy counts what it reads and what it writes.
    """

    level: str
    threads: int
    bytes: int
    read: float
    copy: float


@dataclass(frozen=True, slots=True)
class MachinePeaks:
    """Measured limits of a machine, by number of threads: one, and all.

    Attributes
    ----------
    gflops
        Multiply-adds in float32, two operations each.
    """

    machine: str
    vector_bits: int
    gflops: dict[int, float]
    bandwidths: tuple[Bandwidth, ...]

    def bandwidth(self, level: str, threads: int) -> Bandwidth | None:
        """The bandwidth of a level for a number of threads, if it was measured."""
        found = (b for b in self.bandwidths if (b.level, b.threads) == (level, threads))
        return next(found, None)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "machine": self.machine,
            "vector_bits": self.vector_bits,
            "gflops": {str(threads): rate for threads, rate in self.gflops.items()},
            "bandwidths": [
                {
                    "level": b.level,
                    "threads": b.threads,
                    "bytes": b.bytes,
                    "read": b.read,
                    "copy": b.copy,
                }
                for b in self.bandwidths
            ],
        }

    @staticmethod
    def from_json(data: Any) -> MachinePeaks:
        """The peaks that `to_json` wrote.

        Raises
        ------
        ParseError
            If the data are not peaks, or of another version.
        """
        try:
            if data["version"] != VERSION:
                raise ParseError(f"machine peaks of version {data['version']} cannot be read")
            return MachinePeaks(
                str(data["machine"]),
                int(data["vector_bits"]),
                {int(threads): float(rate) for threads, rate in data["gflops"].items()},
                tuple(Bandwidth(**entry) for entry in data["bandwidths"]),
            )
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise ParseError(f"this is no record of machine peaks: {error}") from error


def machine_peaks(folder: Path | None = None, *, again: bool = False) -> MachinePeaks:
    """The limits of this machine, from its file, or measured now (about two seconds) and kept.

    Parameters
    ----------
    folder
        Where the file is; by default the cache folder.
    again
        Measure even if there is a file, for example because the machine was busy then.
    """
    path = peaks_path(folder)
    known = None if again else read_peaks(folder)
    if known is not None:
        return known
    peaks = measure_peaks(Target.host())
    _write(path, peaks)
    return peaks


def read_peaks(folder: Path | None = None) -> MachinePeaks | None:
    """The limits of this machine if they were measured before; a damaged file counts as none."""
    try:
        return MachinePeaks.from_json(json.loads(peaks_path(folder).read_text()))
    except (OSError, ValueError, ParseError):
        return None


def peaks_path(folder: Path | None = None) -> Path:
    """The file of this machine."""
    return (folder or default_cache_dir()) / f"machine-{machine_id()}.json"


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
        gflops = {threads: _fma_rate(target, threads, quick) for threads in counts}
        streams = _Streams(target)
        bandwidths = [
            streams.bandwidth(level, threads, size, quick)
            for threads in counts
            for level, size in _working_sets(target, threads, quick)
        ]
    return MachinePeaks(machine_id(), target.vector_bits, gflops, tuple(bandwidths))


def _write(path: Path, peaks: MachinePeaks) -> None:
    """Whole or not at all. A folder that cannot be written means measuring again next time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=".writing-", delete=False
        ) as file:
            json.dump(peaks.to_json(), file, indent=1)
        os.replace(file.name, path)


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


def _fma_rate(target: Target, threads: int, quick: bool) -> float:
    lanes = target.lanes(32)
    kernel = _kernel(fma_ir(lanes), target, "peak_fma", ("D", "steps", "threads"))
    # Half of a number between 0 and 1, and a half more, is such a number again.
    data = np.full((2 + CHAINS + threads) * lanes, 0.5, np.float32)
    steps = _FMA_STEPS // 100 if quick else _FMA_STEPS
    with num_threads(threads):
        timing = kernel.time(data, steps, threads, repeats=_REPEATS, min_repeat_ms=_ms(quick))
    return 2.0 * lanes * CHAINS * steps * threads / timing.min / 1e9


class _Streams:
    """The kernels that read and copy, compiled once."""

    def __init__(self, target: Target) -> None:
        self.lanes = target.lanes(32)
        params = ("D", "E", "blocks", "steps", "threads")
        self._read = _kernel(read_ir(self.lanes), target, "peak_read", params)
        self._copy = _kernel(copy_ir(self.lanes), target, "peak_copy", params)

    def bandwidth(self, level: str, threads: int, size: int, quick: bool) -> Bandwidth:
        """Read so many bytes, shared out to the threads; and copy one half to the other."""
        reading = self._blocks(size, threads)
        copying = self._blocks(size // 2, threads)
        with num_threads(threads):
            read = self._rate(self._read, reading, threads, quick)
            copy = 2 * self._rate(self._copy, copying, threads, quick)
        return Bandwidth(level, threads, reading * threads * self._block_bytes, read, copy)

    @property
    def _block_bytes(self) -> int:
        return STREAMS * self.lanes * 4

    def _blocks(self, size: int, threads: int) -> int:
        return max(1, size // (self._block_bytes * threads))

    def _rate(self, kernel: Kernel, blocks: int, threads: int, quick: bool) -> float:
        elements = blocks * threads * self._block_bytes // 4
        data, other = _ones(elements), _ones(max(elements, threads * self.lanes))
        pass_bytes = _PASS_BYTES >> 8 if quick else _PASS_BYTES
        steps = blocks * max(1, pass_bytes // (blocks * self._block_bytes))
        timing = kernel.time(
            data, other, blocks, steps, threads, repeats=_REPEATS, min_repeat_ms=_ms(quick)
        )
        return steps * threads * self._block_bytes / timing.min / 1e9


def _ones(elements: int) -> Floats:
    array = empty(elements, "float32")
    array[...] = 1.0
    return array


def _ms(quick: bool) -> float:
    return 0.1 if quick else 5.0


def _working_sets(target: Target, threads: int, quick: bool) -> list[tuple[str, int]]:
    """For each level bytes that fit in it, but not in the level before: three quarters full.

    The pages of an array fall into a cache at random, so a full one would miss now and then.
    """
    sets: list[tuple[str, int]] = []
    largest = 0
    for cache in target.caches:
        size = cache.size * (threads if cache.shared_by == 1 else 1) * 3 // 4
        sets.append((f"L{cache.level}", min(size, _MOST_BYTES)))
        largest = max(largest, cache.size)
    if not quick:
        sets.append(("memory", min(max(4 * largest, 64 << 20), _MOST_BYTES)))
    return sets[:1] if quick else sets
