"""Benchmark results as plain data, and the function that runs benchmarks."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmlab.runtime import get_num_threads
from tvmlab.support import RuntimeFailure
from tvmlab.target import MachinePeaks, read_peaks

from .operators import find_rows
from .roof import limit_seconds

_BLAS_OVERRIDES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Settings that make a BLAS use a kernel of another machine: a peer must run at its best."""

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
TURNS = 9


@dataclass(frozen=True, slots=True)
class Score:
    """What one contender did in a row.

    Attributes
    ----------
    seconds
        Of one run, one value for each turn.
    error
        The largest difference from the result in float64, in units of the largest element.
    prepared
        What it did beforehand, which is not in the time.
    facts
        What else is known of it, each with its name.
    """

    name: str
    seconds: tuple[float, ...]
    error: float
    prepared: str = ""
    facts: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """The middle half of the turns, relative to the median."""
        first, third = np.quantile(self.seconds, [0.25, 0.75]).tolist()
        return (third - first) / self.median


@dataclass(frozen=True, slots=True)
class BenchResult:
    """A row, measured: tvmlab first, then its peers, all in one run by turns.

    Attributes
    ----------
    flops, moved
        Operations of a run, and the bytes that it reads and writes at least.
    limit
        Seconds that the machine needs at least, as far as its limits were measured.
    missing
        Libraries that did not take part, and why.
    """

    group: str
    name: str
    threads: int
    dtype: str
    measure: str
    flops: int
    moved: tuple[int, int]
    scores: tuple[Score, ...]
    limit: float | None
    missing: dict[str, str]

    @property
    def ours(self) -> Score:
        return self.scores[0]

    @property
    def best_peer(self) -> Score | None:
        """The fastest of the others."""
        return min(self.scores[1:], key=lambda s: s.median, default=None)

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the best peer: above 1 is faster."""
        best = self.best_peer
        return None if best is None else best.median / self.ours.median

    @property
    def share(self) -> float | None:
        """The part of the machine's limit that is reached."""
        return None if self.limit is None else self.limit / self.ours.median

    @property
    def agrees(self) -> bool:
        """Whether the error is that of rounding: small, or not much above the peers'."""
        allowed = {"bfloat16": 2e-2, "float16": 2e-3, "float64": 1e-12}.get(self.dtype, 1e-5)
        peers = max((score.error for score in self.scores[1:]), default=0.0)
        return self.ours.error <= max(allowed, 4 * peers)

    def rate(self, score: Score) -> tuple[float, str]:
        """What a contender reached, and the unit."""
        if self.measure == "flops":
            return self.flops / score.median / 1e9, "GFLOP/s"
        if self.measure == "bytes":
            return sum(self.moved) / score.median / 1e9, "GB/s"
        return score.median * 1e3, "ms"

    def to_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "name": self.name,
            "threads": self.threads,
            "dtype": self.dtype,
            "unit": self.rate(self.ours)[1],
            "ratio": self.ratio,
            "share_of_limit": self.share,
            "agrees": self.agrees,
            "contenders": [
                {
                    "name": score.name,
                    "rate": self.rate(score)[0],
                    "median_seconds": score.median,
                    "spread": score.spread,
                    "error": score.error,
                    "prepared": score.prepared,
                    "facts": score.facts,
                    "seconds": list(score.seconds),
                }
                for score in self.scores
            ],
            "missing": self.missing,
        }


def run_benchmarks(
    names: Sequence[str] | None = None,
    threads: int | Sequence[int] | None = None,
    *,
    turns: int = TURNS,
    libraries: Sequence[str] | None = None,
    seen: Callable[[BenchResult], None] | None = None,
) -> list[BenchResult]:
    """Measure rows, in a process for each number of threads.

    Parameters
    ----------
    names
        Groups or rows, also patterns such as "sgemm-*"; all by default.
    threads
        Threads for everyone; by default as many as kernels use.
    turns
        How often everyone is measured.
    libraries
        The peers that take part; by default all that are installed.
    seen
        Called with each result as soon as it is there.

    Raises
    ------
    OptionError
        If a name is unknown.
    RuntimeFailure
        If the process fails.
    """
    rows = find_rows(names)
    counts = [threads] if isinstance(threads, int) else threads or [get_num_threads()]
    peaks, found = read_peaks(), list[BenchResult]()
    for count in counts:
        request = {
            "rows": [row.name for row in rows],
            "threads": count,
            "turns": turns,
            "libraries": None if libraries is None else list(libraries),
        }
        for data in _lines(request):
            found.append(_result(data, peaks))
            if seen is not None:
                seen(found[-1])
    return found


def _lines(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a contest process prints, as soon as it does."""
    environment = {k: v for k, v in os.environ.items() if k not in _BLAS_OVERRIDES}
    environment |= dict.fromkeys(_THREADS, str(request["threads"]))
    command = [sys.executable, "-m", "tvmlab.bench.contest", json.dumps(request)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            # Other libraries may print too.
            if line.startswith('{"group"'):
                yield json.loads(line)
        if process.wait():
            errors.seek(0)
            last = errors.read().strip().splitlines()[-3:]
            raise RuntimeFailure(
                "the benchmark process failed", notes=last or [f"exit status {process.returncode}"]
            )


def _result(data: dict[str, Any], peaks: MachinePeaks | None) -> BenchResult:
    read, written = data["moved"]
    scores = tuple(
        Score(c["name"], tuple(c["seconds"]), c["error"], c["prepared"], c["facts"])
        for c in data["contenders"]
    )
    limit = None
    if peaks is not None and data["measure"] != "seconds":
        limit = limit_seconds(peaks, data["threads"], data["dtype"], data["flops"], (read, written))
    return BenchResult(
        data["group"],
        data["name"],
        data["threads"],
        data["dtype"],
        data["measure"],
        data["flops"],
        (read, written),
        scores,
        limit,
        data["missing"],
    )
