"""Benchmarks against peers: ratios measured in one run, never single times.

>>> from tvmlab.bench import run_benchmarks
>>> [result] = run_benchmarks(["matmul-1024"])
>>> result.ratio                                            # doctest: +SKIP
"""

from .results import BenchResult, run_benchmarks
from .workloads import CONTESTS

__all__ = ["CONTESTS", "BenchResult", "run_benchmarks"]
