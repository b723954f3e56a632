"""Shrink each allocation to the region that is touched while it lives.

    for i in range(8):                          for i in range(8):
        with alloc(float32[64]) as T:               with alloc(float32[10]) as T:
            for j in range(10):            ->           for j in range(10):
                T[i * 8 + j] = ...                          T[j] = ...

Loops inside the allocation run, loops around it stand still, except loops over threads that share
the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.arith import Bounds
from tvmlab.ir import (
    Alloc,
    Buffer,
    Expr,
    For,
    Load,
    Operand,
    Program,
    Region,
    Stmt,
    Store,
    Stride,
    const,
    const_int,
    is_const,
    is_thread_loop,
    loads_of,
    map_children,
    shares,
    transform,
    with_body,
)

from .accesses import Access, accesses_of
from .size_bounds import size_bounds
from .touched import touched_run


def compact_buffers(program: Program) -> Program:
    """Give each `Alloc` the smallest constant box that holds all accesses below it.

    Indices are shifted by the first index of the box. A dimension whose box has no constant size
    keeps its full size.
    """
    return with_body(program, _visit(program.body, size_bounds(program), ()))


def _visit(node: Any, root: Bounds, loops: tuple[For, ...]) -> Any:
    if isinstance(node, Alloc):
        node = _compact(node, root, loops)
    if not isinstance(node, Stmt):
        return node
    inside = (*loops, node) if isinstance(node, For) else loops
    return map_children(node, lambda child: _visit(child, root, inside))


@dataclass(frozen=True, slots=True)
class _Span:
    """What is kept of one dimension: `size` indices from `start` on."""

    start: Expr
    size: Expr


def _compact(alloc: Alloc, env: Bounds, loops: tuple[For, ...]) -> Alloc:
    old = alloc.buffer
    running = [lp for lp in loops if is_thread_loop(lp) and shares(old.scope, lp)]
    if old.scope == "global":
        running = []
    for loop in loops:
        if loop not in running:
            env = env.bind_loop(loop.var, loop.extent)
    # What threads share must hold what any of them touches.
    accesses = [replace(a, loops=(*running, *a.loops)) for a in accesses_of(alloc.body, old)]
    if not accesses:
        return alloc
    spans = [_span(accesses, dim, env) for dim in range(len(old.shape))]
    if all(span.size is size for span, size in zip(spans, old.shape, strict=True)):
        return alloc
    new = replace(old, shape=tuple(span.size for span in spans))
    starts = [span.start for span in spans]
    return Alloc(new, transform(alloc.body, lambda node: _shift(node, old, new, starts)))


def _span(accesses: Sequence[Access], dim: int, env: Bounds) -> _Span:
    size = accesses[0].buffer.shape[dim]
    whole = _Span(const(0), size)
    run = touched_run(accesses, dim, env)
    if run is None or loads_of(run.start):
        return whole
    low, high = const_int(run.start), const_int(size)
    if low is not None and high is not None:
        # What lies outside of the dimension is never touched: those accesses do not happen.
        start, stop = max(low, 0), min(low + run.extent, high)
        return _Span(const(start), const(max(stop - start, 1))) if start or stop < high else whole
    if high is not None and run.extent >= high:
        return whole
    return _Span(run.start, const(run.extent))


def _shift(node: Any, old: Buffer, new: Buffer, starts: Sequence[Expr]) -> Any:
    if isinstance(node, Stride) and node.buffer is old:
        return replace(node, buffer=new)
    if isinstance(node, Operand) and node.region.buffer is old:
        region = node.region
        return replace(node, region=Region(new, _minus(region.mins, starts), region.extents))
    if not isinstance(node, (Load, Store)) or node.buffer is not old:
        return node
    return replace(node, buffer=new, indices=_minus(node.indices, starts))


def _minus(indices: Sequence[Expr], starts: Sequence[Expr]) -> tuple[Expr, ...]:
    return tuple(
        index if is_const(start, 0) else index - start
        for index, start in zip(indices, starts, strict=True)
    )
