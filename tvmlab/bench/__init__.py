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
from .searches import SearchRun, curves_html, read_runs, run_searches, summary_rows
from .tables import result_tables

__all__ = [
    "GROUPS",
    "ROWS",
    "TURNS",
    "BenchResult",
    "Circumstances",
    "Row",
    "Score",
    "SearchRun",
    "Watch",
    "curves_html",
    "find_rows",
    "machine_peaks",
    "measure_peaks",
    "plot_html",
    "read_runs",
    "result_tables",
    "run_benchmarks",
    "run_searches",
    "summary_rows",
]
