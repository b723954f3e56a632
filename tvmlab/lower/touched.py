"""The run of indices that accesses touch in one dimension while some loops run.

    T[i * 10 + a * 4 + b]   where a * 4 + b < 10, while a (3) and b (4) run
    ->  from i * 10, 10 indices

Conditions count: an access that does not happen touches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.arith import (
    Bounds,
    Interval,
    LinearForm,
    bound_of,
    form_to_expr,
    linear_form,
    relax,
    simplify,
)
from tvmlab.ir import Expr, Var, loads_of, uses_var

from .accesses import Access, loop_intervals


@dataclass(frozen=True, slots=True)
class Run:
    """`extent` indices from `start` on; `start` is in terms of what stands still."""

    start: Expr
    extent: int


def touched_run(accesses: Sequence[Access], dim: int, env: Bounds) -> Run | None:
    """The smallest run found that holds all indices of a dimension; None if none is constant.

    Parameters
    ----------
    env
        What stands still: the loops whose variables are in it.
    """
    runs: list[Run] = []
    for access in accesses:
        run = _one(access, dim, env)
        if run is None:
            return None
        if all(run.start is not r.start or run.extent != r.extent for r in runs):
            runs.append(run)
    return runs[0] if len(runs) == 1 else _hull(runs, env)


def _hull(runs: Sequence[Run], env: Bounds) -> Run | None:
    """The run around several: each is written as its start plus a variable of its own."""
    steps = {Var("step"): Interval(0, run.extent - 1) for run in runs}
    box = relax([run.start + step for run, step in zip(runs, steps, strict=True)], steps, env)
    return None if box.extent is None else Run(box.min, box.extent)


def _one(access: Access, dim: int, env: Bounds) -> Run | None:
    index = access.indices[dim]
    loops = [loop for loop in access.loops if loop.var not in env.intervals]
    inner = loop_intervals(loops, env)
    box = relax([index], inner, env)
    best = None if box.extent is None else Run(box.min, box.extent)
    if not inner or not access.conditions:
        return best
    running = env.bind_all(inner)
    for condition in access.conditions:
        if not loads_of(condition):
            running = running.assume(condition)
    return _tighter(best, index, frozenset(inner), env, running)


def _tighter(
    best: Run | None, index: Expr, inner: frozenset[Var], env: Bounds, running: Bounds
) -> Run | None:
    """The fixed part of the index plus the range of its moving part, if that is smaller."""
    form = linear_form(simplify(index, running), running)
    fixed = {atom: k for atom, k in form.terms.items() if not uses_var(atom, inner)}
    moving = {atom: k for atom, k in form.terms.items() if atom not in fixed}
    span = bound_of(form_to_expr(LinearForm(moving, form.const), index.dtype), running)
    if span.lo is None or span.hi is None:
        return best
    extent = span.hi - span.lo + 1
    if best is not None and best.extent <= extent:
        return best
    start = form_to_expr(LinearForm(fixed, span.lo), index.dtype)
    return Run(simplify(start, env), extent)
