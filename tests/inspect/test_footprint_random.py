"""Boxes against brute force: run the loops of random schedules, note what each line touches."""

from collections.abc import Mapping
from itertools import product
from math import prod

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.workloads import random_workload

from tvmlab.arith import simplify
from tvmlab.inspect import nest_cost
from tvmlab.ir import Block, Buffer, Expr, For, Var, as_expr, const_int, substitute
from tvmlab.schedule import Schedule, index_of

LIMIT = 400


def _value(expr: Expr, point: Mapping[Var, int]) -> int | None:
    return const_int(simplify(substitute(expr, {v: as_expr(n) for v, n in point.items()})))


def _touched(block: Block, loops: list[For], fixed: int) -> dict[Buffer, set[tuple[int, ...]]]:
    """The elements that regions name while the loops from `fixed` inwards run, the others at 0."""
    cells: dict[Buffer, set[tuple[int, ...]]] = {}
    ranges = [[0] if n < fixed else range(const_int(lp.extent) or 0) for n, lp in enumerate(loops)]
    bindings = list(zip(block.iters, block.bindings, strict=True))
    for values in product(*ranges):
        point = {lp.var: v for lp, v in zip(loops, values, strict=True)}
        iters = {it.var: _value(binding, point) for it, binding in bindings}
        known = {v: n for v, n in iters.items() if n is not None}
        for region in (*block.reads, *block.writes):
            spans: list[range] = []
            size = region.buffer.const_shape or ()
            for low, extent, whole in zip(region.mins, region.extents, size, strict=True):
                first, width = _value(low, known), const_int(extent)
                assert first is not None
                assert width is not None
                # A guarded iteration may point outside; it touches nothing there.
                spans.append(range(max(first, 0), min(first + width, whole)))
            cells.setdefault(region.buffer, set()).update(product(*spans))
    return cells


@pytest.mark.parametrize("seed", range(16))
def test_boxes_have_room_for_all_that_is_touched(seed: int) -> None:
    rng = np.random.default_rng(seed)
    workload = random_workload(rng)
    sch = Schedule(workload.outputs)
    random_steps(sch, rng, int(rng.integers(0, 5)))
    cost, index = nest_cost(sch.program), index_of(sch.program)
    assert cost is not None
    checked = 0
    for block in index.blocks.values():
        loops = index.loops_around(block)
        for depth in range(len(loops), -1, -1):
            if prod(const_int(lp.extent) or 0 for lp in loops[depth:]) > LIMIT:
                break
            line = block if depth == len(loops) else loops[depth]
            for buffer, cells in _touched(block, loops, depth).items():
                box = cost.boxes[line][buffer].extents
                assert prod(box) >= len(cells), (buffer.name, box, len(cells))
                checked += 1
    assert checked
