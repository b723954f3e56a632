"""`tvmlab searches`: the searches of the tuner beside each other, from several seeds."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from tvmlab.bench import SearchRun, curves_html, read_runs, run_searches, summary_rows
from tvmlab.inspect import table
from tvmlab.support import write_whole
from tvmlab.target import Target
from tvmlab.tune import SEARCHES, generic_space

from .parser import Parser, whole_number
from .terminal import heading, indented, print_json
from .workloads import named_workload

SUMMARY = "compare the tuner's searches"
DESCRIPTION = """\
Run searches for a fast schedule beside each other: each from several seeds and with as many trials,
none of them reading what another found. Ended and started again, the comparison goes on from its
log."""
_MARKS = (10, 25, 50, 100, 150, 200)


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "workloads", nargs="+", metavar="WORKLOAD", help="matmul-N, C1 to C12, D1 to D9"
    )
    parser.add_argument(
        "--search", action="append", choices=list(SEARCHES), help="may be given more than once "
        "(default: annealing, genetic, random)",
    )  # fmt: skip
    parser.add_argument("--seeds", type=whole_number(1, 100), default=3, help="default: 3")
    parser.add_argument("--trials", type=whole_number(1, 10**6), default=200, help="default: 200")
    parser.add_argument("--seconds", type=whole_number(1, 10**7), help="end after so long")
    parser.add_argument("--log", default="searches.sqlite", help="default: searches.sqlite")
    parser.add_argument(
        "--starts", action="store_true", help="begin each search with the default schedule"
    )
    parser.add_argument("--plot", metavar="FILE.html", help="write a page with the curves")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run what the log lacks, and show all that it has of these workloads."""
    target = Target.of("cpu")
    names: list[str] = arguments.workloads
    spaces = {name: generic_space(named_workload(name, target)[0], target) for name in names}
    for _ in run_searches(
        spaces, arguments.search or ("annealing", "genetic", "random"),
        seeds=range(arguments.seeds), trials=arguments.trials, log=arguments.log,
        seconds=arguments.seconds, starts=arguments.starts,
    ):  # fmt: skip
        pass
    runs = [r for r in read_runs(arguments.log, starts=arguments.starts) if r.workload in names]
    if arguments.plot:
        write_whole(Path(arguments.plot), curves_html(runs))
    _show(runs, arguments.trials, as_json=arguments.json)
    return 0 if runs else 1


def _show(runs: list[SearchRun], trials: int, *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(run) for run in runs])
        return
    marks = [mark for mark in _MARKS if mark <= trials]
    print(heading("best schedule so far, GFLOP/s, median of the seeds"))
    print(indented(table(summary_rows(runs, marks or [trials]))))
