"""`tvmlab tune`: search for a fast schedule; what is found is kept in the log and used again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tvmlab.inspect import table, tuning_report
from tvmlab.target import Target
from tvmlab.tune import (
    SEARCHES,
    AnalyticModel,
    CostModel,
    Measurer,
    Tuner,
    TuningLog,
    busy_workers,
    default_log_path,
    generic_space,
    partial_space,
)
from tvmlab.widgets import load_session

from .models import add_size, sizes_of
from .parser import Parser, whole_number
from .terminal import heading, indented, print_json
from .tune_model import tune_model
from .tuning_bar import follow
from .workloads import named_workload

SUMMARY = "search for a fast schedule"
DESCRIPTION = """\
Search for a fast schedule of a workload, of what a saved session leaves open, or of the kernels of
a model, and keep every trial in a log. Started again, the search goes on where it ended; Ctrl-C
ends it. `tvmlab compile --tuned` takes what was found for a model."""


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "workload",
        help="matmul-N, matmul-MxNxK, C1 to C12, D1 to D9, others such as conv-28x64x96x3s1 and "
        "depthwise-28x64s1 (size, channels, filters, window, stride), a session saved as "
        ".tvmlab.json, or a model MODEL.onnx, of which all kernels are tuned",
    )
    parser.add_argument(
        "--trials", type=whole_number(1, 1_000_000), default=200, help="how many (default: 200)"
    )
    parser.add_argument(
        "--search", choices=list(SEARCHES), default="annealing", help="how (default: annealing)"
    )
    parser.add_argument("--seconds", type=whole_number(1, 10**7), help="end after so long")
    parser.add_argument(
        "--patience", type=whole_number(1, 10**6), help="end after so many trials without gain"
    )
    parser.add_argument("--seed", type=whole_number(0, 1 << 31), default=0, help="default: 0")
    parser.add_argument(
        "--model", metavar="FILE", help="begin with a cost model that `tvmlab pretrain` has made "
        "(default: the one that tvmlab comes with)",
    )  # fmt: skip
    parser.add_argument("--threads", type=whole_number(1, 1024), help="default: all cores")
    add_size(parser)
    parser.add_argument("--log", help=f"file of the log (default: {default_log_path()})")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Search; the exit code is 1 if no schedule could be measured."""
    target = Target.of("cpu")
    if arguments.threads:
        target = target.with_threads(arguments.threads)
    sizes = sizes_of(arguments.size)
    with TuningLog(arguments.log) as log, Measurer(busy_workers()) as runner:
        common: dict[str, Any] = {
            "log": log, "runner": runner, "search": arguments.search, "seed": arguments.seed,
            "patience": arguments.patience,
        }  # fmt: skip
        if arguments.model:
            common["prior"] = CostModel.load(arguments.model).on(AnalyticModel(target))
        if arguments.workload.endswith(".onnx"):
            return tune_model(Path(arguments.workload), sizes, target, arguments, common)
        tuner = _tuner(arguments.workload, target, common)
        _search(arguments, tuner)
    report = tuning_report(tuner)
    if arguments.json:
        print_json(report)
    else:
        print(heading(report.title))
        print(indented(table(report.facts)))
        if tuner.best is not None:
            print(heading("the schedule"))
            print(indented(report.python))
    return 0 if tuner.best is not None else 1


def _tuner(workload: str, target: Target, common: dict[str, Any]) -> Tuner:
    if workload.endswith(".json"):
        schedule = load_session(workload).schedule
        return Tuner(partial_space(schedule, target), starts=(schedule,), **common)
    out, default = named_workload(workload, target)
    return Tuner(generic_space(out, target), starts=(default,), **common)


def _search(arguments: argparse.Namespace, tuner: Tuner) -> None:
    follow(
        tuner.run(arguments.trials), arguments.workload, arguments.trials,
        lambda: tuner.measured, lambda: _best(tuner),
        seconds=arguments.seconds, hidden=arguments.json,
    )  # fmt: skip


def _best(tuner: Tuner) -> str:
    best = tuner.best
    if best is None or best.seconds is None:
        return "nothing yet"
    if best.gflops is not None:
        return f"{best.gflops:.1f} GFLOP/s"
    return f"{best.seconds * 1e6:.1f} us"
