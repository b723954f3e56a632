"""Cutting the range of a loop: peel off ends, or partition at points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tvmlab.arith import turning_points
from tvmlab.ir import (
    Compare,
    Expr,
    For,
    Logic,
    Program,
    Select,
    Var,
    conjuncts,
    const_int,
    substitute,
    walk,
)
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import require_const_extent, require_serial
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.verdict import refuse

from .cut import Part, cut_loop, require_blocks_only


@primitive(
    "peel", "peel", "",
    ParamSpec("loop", "loop", "the loop whose ends are cut off"),
    ParamSpec("first", "int", "iterations to cut off at the start", default=0),
    ParamSpec("last", "int", "iterations to cut off at the end", default=0),
    moves_blocks=True,
)  # fmt: skip
def peel(program: Program, loop: Var, first: int = 0, last: int = 0) -> Applied:
    """Cut the first or last iterations of a loop off into loops of their own.

    The loop and its blocks stay for the iterations between; the others run in copies. Returns all
    the loops in order.

    Before::

        for k in range(16):
            with init(): C[0] = 0
            C[0] = C[0] + A[k]

    After `peel(k, 1)`::

        for k_first in range(1):
            with init(): C[0] = 0
            C[0] = C[0] + A[k_first]
        for k in range(15):
            C[0] = C[0] + A[k + 1]
    """
    index = index_of(program)
    target = index.loops[loop]
    extent = _require_cuttable(target, "peel")
    if first < 0 or last < 0 or first + last == 0 or first + last >= extent:
        why = (
            f"together they must be from 1 to {extent - 1}, as the loop has {extent}"
            if extent > 1
            else "the loop has only one, and one must stay"
        )
        raise refuse(
            "peel.count",
            f"cannot peel {first} and {last} iterations off the ends of {loop.name}: {why}",
            subject=loop,
        )
    parts = [
        Part(0, first, "first"),
        Part(first, extent - last, "", kept=True),
        Part(extent - last, extent, "last"),
    ]
    return Applied(*cut_loop(program, target, [p for p in parts if p.start < p.end], "peel"))


@primitive(
    "partition", "partition", "",
    ParamSpec("loop", "loop", "the loop to cut"),
    ParamSpec(
        "points", "ints", "iterations at which new loops begin; by default where conditions of "
        "its blocks become decided", required=False,
    ),
    moves_blocks=True,
)  # fmt: skip
def partition(program: Program, loop: Var, points: Sequence[int] | None = None) -> Applied:
    """Cut a loop into several that run one after another.

    Without points the loop is cut where a condition begins or ceases to hold, so that its main
    part needs none. The longest part keeps the loop and its blocks. Returns the loops in order.

    Before::

        for i_outer in range(13):
            for i_inner in range(8):
                where(i_outer * 8 + i_inner < 100)
                ...i_outer * 8 + i_inner...

    After `partition(i_outer, [12])`, or without the points::

        for i_outer in range(12):
            for i_inner in range(8):
                ...i_outer * 8 + i_inner...
        for i_outer_1 in range(1):
            for i_inner in range(4):
                ...96 + i_inner...
    """
    index = index_of(program)
    target = index.loops[loop]
    extent = _require_cuttable(target, "partition")
    if points is None:
        points = deciding_points(index, target)
        if not points:
            raise refuse(
                "partition.no-condition",
                f"cannot partition {loop.name}: no condition in it is decided in a part of its "
                f"range; name the points at which to cut",
                subject=loop,
            )
    ends = [0, *points, extent]
    if len(ends) < 3 or any(a >= b for a, b in pairwise(ends)):
        raise refuse(
            "partition.points",
            f"cannot partition {loop.name} at {list(points)}: the points must rise, from 1 to "
            f"{extent - 1} at most",
            subject=loop,
        )
    longest = max(range(len(ends) - 1), key=lambda n: ends[n + 1] - ends[n])
    parts = [Part(a, b, str(n), n == longest) for n, (a, b) in enumerate(pairwise(ends))]
    return Applied(*cut_loop(program, target, parts, "partition"))


def deciding_points(index: ProgramIndex, loop: For) -> list[int]:
    """Where, inside the range of a loop, a condition of its blocks begins or ceases to hold.

    Of many points only those that bound the longest part are kept.
    """
    extent = const_int(loop.extent) or 0
    found: set[int] = set()
    for block in index.blocks_under(loop):
        values = dict(zip((it.var for it in block.iters), block.bindings, strict=True))
        env = index.bounds_around(block)
        roots = [block.body] if block.init is None else [block.init, block.body]
        chosen = [n.cond for root in roots for n in walk(root) if isinstance(n, Select)]
        for condition in [*conjuncts(block.predicate), *(substitute(c, values) for c in chosen)]:
            for compare in _comparisons(condition):
                found |= turning_points(compare, loop.var, env)
    ends = [0, *sorted(p for p in found if 0 < p < extent), extent]
    low, high = max(pairwise(ends), key=lambda pair: pair[1] - pair[0])
    return [p for p in (low, high) if 0 < p < extent]


def _require_cuttable(loop: For, primitive: str) -> int:
    require_serial(loop, primitive)
    require_blocks_only(loop, primitive)
    return require_const_extent(loop, primitive)


def _comparisons(condition: Expr) -> list[Compare]:
    found = [n for n in walk(condition) if isinstance(n, (Compare, Logic))]
    return [n for n in found if isinstance(n, Compare) and n.a.dtype.is_int]
