"""Measures rows in this process, all contenders by turns; prints a line of JSON for each row.

Started as `python -m tvmlab.bench.contest` by `run_benchmarks`, in a process of its own for each
number of threads, because a BLAS decides on threads and kernels when it is loaded.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmlab.runtime import num_threads
from tvmlab.target import Target

from .operators import OPERATORS, find_rows
from .row import Array, Contender, Inputs, Operator, Row

_TURN_SECONDS = 0.03
"""Each turn repeats the computation until this time is filled."""

_LONG_SECONDS = 0.3
"""A run that takes so long needs no repetition to be measured, and no run before to warm up."""

_LONG_TURNS = 3
"""How often such a one is measured."""

_PAUSE_SECONDS = 0.06
"""Before a turn, so that the others' idle threads stop spinning and leave the cores free."""


def run_contest(
    row: Row, threads: int, turns: int, libraries: Sequence[str] | None = None
) -> dict[str, Any]:
    """Measure a row: seconds of each contender as one value a turn, and its largest error."""
    operator = OPERATORS[row.operator]
    inputs = operator.inputs(row)
    with num_threads(threads):
        target = Target.host().with_threads(threads)
        ours = operator.ours(row, inputs, target)
        peers, missing = _peers(operator, row, inputs, threads, libraries)
        wanted = operator.reference(row, inputs)
        ready, errors = _checked([ours, *peers], wanted, missing)
        seconds = _by_turns(ready, turns)
    return {
        "group": row.group,
        "name": row.name,
        "threads": threads,
        "dtype": row.dtype,
        "measure": operator.measure,
        "flops": operator.flops(row),
        "moved": list(operator.moved(row)),
        "contenders": [
            {
                "name": contender.name,
                "seconds": times,
                "error": error,
                "prepared": contender.prepared,
                "facts": contender.facts,
            }
            for contender, times, error in zip(ready, seconds, errors, strict=True)
        ],
        "missing": missing,
    }


def _peers(
    operator: Operator, row: Row, inputs: Inputs, threads: int, libraries: Sequence[str] | None
) -> tuple[list[Contender], dict[str, str]]:
    """The peers that are there, and why others are not."""
    found: list[Contender] = []
    missing: dict[str, str] = {}
    for peer in operator.peers:
        if libraries is not None and peer.library not in libraries:
            continue
        if libraries is None and peer.patience:
            missing[peer.library] = f"{peer.patience}: --peer {peer.library} asks for it"
            continue
        try:
            found += peer.make(row, inputs, threads)
        except ImportError as error:
            missing[peer.library] = f"not installed: {error}"
        except Exception as error:  # whatever another library does is not ours to expect
            missing[peer.library] = f"cannot do it: {type(error).__name__}: {_first_line(error)}"
    return found, missing


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0][:200]


def _checked(
    contenders: Sequence[Contender], wanted: Array, missing: dict[str, str]
) -> tuple[list[Contender], list[float]]:
    """Run each once and compare; a peer that fails is left out."""
    ready: list[Contender] = []
    errors: list[float] = []
    for number, contender in enumerate(contenders):
        try:
            contender.run()
            errors.append(_error(contender.result(), wanted))
            ready.append(contender)
        except Exception as error:
            if number == 0:
                raise
            missing[contender.name] = f"failed: {type(error).__name__}: {_first_line(error)}"
    return ready, errors


def _error(found: Array, wanted: Array) -> float:
    """The largest difference, in units of the largest element."""
    if not wanted.size:
        return 0.0
    difference = np.abs(np.asarray(found, np.float64).reshape(wanted.shape) - wanted)
    return float(difference.max() / max(float(np.abs(wanted).max()), 1e-30))


def _by_turns(contenders: Sequence[Contender], turns: int) -> list[list[float]]:
    counts = [_count(contender) for contender in contenders]
    seconds: list[list[float]] = [[] for _ in contenders]
    for turn in range(turns):
        # Each is first as often as the others, so that none always follows the same neighbor.
        for step in range(len(contenders)):
            n = (turn + step) % len(contenders)
            if not counts[n] and turn >= _LONG_TURNS:
                continue
            time.sleep(_PAUSE_SECONDS)
            if counts[n]:
                contenders[n].run()
            seconds[n].append(contenders[n].timed(max(counts[n], 1)))
    return seconds


def _count(contender: Contender) -> int:
    """How many runs fill a turn, 0 for a long one; the runs until then warm up."""
    if contender.timed(1) > _LONG_SECONDS and contender.timed(1) > _LONG_SECONDS:
        return 0
    count = 1
    while True:
        total = statistics.median(contender.timed(count) for _ in range(3)) * count
        if total >= _TURN_SECONDS / 2:
            return max(1, round(count * _TURN_SECONDS / total))
        count = max(count + 1, min(10 * count, int(count * _TURN_SECONDS / max(total, 1e-9))))


def main(request: dict[str, Any]) -> None:
    """Measure the rows of a request."""
    for row in find_rows(request["rows"]):
        result = run_contest(row, request["threads"], request["turns"], request["libraries"])
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
