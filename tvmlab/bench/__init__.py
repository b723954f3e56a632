"""Benchmarks against peers: ratios measured in one run, never single times.

>>> from tvmlab.bench import run_benchmarks
>>> [result] = run_benchmarks(["sgemm-1024"])
>>> result.ratio                                            # doctest: +SKIP
"""

from .disturbance import Circumstances, Watch
from .operators import GROUPS, ROWS, find_rows
from .peaks import machine_peaks, measure_peaks
from .plot import plot_html
from .results import TURNS, BenchResult, Score, run_benchmarks
from .row import Row
from .tables import result_tables

__all__ = [
    "GROUPS",
    "ROWS",
    "TURNS",
    "BenchResult",
    "Circumstances",
    "Row",
    "Score",
    "Watch",
    "find_rows",
    "machine_peaks",
    "measure_peaks",
    "plot_html",
    "result_tables",
    "run_benchmarks",
]
