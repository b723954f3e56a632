"""Which box of a buffer an access surely fills while some loops run.

    for a in range(3):
        for b in range(4):
            if a * 4 + b < 10:
                T[i * 10 + a * 4 + b] = ...      fills 10 elements from i * 10 on

The counterpart of `touched`: that contains what may be touched, this what surely is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tvmlab.arith import Bounds, detect_iter_map, linear_form, prove, relax, simplify
from tvmlab.ir import (
    Compare,
    Expr,
    For,
    Store,
    Var,
    conjunction,
    const,
    const_int,
    loads_of,
    substitute,
    uses_var,
    walk,
)

from .accesses import Access, loop_intervals

Box: TypeAlias = list[tuple[Expr, Expr]]
"""For each dimension the first index and the number of indices."""


def written_box(write: Access, loops: Sequence[For], env: Bounds) -> Box | None:
    """A box all of whose elements a store writes, as far as they lie inside its buffer.

    Parameters
    ----------
    loops
        The loops that run; all others stand still.
    env
        What is known of those others.
    """
    if any(loads_of(index) for index in write.indices):
        return None
    reduced = _reduced_to_zero(write, loops)
    inside = env
    for loop in loops:
        if not prove(loop.extent >= 1, inside):
            return None
        inside = inside.bind_loop(loop.var, loop.extent)
    conditions = [substitute(c, reduced) for c in write.conditions]
    whole = _whole_domain(write, loops, conditions, env)
    if whole is not None:
        return whole
    indices = [simplify(substitute(i, reduced), inside) for i in write.indices]
    box = _gapless_box(write, loops, indices, conditions, inside)
    return box or _counted_box(write, loops, indices, conditions, env, inside)


def _whole_domain(
    write: Access, loops: Sequence[For], conditions: Sequence[Expr], env: Bounds
) -> Box | None:
    """The box of all iterations of the block, if the inner loops alone reach each of them."""
    block = write.block
    if block is None or write.part == "init":
        return None
    spatial = [
        (it, b) for it, b in zip(block.iters, block.bindings, strict=True) if it.kind == "spatial"
    ]
    places = _stored_iters(write, [it.var for it, _ in spatial])
    if places is None:
        return None
    running = {loop.var for loop in loops}
    if not all(uses_var(c, running) or prove(c, env) for c in conditions):
        return None
    mapping = detect_iter_map(
        [b for _, b in spatial],
        [(loop.var, loop.extent) for loop in loops],
        [it.extent for it, _ in spatial],
        conjunction(list(conditions)),
        env,
    )
    if not mapping.surjective:
        return None
    extents = {it.var: it.extent for it, _ in spatial}
    return [(const(0, var.dtype), extents[var]) for var in places]


def _stored_iters(write: Access, variables: Sequence[Var]) -> list[Var] | None:
    """The iteration variables that index the store, if each index is one of them by itself."""
    assert write.block is not None
    stores = [
        n for n in walk(write.block.body) if isinstance(n, Store) and n.buffer is write.buffer
    ]
    if len(stores) != 1:
        return None
    places = [i for i in stores[0].indices if isinstance(i, Var)]
    plain = len(places) == len(write.indices) == len(set(places))
    return places if plain and set(places) <= set(variables) else None


def _reduced_to_zero(write: Access, loops: Sequence[For]) -> dict[Var, Expr]:
    """Zero for each inner loop that only binds reductions: one write of an element is enough."""
    block = write.block
    if block is None:
        return {}
    spatial: set[Var] = set()
    reduced: set[Var] = set()
    for it, binding in zip(block.iters, block.bindings, strict=True):
        found = {n for n in walk(binding) if isinstance(n, Var)}
        (reduced if it.kind == "reduce" else spatial).update(found)
    inner = {loop.var for loop in loops}
    return {v: const(0, v.dtype) for v in (reduced - spatial) & inner}


@dataclass(slots=True)
class _Run:
    """The indices of one dimension: `start` plus all sums of `moving` from 0 to `reach`."""

    start: Expr
    reach: int
    moving: Mapping[Expr, int]


def _gapless_box(
    write: Access,
    loops: Sequence[For],
    indices: Sequence[Expr],
    conditions: Sequence[Expr],
    inside: Bounds,
) -> Box | None:
    """The box that the loops fill without gaps, as sums of strides; None if not shown."""
    inner = {loop.var for loop in loops}
    free = {loop.var: const_int(loop.extent) for loop in loops}
    runs: list[_Run] = []
    for index in indices:
        run = _gapless(index, inner, free, inside)
        if run is None:
            return None
        runs.append(run)
    valid = inside
    for index, size in zip(indices, write.buffer.shape, strict=True):
        valid = valid.assume(index >= 0).assume(index < size)
    for condition in conditions:
        if _cuts(condition, runs, inside):
            valid = valid.assume(condition)
    if not all(prove(condition, valid) for condition in conditions):
        return None
    return [(run.start, const(run.reach + 1)) for run in runs]


def _counted_box(
    write: Access,
    loops: Sequence[For],
    indices: Sequence[Expr],
    conditions: Sequence[Expr],
    env: Bounds,
    inside: Bounds,
) -> Box | None:
    """The box around all indices, if as many different elements are written as it has."""
    if not all(prove(condition, inside) for condition in conditions):
        return None
    used = [lp for lp in loops if any(uses_var(i, {lp.var}) for i in indices)]
    sizes = [const_int(lp.extent) for lp in used]
    boxes = [relax([i], loop_intervals(used, env), env) for i in indices]
    volume, count = 1, 1
    for size in sizes:
        count *= size or 0
    for box in boxes:
        volume *= box.extent or -1
    if volume != count or any(box.extent is None for box in boxes):
        return None
    pairs = [(lp.var, lp.extent) for lp in used]
    if not detect_iter_map(indices, pairs, write.buffer.shape, env=env).injective:
        return None
    return [(box.min, const(box.extent or 1)) for box in boxes]


def _gapless(index: Expr, inner: set[Var], free: dict[Var, int | None], env: Bounds) -> _Run | None:
    """The run of values of an index while loops run; each loop is used up by one dimension."""
    moving: dict[Expr, int] = {}
    for atom, factor in linear_form(index, env).terms.items():
        if isinstance(atom, Var) and free.get(atom) is not None:
            moving[atom] = factor
        elif uses_var(atom, inner):
            return None
    reach = 0
    start: dict[Var, Expr] = {}
    for var, factor in sorted(moving.items(), key=lambda pair: abs(pair[1])):
        assert isinstance(var, Var)
        size = free.pop(var)
        if abs(factor) > reach + 1 or size is None:
            return None
        reach += abs(factor) * (size - 1)
        start[var] = const(size - 1 if factor < 0 else 0, var.dtype)
    return _Run(simplify(substitute(index, start), env), reach, moving)


def _cuts(condition: Expr, runs: Sequence[_Run], env: Bounds) -> bool:
    """Whether a condition is `moving part < c` for some run; then the run is cut to that."""
    if not isinstance(condition, Compare) or condition.op not in ("lt", "le"):
        return False
    form = linear_form(condition.a, env).minus(linear_form(condition.b, env))
    last = -form.const - (1 if condition.op == "lt" else 0)
    for run in runs:
        positive = all(factor > 0 for factor in run.moving.values())
        if run.moving and positive and dict(form.terms) == run.moving and last >= 0:
            run.reach = min(run.reach, last)
            return True
    return False
