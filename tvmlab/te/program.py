"""From output tensors to a program: one loop nest with one block per compute, in order of need."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    IterVar,
    Load,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    free_vars,
    is_const,
    make_block,
    seq,
    substitute,
    transform,
    walk,
)
from tvmlab.support import Namer, ShapeError, TypeMismatch

from .reads import refuse_reads_outside
from .reduction import Reduce
from .tensor import ComputeOp, Tensor


def create_program(
    outputs: Tensor | Sequence[Tensor],
    *,
    args: Sequence[Tensor | Var] | None = None,
    name: str | None = None,
) -> Program:
    """The program that computes the outputs, unscheduled.

    Parameters
    ----------
    outputs
        The tensors to compute.
    args
        Order of the parameters; by default scalar sizes, inputs in order of first use, outputs.
    name
        Name of the program; by default that of the first output, in lower case.

    Raises
    ------
    ShapeError
        If there is no output, an output is an input, or `args` misses an input or output.
    """
    roots = list(outputs) if isinstance(outputs, Sequence) else [outputs]
    stray = [r for r in roots if not isinstance(r, Tensor)]  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
    if stray:
        raise TypeMismatch(
            f"{type(stray[0]).__name__} is no tensor to compute",
            hint="pass one or more tensors that te.compute returned",
        )
    if not roots:
        raise ShapeError("there is nothing to compute: no output tensor was given")
    for root in roots:
        if not isinstance(root.op, ComputeOp):
            raise ShapeError(
                f"{root.name} is an input, not a computed tensor",
                hint="pass the tensor that te.compute returned",
            )
    order = topological_order(roots)
    namer = Namer()
    buffers = {t: Buffer(namer.name(t, t.name), t.shape, t.dtype) for t in order}
    inputs = [t for t in order if not isinstance(t.op, ComputeOp)]
    params = _params(order, inputs, roots, args)
    taken = {t for t in params if isinstance(t, Tensor)}
    nests = [_nest(t, buffers) for t in order if isinstance(t.op, ComputeOp)]
    return Program(
        name or roots[0].name.lower(),
        tuple(buffers[p] if isinstance(p, Tensor) else p for p in params),
        seq(nests),
        tuple(buffers[t] for t in order if t not in taken),
    )


def topological_order(roots: Sequence[Tensor]) -> list[Tensor]:
    """The tensors that the roots need and the roots themselves, producers before consumers."""
    done: dict[Tensor, None] = {}
    stack: list[tuple[Tensor, bool]] = [(t, False) for t in reversed(roots)]
    while stack:
        tensor, ready = stack.pop()
        if tensor in done:
            continue
        if ready:
            done[tensor] = None
            continue
        stack.append((tensor, True))
        stack.extend((t, False) for t in reversed(inputs_of(tensor)))
    return list(done)


def inputs_of(tensor: Tensor) -> list[Tensor]:
    """The tensors that a tensor's formula reads, in order of first use."""
    if not isinstance(tensor.op, ComputeOp):
        return []
    found: dict[Tensor, None] = {}
    for part in _formula_parts(tensor.op.body):
        for current in walk(part):
            if isinstance(current, Load) and isinstance(current.buffer, Tensor):
                found.setdefault(current.buffer)
    return list(found)


def _formula_parts(body: Expr) -> list[Expr]:
    return [body.value, body.where] if isinstance(body, Reduce) else [body]


def _params(
    order: list[Tensor],
    inputs: list[Tensor],
    roots: list[Tensor],
    args: Sequence[Tensor | Var] | None,
) -> list[Tensor | Var]:
    sizes = _scalar_vars(order)
    if args is None:
        return [*sizes, *inputs, *dict.fromkeys(roots)]
    missing = [t.name for t in [*sizes, *inputs, *roots] if t not in args]
    if missing:
        raise ShapeError(
            f"the argument list misses {', '.join(missing)}, which the program reads or computes",
            hint="list every input and every output",
        )
    if len(set(args)) != len(args):
        raise ShapeError("the argument list names a tensor twice")
    return list(args)


def _scalar_vars(order: list[Tensor]) -> list[Var]:
    """Scalar parameters: variables of shapes and formulas that no axis binds."""
    found: dict[Var, None] = {}
    for tensor in order:
        bound: set[Var] = set()
        parts: list[Expr] = list(tensor.shape)
        if isinstance(tensor.op, ComputeOp):
            axes = (*tensor.op.axis, *tensor.op.reduce_axis)
            bound.update(axes)
            parts += [e for axis in axes for e in (axis.extent, axis.min)]
            parts += _formula_parts(tensor.op.body)
        for part in parts:
            found.update((v, None) for v in free_vars(part) if v not in bound)
    return list(found)


def _nest(tensor: Tensor, buffers: dict[Tensor, Buffer]) -> Stmt:
    """Loops over all axes around the one block of a compute."""
    op = tensor.op
    assert isinstance(op, ComputeOp)
    axes = (*op.axis, *op.reduce_axis)
    for part in _formula_parts(op.body):
        refuse_reads_outside(part, axes, op.name, op.span)
    loops = [Var(axis.name) for axis in axes]
    iters = [IterVar(Var(f"v{axis.name}"), axis.extent, axis.kind) for axis in axes]
    values: dict[Var, Expr] = {
        axis: it.var if is_const(axis.min, 0) else it.var + axis.min
        for axis, it in zip(axes, iters, strict=True)
    }
    block = _block(tensor, buffers, iters, loops, values)
    body: Stmt = block
    for loop, axis in zip(reversed(loops), reversed(axes), strict=True):
        body = For(loop, axis.extent, body)
    return body


def _block(
    tensor: Tensor,
    buffers: dict[Tensor, Buffer],
    iters: list[IterVar],
    loops: list[Var],
    values: dict[Var, Expr],
) -> Block:
    op = tensor.op
    assert isinstance(op, ComputeOp)
    target = buffers[tensor]
    indices = tuple(it.var for it in iters if it.kind == "spatial")

    def plain(e: Expr) -> Expr:
        return substitute(_untensor(e, buffers), values)

    if not isinstance(op.body, Reduce):
        body: Stmt = Store(target, indices, plain(op.body))
        return make_block(BlockSymbol(target.name), iters, loops, body)
    reduce = op.body
    current = Load(target, indices)
    combined = reduce.reducer.combine(current, plain(reduce.value))
    where = plain(reduce.where)
    if not is_const(where, True):
        combined = Select(where, combined, current)
    init = Store(target, indices, reduce.reducer.identity(tensor.dtype))
    return make_block(
        BlockSymbol(target.name), iters, loops, Store(target, indices, combined), init=init
    )


def _untensor(expr: Expr, buffers: dict[Tensor, Buffer]) -> Expr:
    """Loads of tensors become loads of the program's buffers."""

    def visit(current: Expr) -> Expr:
        if isinstance(current, Load) and isinstance(current.buffer, Tensor):
            return Load(buffers[current.buffer], current.indices, current.mask)
        return current

    return transform(expr, visit)
