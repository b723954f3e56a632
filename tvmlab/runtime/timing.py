"""Measuring: a distribution of times, not one number.

>>> measure(lambda: sum(range(100)), repeats=3, min_repeat_ms=0.1).repeats
3
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import OptionError, shown

_NOISY = 0.1
_LONGEST_REPEAT_MS = 1e6
_FLUSH_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per run in each repeat, and what one run does.

    `inner` runs were made per repeat. `flops` and `bytes_moved` are per run, if known.
    """

    seconds: tuple[float, ...]
    inner: int
    flops: float | None = None
    bytes_moved: float | None = None

    @property
    def repeats(self) -> int:
        return len(self.seconds)

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))

    @property
    def min(self) -> float:
        return min(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and third quartile."""
        first, third = np.quantile(self.seconds, [0.25, 0.75]).tolist()
        return first, third

    @property
    def noise(self) -> float:
        """The spread of the middle half, relative to the median."""
        first, third = self.quartiles
        return (third - first) / self.median if self.median else 0.0

    @property
    def noisy(self) -> bool:
        """Whether the spread is too large to compare small differences."""
        return self.noise > _NOISY

    @property
    def gflops(self) -> float | None:
        """Billions of floating-point operations per second, at the median."""
        return None if self.flops is None else self.flops / self.median / 1e9

    @property
    def gbytes_per_second(self) -> float | None:
        """Billions of bytes per second, at the median."""
        return None if self.bytes_moved is None else self.bytes_moved / self.median / 1e9

    def to_json(self) -> dict[str, Any]:
        """As plain data, with the derived numbers."""
        first, third = self.quartiles
        return {
            "seconds": list(self.seconds),
            "inner": self.inner,
            "median": self.median,
            "min": self.min,
            "quartiles": [first, third],
            "noise": self.noise,
            "gflops": self.gflops,
            "gbytes_per_second": self.gbytes_per_second,
        }

    def __str__(self) -> str:
        first, third = self.quartiles
        parts = [f"{_duration(self.median)} ({_duration(first)} to {_duration(third)}"]
        parts.append(f", {self.repeats} repeat{'s' * (self.repeats != 1)} of {self.inner})")
        if self.gflops:  # not for kernels that only move data
            parts.append(f", {self.gflops:.1f} GFLOP/s")
        if self.gbytes_per_second is not None:
            parts.append(f", {self.gbytes_per_second:.1f} GB/s")
        if self.noisy:
            parts.append(f", noisy: {self.noise:.0%}")
        return "".join(parts)


def measure(
    function: Callable[[], Any],
    *,
    repeats: int = 10,
    min_repeat_ms: float = 1.0,
    flush_cache: bool = False,
    flops: float | None = None,
    bytes_moved: float | None = None,
) -> Timing:
    """Measure a Python callable; its own call overhead is included."""

    def run(count: int) -> None:
        for _ in range(count):
            function()

    return measure_loop(
        run,
        repeats=repeats,
        min_repeat_ms=min_repeat_ms,
        flush_cache=flush_cache,
        flops=flops,
        bytes_moved=bytes_moved,
    )


def measure_loop(
    run: Callable[[int], None],
    *,
    repeats: int = 10,
    min_repeat_ms: float = 1.0,
    flush_cache: bool = False,
    flops: float | None = None,
    bytes_moved: float | None = None,
) -> Timing:
    """Measure `run(n)`, which does the work n times.

    The count is grown until a repeat lasts `min_repeat_ms`, which also warms up. With
    `flush_cache`, caches are emptied before each repeat, and a repeat is a single run.

    Raises
    ------
    OptionError
        If there are no repeats.
    """
    if not isinstance(repeats, int) or repeats < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionError(f"repeats is {shown(repeats)}; a number of at least 1 is needed")
    number = isinstance(min_repeat_ms, (int, float))  # pyright: ignore[reportUnnecessaryIsInstance]
    if not number or not 0 <= min_repeat_ms <= _LONGEST_REPEAT_MS:
        raise OptionError(
            f"min_repeat_ms is {shown(min_repeat_ms)}; it is a number of milliseconds, at most "
            f"{_LONGEST_REPEAT_MS:g}"
        )
    run(1)
    inner = 1 if flush_cache else _inner_count(run, min_repeat_ms / 1e3)
    samples: list[float] = []
    for _ in range(repeats):
        if flush_cache:
            _flush()
        samples.append(_timed(run, inner) / inner)
    return Timing(tuple(samples), inner, flops, bytes_moved)


def _inner_count(run: Callable[[int], None], wanted: float) -> int:
    """How many runs last the wanted time, by doubling at most tenfold at a time."""
    count = 1
    while (spent := _timed(run, count)) < wanted:
        growth = 1.2 * wanted / spent if spent > 0 else 10.0
        count = max(count + 1, int(count * min(growth, 10.0)))
    return count


def _timed(run: Callable[[int], None], count: int) -> float:
    start = time.perf_counter()
    run(count)
    return max(time.perf_counter() - start, 1e-9)


def _flush() -> None:
    """Read and write more memory than the caches hold."""
    block = _flush_block()
    np.add(block, 1, out=block)


@cache
def _flush_block() -> NDArray[Any]:
    return np.zeros(_FLUSH_BYTES, np.uint8)


def _duration(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
