"""The template of sums over many elements that are used once each."""

from __future__ import annotations

from math import prod
from typing import Any

from .common import inlined, write_out
from .plan import Plan
from .reader import Knobs


class PartialSums:
    """Partial sums in vectors and threads, added at the end."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __call__(self, sch: Any, knobs: Knobs) -> None:
        plan = self.plan
        lanes = plan.lanes
        inlined(sch, plan, knobs, ("inline", "whole"))
        main = plan.main
        parts = knobs.choose("vector_sums", (1, lanes, 2 * lanes, 4 * lanes, 8 * lanes))
        single = prod(size for _, kind, size in plan.axes if kind == "spatial") == 1
        tasks = knobs.choose("thread_sums", (1, plan.threads, 2 * plan.threads) if single else (1,))
        if tasks > 1:
            outer, _ = sch.split(_last(sch.loops(main)), [tasks, None])
            main = sch.rfactor(main, outer).name
        inner: Any = None
        if parts > 1:
            _, inner = sch.split(_last(sch.loops(main)), [None, parts])
            main = sch.rfactor(main, inner, -1).name
        loops = list(sch.loops(main))
        spatial = sum(kind == "spatial" for _, kind, _ in plan.axes)
        count = knobs.choose("parallel", tuple(range(spatial + 1)))
        if count and tasks == 1:
            sch.parallel(sch.fuse(*loops[:count]) if count > 1 else loops[0])
        if tasks > 1:
            sch.parallel(loops[0])
        step = loops[-2] if inner is not None else loops[-1]
        if inner is not None:
            write_out(sch, list(sch.loops(sch.decompose_reduction(main, step)))[-1:])
            sch.vectorize(inner)
        _, few = sch.split(step, [None, knobs.number("unroll", (1, 2, 4, 8))])
        sch.unroll(few)


def _last(loops: Any) -> Any:
    return loops[len(loops) - 1]
