"""What a machine can do at most, as it was measured: arithmetic and bytes a second by level.

`tvmlab.bench` measures and writes the file; default schedules and views read it.

>>> peaks = read_peaks()
>>> peaks and peaks.rate("float32", 1)                         # doctest: +SKIP
118.2
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tvmlab.runtime import default_cache_dir
from tvmlab.support import ParseError

from .machine import machine_id

_VERSION = 2


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """How fast data move from and to one level of the memory.

    Attributes
    ----------
    level
        "L1", "L2", "L3" or "memory".
    capacity
        Bytes that the level holds for these threads together; for memory, a very large number.
    bytes
        What all threads touch together in the measurement.
    read, write, copy
        GB/s; a copy counts what it reads and what it writes.
    """

    level: str
    threads: int
    capacity: int
    bytes: int
    read: float
    write: float
    copy: float


@dataclass(frozen=True, slots=True)
class MachinePeaks:
    """Measured limits of a machine, by number of threads: one, and all.

    Attributes
    ----------
    rates
        Billions of operations a second by type of the operands and threads: multiply-adds, and
        dot instructions where the processor has them, of which each product and each sum counts.
    clock
        GHz while one thread worked.
    """

    machine: str
    vector_bits: int
    clock: float
    rates: dict[str, dict[int, float]]
    bandwidths: tuple[Bandwidth, ...]

    def rate(self, dtype: str, threads: int) -> float | None:
        """Billions of operations a second for operands of a type, if that was measured."""
        return self.rates.get(dtype, {}).get(threads)

    @property
    def gflops(self) -> dict[int, float]:
        """Multiply-adds in float32 by threads, two operations each."""
        return self.rates.get("float32", {})

    def bandwidth(self, level: str, threads: int) -> Bandwidth | None:
        """The bandwidth of a level for a number of threads, if it was measured."""
        found = (b for b in self.bandwidths if (b.level, b.threads) == (level, threads))
        return next(found, None)

    def level_of(self, size: int, threads: int) -> Bandwidth | None:
        """The nearest level of the memory that holds so many bytes."""
        levels = [b for b in self.bandwidths if b.threads == threads]
        return next((b for b in levels if size <= b.capacity), levels[-1] if levels else None)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "machine": self.machine,
            "vector_bits": self.vector_bits,
            "clock": self.clock,
            "rates": {
                dtype: {str(threads): rate for threads, rate in by_threads.items()}
                for dtype, by_threads in self.rates.items()
            },
            "bandwidths": [asdict(b) for b in self.bandwidths],
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
            if data["version"] != _VERSION:
                raise ParseError(f"machine peaks of version {data['version']} cannot be read")
            rates = {
                str(dtype): {int(threads): float(rate) for threads, rate in by_threads.items()}
                for dtype, by_threads in data["rates"].items()
            }
            return MachinePeaks(
                str(data["machine"]),
                int(data["vector_bits"]),
                float(data["clock"]),
                rates,
                tuple(Bandwidth(**entry) for entry in data["bandwidths"]),
            )
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise ParseError(f"this is no record of machine peaks: {error}") from error


def read_peaks(folder: Path | None = None) -> MachinePeaks | None:
    """The limits of this machine if they were measured before; a damaged file counts as none."""
    try:
        return MachinePeaks.from_json(json.loads(peaks_path(folder).read_text()))
    except (OSError, ValueError, ParseError):
        return None


def peaks_path(folder: Path | None = None) -> Path:
    """The file of this machine."""
    return (folder or default_cache_dir()) / f"machine-{machine_id()}.json"
