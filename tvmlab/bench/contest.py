"""Runs one contest in this process, ours and the peer's turns alternating; prints JSON.

Started as `python -m tvmlab.bench.contest NAME THREADS` by `run_benchmarks`, in a process of its
own, because thread counts and kernels of a BLAS are decided when it is loaded.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tvmlab.runtime import num_threads

from .workloads import CONTESTS, Contest

_TURNS = 15
_TURN_SECONDS = 0.03
"""Each turn repeats the kernel until this time is filled."""

_PAUSE_SECONDS = 0.1
"""Before a turn, so that the other side's idle threads stop spinning and leave the cores free."""


def run_contest(name: str, threads: int) -> dict[str, Any]:
    """Measure a contest: seconds of both as one median a turn, and whether the results agree."""
    contest = CONTESTS[name](threads)
    with num_threads(threads):
        contest.ours()
        contest.peer()
        first, second = contest.results()
        agree = bool(np.allclose(first, second, rtol=1e-3, atol=1e-3))
        ours, peer = _alternate(contest)
    return {
        "name": name,
        "threads": threads,
        "ours": ours,
        "peer": peer,
        "peer_name": contest.peer_name,
        "flops": contest.executable.flops,
        "agree": agree,
    }


def _alternate(contest: Contest) -> tuple[list[float], list[float]]:
    counts = [_count(contest.ours), _count(contest.peer)]
    ours: list[float] = []
    peer: list[float] = []
    for _ in range(_TURNS):
        ours.append(_rested_turn(contest.ours, counts[0]))
        peer.append(_rested_turn(contest.peer, counts[1]))
    return ours, peer


def _count(run: Callable[[], object]) -> int:
    best = statistics.median(_turn(run, 1) for _ in range(3))
    return max(1, round(_TURN_SECONDS / best))


def _rested_turn(run: Callable[[], object], count: int) -> float:
    time.sleep(_PAUSE_SECONDS)
    run()
    return _turn(run, count)


def _turn(run: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


if __name__ == "__main__":
    print(json.dumps(run_contest(sys.argv[1], int(sys.argv[2]))))
