"""Benchmarks against peers: ratios measured in one run, never single times.

>>> from tvmlab.bench import run_benchmarks
>>> [result] = run_benchmarks(["sgemm-1024"])
>>> result.ratio                                            # doctest: +SKIP
"""

from .disturbance import Circumstances, Watch
from .metaschedule import METASCHEDULE, run_metaschedule
from .operators import GROUPS, ROWS, find_rows
from .peaks import machine_peaks, measure_peaks
from .plot import plot_html
from .results import TURNS, BenchResult, Score, run_benchmarks
from .row import Row
from .search_curves import curves_html
from .search_report import Contest, contest_rows, contests, near_rows, summary_rows
from .search_run import SearchRun, read_runs
from .searches import cheap_first, measure_again, measure_defaults, run_searches, stages_of
from .tables import result_tables

__all__ = [
    "GROUPS",
    "METASCHEDULE",
    "ROWS",
    "TURNS",
    "BenchResult",
    "Circumstances",
    "Contest",
    "Row",
    "Score",
    "SearchRun",
    "Watch",
    "cheap_first",
    "contest_rows",
    "contests",
    "curves_html",
    "find_rows",
    "machine_peaks",
    "measure_again",
    "measure_defaults",
    "measure_peaks",
    "near_rows",
    "plot_html",
    "read_runs",
    "result_tables",
    "run_benchmarks",
    "run_metaschedule",
    "run_searches",
    "stages_of",
    "summary_rows",
]
