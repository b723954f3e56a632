"""Runs one kernel under counters and samples, in a process of its own.

`python -m tvmlab.bench.probing.child` reads a request as JSON and writes the result; see `child`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tvmlab.codegen as codegen
from tvmlab.ir import Program, parse
from tvmlab.lower import lower
from tvmlab.runtime import Kernel, default_cache_dir, num_threads
from tvmlab.support import UserError
from tvmlab.target import Target
from tvmlab.tune.measure import QuietLock
from tvmlab.tune.measure.arrays import make_arrays
from tvmlab.tune.measure.request import target_from_json

from .events import HARDWARE, SOFTWARE, Counted, Counters, Missing
from .sampling import Labelled, assemble, load_listing, sampled

_REPEATS = 8
_REPEAT_MILLISECONDS = 40.0


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A program as text, the machine as plain data, and the listing of its assembly."""

    program: str
    target: dict[str, Any]
    listing: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What was counted and sampled.

    Attributes
    ----------
    calls
        How many calls the counts are of.
    samples
        Pairs of a line of the listing and how often a thread was there.
    elsewhere
        Samples outside of the kernel: libraries, and threads that wait.
    plain, watched
        Seconds of a call without and with samples taken.
    reason
        Why there are no samples; empty if there are.
    """

    calls: int
    counted: tuple[Counted, ...]
    missing: tuple[Missing, ...]
    samples: tuple[tuple[int, int], ...]
    elsewhere: int
    plain: float
    watched: float
    reason: str


def probe(request: ProbeRequest) -> ProbeResult:
    """Run a kernel for about a second, and look."""
    target = target_from_json(request.target)
    program = parse(request.program)
    counters = Counters([*HARDWARE, *SOFTWARE])  # before threads start, so that theirs count
    labelled, kernel = _loaded(program, target, request.listing)
    arrays = make_arrays(program, 0)
    kernel(*arrays)
    with num_threads(target.num_threads), QuietLock(default_cache_dir() / "measure.lock").alone():
        plain = _time(kernel, arrays)
        calls = max(1, int(_REPEAT_MILLISECONDS * 1e-3 / max(plain, 1e-9)))
        with counters:
            for _ in range(calls):
                kernel(*arrays)
        watched: list[float] = []
        found = sampled(lambda: watched.append(_time(kernel, arrays)))
    counted = tuple(counters.read())
    counters.close()
    if isinstance(found, str):
        return ProbeResult(calls, counted, tuple(counters.missing), (), 0, plain, plain, found)
    by_line: dict[int, int] = {}
    elsewhere = 0
    for place, count in found.items():
        line = labelled.line_at(place)
        if line is None:
            elsewhere += count
        else:
            by_line[line] = by_line.get(line, 0) + count
    samples = tuple(sorted(by_line.items()))
    missing = tuple(counters.missing)
    return ProbeResult(calls, counted, missing, samples, elsewhere, plain, watched[0], "")


def _loaded(program: Program, target: Target, listing: str) -> tuple[Labelled, Kernel]:
    missing = target.missing_here()
    if missing:
        raise UserError(f"this machine cannot run the code: {missing}")
    signature = codegen.kernel_signature(lower(program, target).program, like=program)
    data, lines = assemble(listing, target)
    labelled = load_listing(data, lines, [signature.name])
    return labelled, Kernel(data, signature, code=labelled.code)


def _time(kernel: Kernel, arrays: Sequence[Any]) -> float:
    timing = kernel.time(*arrays, repeats=_REPEATS, min_repeat_ms=_REPEAT_MILLISECONDS)
    return timing.median
