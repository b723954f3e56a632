"""Does an iteration of a loop read only what the same iteration wrote before?

If so, the buffer may be allocated inside the loop. All answers are proofs; "no" keeps the buffer
outside, which is always right for a loop that runs its iterations in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.arith import (
    Bounds,
    Interval,
    detect_iter_map,
    linear_form,
    prove,
    relax,
    simplify,
)
from tvmlab.ir import (
    Expr,
    For,
    Var,
    conjunction,
    const,
    const_int,
    loads_of,
    structural_equal,
    substitute,
    uses_var,
    walk,
)

from .accesses import Access, loop_intervals


def is_private(accesses: Sequence[Access], loop: For) -> bool:
    """Whether each iteration of a loop reads only what it has written itself.

    Parameters
    ----------
    accesses
        All accesses to one buffer; each stands under the loop.
    """
    writes = [a for a in accesses if a.is_store]
    return all(
        any(_provides(w, read, loop) for w in writes if w.order < read.order)
        for read in accesses
        if not read.is_store
    )


def touch_distinct(accesses: Sequence[Access], loop: For) -> bool:
    """Whether no two iterations of a loop touch the same element, shown by one dimension."""
    return any(
        _moves_apart([a.indices[dim] for a in accesses], accesses, loop)
        for dim in range(len(accesses[0].buffer.shape))
    )


def _moves_apart(indices: Sequence[Expr], accesses: Sequence[Access], loop: For) -> bool:
    """Whether the box of the indices moves by its own size or more with each iteration."""
    env = Bounds()
    for around in accesses[0].loops:
        env = env.bind_loop(around.var, around.extent)
        if around.var is loop.var:
            break
    inner = {
        var: interval
        for a in accesses
        for var, interval in loop_intervals(a.loops, Bounds()).items()
        if var not in env.intervals
    }
    box = relax(indices, inner, env)
    form = linear_form(box.min, env)
    if box.extent is None or any(
        uses_var(atom, {loop.var}) for atom in form.terms if atom is not loop.var
    ):
        return False
    return abs(form.terms.get(loop.var, 0)) >= box.extent


def _provides(write: Access, read: Access, loop: For) -> bool:
    """Whether a write fills all elements of a read, in the same iteration of the loop."""
    if write.part == "init" and write.block is read.block:
        return _starts_reduction(write, read, loop)
    return _fills(write, read)


def _starts_reduction(init: Access, read: Access, loop: For) -> bool:
    """The init of a block comes before its reads unless the reduction began in an earlier round."""
    same = all(structural_equal(a, b) for a, b in zip(init.indices, read.indices, strict=True))
    block = init.block
    assert block is not None
    position = next(n for n, around in enumerate(init.loops) if around.var is loop.var)
    fixed = {around.var for around in init.loops[: position + 1]}
    reduced = [b for it, b in zip(block.iters, block.bindings, strict=True) if it.kind == "reduce"]
    return same and not any(uses_var(binding, fixed) for binding in reduced)


def _fills(write: Access, read: Access) -> bool:
    shared = _common_loops(write.loops, read.loops)
    env = Bounds()
    for around in shared:
        env = env.bind_loop(around.var, around.extent)
    loops = write.loops[len(shared) :]
    box = _whole_domain(write, loops, env) or _written_box(write, loops, env)
    if box is None:
        return False
    inner = loop_intervals(read.loops[len(shared) :], env)
    sizes = write.buffer.shape
    return all(
        _contains(low, extent, index, size, inner, env)
        for (low, extent), index, size in zip(box, read.indices, sizes, strict=True)
    )


def _common_loops(a: Sequence[For], b: Sequence[For]) -> list[For]:
    shared: list[For] = []
    for x, y in zip(a, b, strict=False):
        if x.var is not y.var:
            break
        shared.append(x)
    return shared


Box = list[tuple[Expr, Expr]]
"""For each dimension the first index and the number of indices."""


def _whole_domain(write: Access, loops: Sequence[For], env: Bounds) -> Box | None:
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
    if not all(prove(loop.extent >= 1, env) for loop in loops):
        return None
    reduced = _reduced_to_zero(write, loops)
    mapping = detect_iter_map(
        [b for _, b in spatial],
        [(loop.var, loop.extent) for loop in loops],
        [it.extent for it, _ in spatial],
        conjunction([substitute(c, reduced) for c in write.conditions]),
        env,
    )
    if not mapping.surjective:
        return None
    extents = {it.var: it.extent for it, _ in spatial}
    return [(const(0), extents[var]) for var in places]


def _stored_iters(write: Access, variables: Sequence[Var]) -> list[Var] | None:
    """The iteration variables that index the store, if each index is one of them by itself."""
    block = write.block
    assert block is not None
    stores = [
        n
        for n in walk(block.body)
        if getattr(n, "buffer", None) is write.buffer and hasattr(n, "value")
    ]
    if len(stores) != 1:
        return None
    places = [i for i in getattr(stores[0], "indices", ()) if isinstance(i, Var)]
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


def _written_box(write: Access, loops: Sequence[For], env: Bounds) -> Box | None:
    """The box that the inner loops fill without gaps, as sums of strides; None if not shown."""
    reduced = _reduced_to_zero(write, loops)
    inside = env
    free: dict[Var, int] = {}
    for loop in loops:
        size = const_int(loop.extent)
        if not prove(loop.extent >= 1, inside):
            return None
        inside = inside.bind_loop(loop.var, loop.extent)
        if size is not None:
            free[loop.var] = size
    inner = {loop.var for loop in loops}
    if any(loads_of(i) for i in write.indices):
        return None
    indices = [simplify(substitute(i, reduced), inside) for i in write.indices]
    box: Box = []
    for index in indices:
        span = _gapless(index, inner, free, inside)
        if span is None:
            return None
        box.append(span)
    valid = inside
    for index, size in zip(indices, write.buffer.shape, strict=True):
        valid = valid.assume(index >= 0).assume(index < size)
    held = all(prove(substitute(c, reduced), valid) for c in write.conditions)
    return box if held else None


def _gapless(
    index: Expr, inner: set[Var], free: dict[Var, int], env: Bounds
) -> tuple[Expr, Expr] | None:
    """The run of values of an index while loops run; each loop is used up by one dimension."""
    moving: list[tuple[int, Var]] = []
    for atom, factor in linear_form(index, env).terms.items():
        if isinstance(atom, Var) and atom in free:
            moving.append((factor, atom))
        elif uses_var(atom, inner):
            return None
    reach = 0
    start: dict[Var, Expr] = {}
    for factor, var in sorted(moving, key=lambda pair: abs(pair[0])):
        if abs(factor) > reach + 1:
            return None
        last = free.pop(var) - 1
        reach += abs(factor) * last
        start[var] = const(last if factor < 0 else 0, var.dtype)
    return simplify(substitute(index, start), env), const(reach + 1)


def _contains(
    low: Expr,
    extent: Expr,
    index: Expr,
    size: Expr,
    inner: dict[Var, Interval],
    env: Bounds,
) -> bool:
    """Whether a run holds all values of an index that lie inside the dimension."""
    starts, ends = prove(low <= 0, env), prove(low + extent >= size, env)
    if starts and ends:
        return True
    span = relax([index], inner, env)
    if span.extent is None:
        return False
    return (starts or prove(low <= span.min, env)) and (
        ends or prove(low + extent >= span.min + span.extent, env)
    )
