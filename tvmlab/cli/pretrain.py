"""`tvmlab pretrain`: measure schedules of many computations, and fit a model to begin with."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.inspect import table
from tvmlab.support import OptionError
from tvmlab.target import Target
from tvmlab.tune import (
    AnalyticModel,
    CostModel,
    RankReport,
    Tuner,
    TuningLog,
    generic_space,
    machine_id,
    pretrain,
    transfer_reports,
)
from tvmlab.tune.models import LEAST_ROWS, require_xgboost

from .parser import Parser, whole_number
from .terminal import heading, indented, print_json
from .training_set import TRAINING_SET, training_workload

Rows: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float64], list[str]]

SUMMARY = "fit a cost model for searches to begin with"
DESCRIPTION = """\
Measure schedules of many computations, drawn at random and then found by a search, and fit a cost
model to all of them, which orders schedules of computations that it has not seen. `tvmlab tune
--model FILE` begins with it. What was measured is kept in the log; started again, it goes on. All
of it takes about half an hour."""


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("out", metavar="FILE", help="where the model goes: .json or .json.gz")
    parser.add_argument(
        "--log", action="append", help="where measurements are kept; more of them are only read "
        "(default: pretrain.sqlite)",
    )  # fmt: skip
    parser.add_argument(
        "--workload", action="append", choices=TRAINING_SET, metavar="NAME",
        help=f"such as {TRAINING_SET[3]}; may be given more than once (default: all, which are "
        f"{len(TRAINING_SET)})",
    )  # fmt: skip
    parser.add_argument(
        "--random", type=whole_number(0, 10**6), default=200,
        help="schedules of each that are drawn at random (default: 200)",
    )  # fmt: skip
    parser.add_argument(
        "--searched", type=whole_number(0, 10**6), default=100,
        help="schedules of each that a search finds (default: 100)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure what the log lacks, fit, and tell how well unseen computations are ordered."""
    target = Target.of("cpu")
    logs: list[str] = arguments.log or ["pretrain.sqlite"]
    require_xgboost()
    _check_files(logs, Path(arguments.out))
    wanted: Sequence[str] = arguments.workload or TRAINING_SET
    with TuningLog(logs[0]) as log:
        tuners = {
            name: _measured(name, target, log, arguments.random, arguments.searched)
            for name in wanted
        }
    rows = _rows(logs, next(iter(tuners.values())).target)
    _fitted(rows, target).save(arguments.out)
    names = {tuner.workload.key: name for name, tuner in tuners.items()}
    reports = {names.get(k, k[:12]): r for k, r in transfer_reports(*rows, target).items()}
    if arguments.json:
        print_json({name: report.to_json() for name, report in reports.items()})
        return 0
    if not reports:
        print(
            f"{arguments.out} is written; how well it orders schedules of a computation that it "
            f"has not seen\nis told of two or more (--workload), each with {LEAST_ROWS} schedules "
            f"that worked"
        )
        return 0
    print(heading("schedules of a computation, ordered by a model that has seen none of it"))
    print(indented(table(_lines(reports))))
    return 0


def _check_files(logs: Sequence[str], out: Path) -> None:
    """Refuse now what would fail when all is measured."""
    for path in logs[1:]:
        if not Path(path).is_file():
            raise OptionError(
                f"there is no log {path} to be read",
                hint="only the first --log is made where there is none",
            )
        TuningLog(path).close()
    folder = out.absolute().parent
    if not folder.is_dir():
        raise OptionError(
            f"there is no folder {folder} for the model", hint=f"make it: mkdir -p {folder}"
        )
    if out.is_dir():
        raise OptionError(
            f"{out} is a folder, and the model is a file",
            hint=f"take {out / 'model.json.gz'}",
        )


def _measured(name: str, target: Target, log: TuningLog, random: int, searched: int) -> Tuner:
    """Make the log have so many trials of a workload."""
    space = generic_space(training_workload(name, target), target)
    prior = AnalyticModel(target)  # not the model that this one is to replace
    for search, wanted in (("random", random), ("annealing", random + searched)):
        tuner = Tuner(space, log, search=search, transfer=False, starts=(), name=name, prior=prior)
        for _ in tuner.run(max(0, wanted - tuner.measured)):
            pass
    best = tuner.best
    speed = "none that works" if best is None else f"best {best.gflops or 0.0:.1f} GFLOP/s"
    print(f"{name}: {tuner.measured} trials, {speed}", file=sys.stderr, flush=True)
    return tuner


def _rows(paths: Sequence[str], target: str) -> Rows:
    """What all logs have of a target on this machine: features, GFLOP/s, workloads."""
    parts: list[Rows] = []
    for path in paths:
        with TuningLog(path) as log:
            parts.append(log.rows(target=target, machine=machine_id()))
    if not any(len(part[1]) for part in parts):
        raise OptionError(
            "there is nothing to learn from: no log has a schedule measured on this machine",
            hint="let it measure: --random 200",
        )
    features, gflops, workloads = zip(*(part for part in parts if len(part[1])), strict=True)
    return np.concatenate(features), np.concatenate(gflops), list(chain(*workloads))


def _fitted(rows: Rows, target: Target) -> CostModel:
    """A model of all rows."""
    model = pretrain(*rows, target)
    if not model.trained:
        worked = np.count_nonzero(rows[1])
        raise OptionError(
            f"{worked} schedules that worked are too few to learn from; it takes {LEAST_ROWS}",
            hint="measure more: --random 200",
        )
    return model


def _lines(reports: Mapping[str, RankReport]) -> list[tuple[str, ...]]:
    """A line for each computation, and one for all."""
    mean = RankReport.mean(list(reports.values()))
    lines: list[tuple[str, ...]] = [
        ("computation", "schedules", "Spearman", "top tenth found", "best of the top tenth")
    ]
    for name, report in [*reports.items(), ("mean", mean)]:
        shares = report.top_recall.get(0.1), report.best_of_top.get(0.1)
        lines.append((name, str(report.count), _figure(report.spearman), *map(_figure, shares)))
    return lines


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
