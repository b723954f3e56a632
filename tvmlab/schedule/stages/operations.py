"""Operations made from others: with other inputs, other axes, other formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tvmlab.ir import Expr, Load, Var, substitute, transform
from tvmlab.support import DType, InternalError
from tvmlab.te import Axis, ComputeOp, ExternOp, Operation, PlaceholderOp, Reducer, ScanOp, Tensor
from tvmlab.te.tensor import add_outputs

Formula = Callable[[Expr], Expr]
Values = tuple[Expr, ...]


def with_inputs(op: Operation, new: Mapping[Tensor, Tensor]) -> Operation:
    """The operation reading other tensors; the same one if it reads none of them.

    The new operation has the same axes and makes new tensors of the same names.
    """
    if not any(t in new for t in op.input_tensors):
        return op
    if isinstance(op, ComputeOp):
        return like(op, replace(op, body=map_formulas(op, lambda e: read_from(e, new))))
    if isinstance(op, ScanOp):
        return like(
            op,
            replace(
                op,
                init=tuple(new.get(t, t) for t in op.init),
                update=tuple(new.get(t, t) for t in op.update),
                inputs=tuple(new.get(t, t) for t in op.inputs),
            ),
        )
    if isinstance(op, ExternOp):
        return like(op, replace(op, inputs=tuple(new.get(t, t) for t in op.inputs)))
    if isinstance(op, PlaceholderOp):
        return op
    raise InternalError(f"{op.name} is of an unknown kind, {type(op).__name__}")


def copied(op: Operation, name: str, scope: str, new: Mapping[Tensor, Tensor]) -> Operation:
    """The operation under another name, its outputs in a memory, reading other tensors."""
    if isinstance(op, ComputeOp):
        made: Operation = replace(op, name=name, body=map_formulas(op, lambda e: read_from(e, new)))
    elif isinstance(op, ScanOp):
        made = replace(
            op,
            name=name,
            init=tuple(new.get(t, t) for t in op.init),
            update=tuple(new.get(t, t) for t in op.update),
            state_placeholder=tuple(new.get(t, t) for t in op.state_placeholder),
            inputs=tuple(new.get(t, t) for t in op.inputs),
        )
    elif isinstance(op, ExternOp):
        made = replace(op, name=name, inputs=tuple(new.get(t, t) for t in op.inputs))
    else:
        made = replace(op, name=name)
    several = len(op.outputs) > 1
    for n, old in enumerate(op.outputs):
        title = f"{name}_v{n}" if several else name
        made.outputs.append(Tensor(title, old.shape, old.dtype, scope, op=made, value_index=n))
    return made


def like(old: Operation, new: Operation) -> Operation:
    """A new operation, given outputs of the shapes and types of the old one's."""
    add_outputs(new, [t.shape for t in old.outputs], [t.dtype for t in old.outputs])
    return new


def read_from(formula: Expr, new: Mapping[Tensor, Tensor]) -> Expr:
    """A formula with reads of some tensors going to others."""

    def visit(current: Expr) -> Expr:
        if isinstance(current, Load) and isinstance(current.buffer, Tensor):
            target = new.get(current.buffer)
            if target is not None:
                return Load(target, current.indices, current.mask)
        return current

    return transform(formula, visit)


def with_inlined(op: Operation, inlined: Mapping[Tensor, ComputeOp]) -> Operation:
    """The operation with formulas in the place of elements of inlined tensors."""

    def visit(current: Expr) -> Expr:
        if isinstance(current, Load) and isinstance(current.buffer, Tensor):
            producer = inlined.get(current.buffer)
            if producer is not None:
                values: dict[Var, Expr] = dict(zip(producer.axis, current.indices, strict=True))
                return with_values(producer.body[current.buffer.value_index], values)
        return current

    if not isinstance(op, ComputeOp) or not any(t in inlined for t in op.input_tensors):
        return op
    made = replace(op, body=map_formulas(op, lambda e: transform(e, visit)))
    for old in op.outputs:
        made.outputs.append(replace(old, op=made))
    return made


def with_values(formula: Expr, values: Mapping[Var, Expr]) -> Expr:
    """A formula with expressions in the place of axes."""
    return substitute(formula, {a: v for a, v in values.items() if a is not v})


def map_formulas(op: ComputeOp, change: Formula) -> tuple[Expr, ...]:
    """The bodies of a compute with each formula changed, those inside a reduction included."""
    first = op.reduction
    if first is None:
        return tuple(change(body) for body in op.body)
    source = tuple(change(e) for e in first.source)
    where = change(first.where)
    init = tuple(change(e) for e in first.init)
    reducer = first.reducer if first.reducer.simple else _changed(first.reducer, change)
    return tuple(
        replace(first, reducer=reducer, source=source, where=where, init=init, value_index=n)
        for n in range(len(op.body))
    )


def _changed(reducer: Reducer, change: Formula) -> Reducer:
    """A user's reducer, whose functions may speak of axes, with what they return changed."""

    def combine(left: Values, right: Values) -> Values:
        return tuple(change(e) for e in reducer.combine(left, right))

    def identity(dtypes: tuple[DType, ...]) -> Values:
        return tuple(change(e) for e in reducer.identity(dtypes))

    return replace(reducer, combine=combine, identity=identity)


def made_compute(
    name: str, axes: Sequence[Axis], bodies: Sequence[Expr], like_op: ComputeOp
) -> ComputeOp:
    """A compute over new axes with its outputs."""
    made = replace(like_op, name=name, axis=tuple(axes), body=tuple(bodies))
    shape = tuple(axis.extent for axis in made.axis)
    add_outputs(made, [shape] * len(bodies), [body.dtype for body in bodies])
    return made
