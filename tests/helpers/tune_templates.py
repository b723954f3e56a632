"""Templates of matrix products, and a measurer that knows the answer at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from helpers.tune_programs import matmul

from tvmlab.tune import Knobs, MeasureRequest, MeasureResult, Space


def blocked(n: int) -> Callable[[Any, Knobs], None]:
    """The classical blocked product, with its sizes and copies open."""

    def template(sch: Any, knobs: Knobs) -> None:
        i, j, k = sch.loops("C")
        ic, io, ii = sch.split(i, knobs.split("i", n, 3, most=8))
        jc, jo, ji = sch.split(j, knobs.split("j", n, 3, most=32))
        ko, ki = sch.split(k, knobs.split("k", n, 2))
        middle = knobs.order("order", (io, jo))
        sch.reorder(ic, jc, ko, *middle, ki, ii, ji)
        sch.decompose_reduction("C", ko)
        if knobs.flag("copy_b"):
            sch.compute_at(sch.cache_read("C", "B"), ko)
        sch.vectorize(ji)
        sch.unroll(ii)
        sch.parallel(sch.fuse(ic, jc))

    return template


def blocked_space(n: int = 32) -> Space:
    return Space(matmul(n), blocked(n))


class Oracle:
    """A runner that answers at once, with a time that follows from the program's text."""

    def __init__(self, seconds: Callable[[str], float | None]) -> None:
        self.seconds = seconds
        self.requests: list[MeasureRequest] = []

    def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
        self.requests.append(request)
        seconds = self.seconds(request.program)
        future: Future[MeasureResult] = Future()
        if seconds is None:
            result = MeasureResult("crash", error="the worker crashed with SIGSEGV")
        else:
            result = MeasureResult("ok", seconds=(seconds,), program_hash=request.program_hash)
        future.set_result(result)
        return future

    def cancel(self, future: Future[MeasureResult] | None = None) -> None:
        """Nothing is ever waiting."""
