"""How fast a row could be at most on this machine, from its measured limits."""

from __future__ import annotations

from tvmlab.target import MachinePeaks


def limit_seconds(
    peaks: MachinePeaks, threads: int, dtype: str, flops: int, moved: tuple[int, int]
) -> float | None:
    """The time that arithmetic or memory alone would take, whichever is longer.

    None if neither was measured: for a number of threads other than one and all, or a type whose
    arithmetic is not known.
    """
    rate = peaks.rate(dtype, threads)
    arithmetic = flops / (rate * 1e9) if flops and rate else None
    memory = _memory_seconds(peaks, threads, moved)
    known = [seconds for seconds in (arithmetic, memory) if seconds]
    if flops and arithmetic is None:
        return None
    return max(known, default=None)


def _memory_seconds(peaks: MachinePeaks, threads: int, moved: tuple[int, int]) -> float | None:
    """Bytes read and written in pairs at the rate of a copy, the rest at its own."""
    level = peaks.level_of(sum(moved), threads)
    if level is None:
        return None
    read, written = moved
    both = min(read, written)
    seconds = 2 * both / level.copy + (read - both) / level.read + (written - both) / level.write
    return seconds / 1e9
