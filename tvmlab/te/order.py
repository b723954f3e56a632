"""What tensors depend on: operations in order of need, and the scalars that they use."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import Expr, Var, free_vars, walk

from .tensor import ComputeOp, ExternOp, Operation, Tensor


def operations_of(roots: Sequence[Tensor]) -> list[Operation]:
    """The operations that the roots need, producers before consumers."""
    done: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(t.op, False) for t in reversed(roots)]
    while stack:
        op, ready = stack.pop()
        if op in done:
            continue
        if ready:
            done[op] = None
            continue
        stack.append((op, True))
        stack.extend((t.op, False) for t in reversed(op.input_tensors))
    return list(done)


def topological_order(roots: Sequence[Tensor]) -> list[Tensor]:
    """The tensors that the roots need and the roots themselves, producers before consumers."""
    return [tensor for op in operations_of(roots) for tensor in op.outputs]


def inputs_of(tensor: Tensor) -> list[Tensor]:
    """The tensors that a tensor's operation reads, in order of first use."""
    return list(tensor.op.input_tensors)


def scalars_of(order: Sequence[Operation]) -> list[Var]:
    """Scalar parameters: variables of shapes and formulas that no axis binds."""
    found: dict[Var, None] = {}
    for op in order:
        bound: set[Var] = set()
        parts: list[Expr] = [size for tensor in op.outputs for size in tensor.shape]
        if isinstance(op, ComputeOp):
            axes = (*op.axis, *op.reduce_axis)
            bound.update(axes)
            parts += [e for axis in axes for e in (axis.extent, axis.min)]
            parts += op.formulas
        for part in parts:
            found.update((v, None) for v in free_vars(part) if v not in bound)
        if isinstance(op, ExternOp):
            found.update((v, None) for v in _scalars_of_extern(op))
    return list(found)


def _scalars_of_extern(op: ExternOp) -> list[Var]:
    """Free variables of the statement and of the sizes of the buffers that it works on."""
    sizes = [s for b in (*op.in_buffers, *op.out_buffers) for s in b.shape]
    free = [v for part in (op.body, *sizes) for v in free_vars(part)]
    local = {v for n in walk(op.body) if (v := getattr(n, "var", None)) is not None}
    return [v for v in free if v not in local]
