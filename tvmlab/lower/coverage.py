"""Does an iteration of a loop read only what the same iteration wrote before?

If so, the buffer may be allocated inside the loop. All answers are proofs; "no" keeps the buffer
outside, which is always right for a loop that runs its iterations in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tvmlab.arith import (
    Bounds,
    linear_form,
    prove,
)
from tvmlab.ir import (
    Expr,
    For,
    loads_of,
    structural_equal,
    uses_var,
)

from .accesses import Access
from .touched import Run, touched_run
from .written import written_box


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
    return any(_moves_apart(accesses, dim, loop) for dim in range(len(accesses[0].buffer.shape)))


def _moves_apart(accesses: Sequence[Access], dim: int, loop: For) -> bool:
    """Whether the run of indices moves by its own length or more with each iteration."""
    env = Bounds()
    for around in accesses[0].loops:
        env = env.bind_loop(around.var, around.extent)
        if around.var is loop.var:
            break
    run = touched_run(accesses, dim, env)
    if run is None or loads_of(run.start):
        return False
    form = linear_form(run.start, env)
    factor = form.terms.get(loop.var, 0)
    rest = [atom for atom in form.terms if atom is not loop.var]
    return abs(factor) >= run.extent and not any(uses_var(atom, {loop.var}) for atom in rest)


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


@lru_cache(maxsize=64)
def _fills(write: Access, read: Access) -> bool:
    """Whether a write fills all elements of a read, while the loops around both stand still.

    Remembered, since it is asked anew for each of those loops.
    """
    shared = _common_loops(write.loops, read.loops)
    env = Bounds()
    for around in shared:
        env = env.bind_loop(around.var, around.extent)
    loops = write.loops[len(shared) :]
    box = written_box(write, loops, env)
    if box is None:
        return False
    sizes = write.buffer.shape
    return all(
        _contains(low, extent, touched_run([read], dim, env), sizes[dim], env)
        for dim, (low, extent) in enumerate(box)
    )


def _common_loops(a: Sequence[For], b: Sequence[For]) -> list[For]:
    shared: list[For] = []
    for x, y in zip(a, b, strict=False):
        if x.var is not y.var:
            break
        shared.append(x)
    return shared


def _contains(low: Expr, extent: Expr, run: Run | None, size: Expr, env: Bounds) -> bool:
    """Whether a box holds a run of indices, as far as that lies inside the dimension."""
    starts, ends = prove(low <= 0, env), prove(low + extent >= size, env)
    if starts and ends:
        return True
    if run is None:
        return False
    return (starts or prove(low <= run.start, env)) and (
        ends or prove(low + extent >= run.start + run.extent, env)
    )
