"""`tvmlab searches`: the searches of the tuner beside each other, from several seeds."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from tvmlab.bench import (
    SearchRun,
    cheap_first,
    contest_rows,
    contests,
    curves_html,
    measure_again,
    measure_defaults,
    near_rows,
    read_runs,
    run_metaschedule,
    run_searches,
    stages_of,
    summary_rows,
)
from tvmlab.inspect import table
from tvmlab.support import write_whole
from tvmlab.target import Target
from tvmlab.tune import SEARCHES, Space, generic_space

from .parser import Parser, whole_number
from .terminal import heading, indented, print_json
from .workloads import named_workload, workload_names

SUMMARY = "compare the tuner's searches"
DESCRIPTION = """\
Run searches for a fast schedule beside each other: each from several seeds and with as many trials,
none of them reading what another found. All of them get few trials first, then more, workload by
workload with the cheapest first, so that a comparison that is cut short says something of whole
workloads; started again, it goes on from its log. No program is measured twice in one sitting. In
the end the best schedules are measured again, beside the default one."""
_MARKS = (10, 25, 50, 100, 150, 200)
_DEFAULT = ("annealing", "genetic", "random")


def fill(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "workloads", nargs="+", metavar="WORKLOAD",
        help="as for tvmlab tune: matmul-N, C1 to C12, D1 to D9, conv-28x64x96x3s1 and so on; or "
        "a group: resnet, mobilenet, matmuls, all",
    )  # fmt: skip
    parser.add_argument(
        "--search", action="append", choices=list(SEARCHES), help="may be given more than once; "
        "the first is set against the others (default: annealing, genetic, random)",
    )  # fmt: skip
    parser.add_argument("--seeds", type=whole_number(1, 100), default=3, help="default: 3")
    parser.add_argument("--trials", type=whole_number(1, 10**6), default=200, help="default: 200")
    parser.add_argument(
        "--seconds", type=whole_number(0, 10**7),
        help="begin no trial after so long; then the best schedules are measured again",
    )  # fmt: skip
    parser.add_argument("--log", default="searches.sqlite", help="default: searches.sqlite")
    parser.add_argument(
        "--starts", action="store_true", help="begin each search with the default schedule"
    )
    parser.add_argument(
        "--peer", metavar="PYTHON", help="a Python that has apache-tvm 0.27: its MetaSchedule "
        "makes as many trials too, once for each workload, before the searches",
    )  # fmt: skip
    parser.add_argument(
        "--peer-on", action="append", metavar="WORKLOAD",
        help="ask MetaSchedule about these workloads only; may be given more than once",
    )  # fmt: skip
    parser.add_argument("--plot", metavar="FILE.html", help="write a page with the curves")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run what the log lacks, and show all that it has of these workloads."""
    target = Target.of("cpu")
    names = workload_names(arguments.workloads)
    searches: tuple[str, ...] = tuple(dict.fromkeys(arguments.search or _DEFAULT))
    spaces = {name: generic_space(named_workload(name, target)[0], target) for name in names}
    measure_defaults(spaces, arguments.log, starts=arguments.starts)
    spaces = {name: spaces[name] for name in cheap_first(names, arguments.log)}
    ends = None if arguments.seconds is None else time.monotonic() + arguments.seconds
    _ask_peer(arguments, spaces, ends)
    found = [
        run
        for run in read_runs(arguments.log, starts=arguments.starts)
        if run.workload in names and run.search in searches and run.seed < arguments.seeds
    ]
    progress = _Progress(len(names) * len(searches) * arguments.seeds, arguments.trials, found)
    for done in run_searches(
        spaces, searches, seeds=range(arguments.seeds), trials=arguments.trials,
        log=arguments.log, starts=arguments.starts,
        seconds=None if ends is None else max(0.0, ends - time.monotonic()),
        stages=stages_of(arguments.trials),
    ):  # fmt: skip
        progress.tell(done)
    print(progress.state(), file=sys.stderr, flush=True)
    measure_again(spaces, arguments.log, starts=arguments.starts)
    runs = [r for r in read_runs(arguments.log, starts=arguments.starts) if r.workload in names]
    if arguments.plot:
        write_whole(Path(arguments.plot), curves_html(runs))
    _show(runs, searches[0], arguments.trials, as_json=arguments.json)
    return 0 if runs else 1


def _ask_peer(
    arguments: argparse.Namespace, spaces: Mapping[str, Space], ends: float | None
) -> None:
    """MetaSchedule's runs, those that the log lacks."""
    if not arguments.peer:
        return
    chosen: set[str] = set(workload_names(arguments.peer_on or list(spaces)))
    for name, space in spaces.items():
        if name in chosen and (ends is None or time.monotonic() < ends):
            run = run_metaschedule(
                name, space, arguments.peer, trials=arguments.trials, log=arguments.log, until=ends
            )
            print(
                f"{name} {run.search}: {len(run.curve)} trials, {run.best:.1f} GFLOP/s",
                file=sys.stderr, flush=True,
            )  # fmt: skip


class _Progress:
    """A line for each run that has come to the end of a stage, on the error stream."""

    def __init__(self, runs: int, trials: int, found: Sequence[SearchRun]) -> None:
        self._all = runs * trials
        self._done = {(r.workload, r.search, r.seed): min(len(r.curve), trials) for r in found}
        self._start = time.monotonic()
        self._new = 0

    def tell(self, run: SearchRun) -> None:
        """A run has come to the end of a stage."""
        key = (run.workload, run.search, run.seed)
        more = len(run.curve) - self._done.get(key, 0)
        self._done[key] = max(len(run.curve), self._done.get(key, 0))
        self._new += max(more, 0)
        print(
            f"{run.workload} {run.search} seed {run.seed}: {len(run.curve)} trials, "
            f"{run.best:.1f} GFLOP/s; {self.state()}",
            file=sys.stderr, flush=True,
        )  # fmt: skip

    def state(self) -> str:
        """How much is done, how fast, and how long the rest takes."""
        done = sum(self._done.values())
        pace = self._new / (time.monotonic() - self._start)
        left = timedelta(seconds=round((self._all - done) / pace)) if self._new else "?"
        return f"{done} of {self._all} trials, {pace:.1f} a second, about {left} left"


def _show(runs: list[SearchRun], first: str, trials: int, *, as_json: bool) -> None:
    marks = [mark for mark in _MARKS if mark <= trials] or [trials]
    found = contests(runs, first, marks)
    if as_json:
        print_json({"runs": [asdict(run) for run in runs], "contests": [asdict(c) for c in found]})
        return
    print(heading("best schedule so far, GFLOP/s, median of the seeds"))
    print(indented(table(summary_rows(runs, marks))))
    print(heading("where the median run ended"))
    print(indented(table(near_rows(runs))))
    if found:
        print(heading("at equal trials, over all workloads"))
        print(indented(table(contest_rows(found))))
