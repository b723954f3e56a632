"""Benchmarks against peers: ratios measured in one run, never single times.

>>> from tvmlab.bench import run_benchmarks
>>> [result] = run_benchmarks(["matmul-1024"])
>>> result.ratio                                            # doctest: +SKIP
"""

from .peaks import Bandwidth, MachinePeaks, machine_peaks, measure_peaks, read_peaks
from .results import BenchResult, run_benchmarks
from .workloads import CONTESTS

__all__ = [
    "CONTESTS",
    "Bandwidth",
    "BenchResult",
    "MachinePeaks",
    "machine_peaks",
    "measure_peaks",
    "read_peaks",
    "run_benchmarks",
]
