"""The statement of a scan: first steps, then the time loop around the stages of the cell."""

from __future__ import annotations

from collections.abc import Mapping

from tvmlab.ir import (
    BlockSymbol,
    Buffer,
    For,
    IterVar,
    Load,
    Stmt,
    Store,
    Var,
    const_int,
    make_block,
    seq,
)

from .nests import Walk, compute_nest, walk_of
from .scan import cell_of
from .tensor import ComputeOp, ScanOp, Tensor


def scan_nest(
    op: ScanOp,
    buffers: Mapping[Tensor, Buffer],
    names: Mapping[object, str],
    written: frozenset[Tensor],
) -> Stmt:
    """A scan over the program's buffers.

    The updates store into the buffers of the scan itself, which the buffers of states and updates
    already are. Inits in `written` did so too; others are copied.
    """
    copies = [
        _copy(names[op], init, buffers[init], buffers[state])
        for init, state in zip(op.init, op.state_placeholder, strict=True)
        if init not in written
    ]
    axis = op.scan_axis
    if const_int(axis.extent) == 0:
        return seq(copies)  # the inits are all there is
    time = Var(axis.name)
    updates = {tensor.op for tensor in op.update}
    stages: list[Stmt] = []
    for cell in cell_of(op):
        assert isinstance(cell, ComputeOp)
        # The order of steps is that of the time; a stage beside the updates only follows them.
        kind = "opaque" if cell in updates else "spatial"
        step = Walk(cell.axis[0], axis.min, axis.extent, kind, loop=time)
        rest = [walk_of(a) for a in (*cell.axis[1:], *cell.reduce_axis)]
        stages.append(compute_nest(cell, names[cell], buffers, [step, *rest]))
    return seq([*copies, For(time, axis.extent, seq(stages))])


def _copy(name: str, init: Tensor, source: Buffer, target: Buffer) -> Stmt:
    """The first steps of a state, from a tensor that others need too."""
    loops = [Var(f"i{n}") for n in range(init.ndim)]
    iters = [IterVar(Var(f"vi{n}"), size, "spatial") for n, size in enumerate(init.shape)]
    place = tuple(it.var for it in iters)
    body: Stmt = make_block(
        BlockSymbol(f"{target.name}_init"), iters, loops, Store(target, place, Load(source, place))
    )
    for loop, size in zip(reversed(loops), reversed(init.shape), strict=True):
        body = For(loop, size, body)
    return body
