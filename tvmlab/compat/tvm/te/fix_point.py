"""Along which axes the steps of a scan are independent of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvmlab.ir import Const, Expr, Load, Var, const, substitute, walk
from tvmlab.te import Axis, ComputeOp, Operation, ScanOp, Tensor


def ScanFixPointAnalysis(scan: ScanOp) -> dict[Axis, Const]:
    """For each spatial axis of a scan 1 if a step needs of earlier ones only what lies at the same
    place along it, else 0. An axis of the first kind can be moved outside of the time.
    """
    found: dict[Axis, Const] = {}
    for update in scan.update:
        op = update.op
        if not isinstance(op, ComputeOp):
            continue
        reads = list(_states_read(scan, op, op.axis))
        for place, axis in enumerate(op.axis[1:], start=1):
            fixed = all(len(indices) > place and indices[place] is axis for indices in reads)
            found[axis] = const(int(fixed))
    return found


def _states_read(
    scan: ScanOp, op: Operation, indices: Sequence[Expr]
) -> Iterator[tuple[Expr, ...]]:
    """The indices of states that an element needs, through the stages of the cell."""
    states = {state.op for state in scan.state_placeholder}
    if op in states:
        yield tuple(indices)
    if not isinstance(op, ComputeOp):
        return
    values: dict[Var, Expr] = dict(zip(op.axis, indices, strict=True))
    for formula in op.formulas:
        for load in walk(formula):
            if isinstance(load, Load) and isinstance(load.buffer, Tensor):
                inner = tuple(substitute(i, values) for i in load.indices)
                yield from _states_read(scan, load.buffer.op, inner)
