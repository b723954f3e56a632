"""The loop nest of one compute: loops over its axes around a single block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tvmlab.arith import law_of, simplify
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Combiner,
    Expr,
    For,
    If,
    IterKind,
    IterVar,
    Let,
    Load,
    Select,
    Stmt,
    Store,
    Var,
    is_const,
    make_block,
    seq,
    substitute,
    transform,
)

from .axis import Axis
from .reads import refuse_reads_outside
from .reduction import Reduce, combined
from .tensor import ComputeOp, Tensor


@dataclass(frozen=True, slots=True)
class Walk:
    """How a compute's axis is walked: the values `first + n` for `n < extent`.

    `loop` is a loop around, if another statement makes it.
    """

    axis: Axis
    first: Expr
    extent: Expr
    kind: IterKind
    loop: Var | None = None


def walk_of(axis: Axis) -> Walk:
    """The whole range of an axis, in a loop of its own."""
    return Walk(axis, axis.min, axis.extent, axis.kind)


def compute_nest(
    op: ComputeOp,
    name: str,
    buffers: Mapping[Tensor, Buffer],
    walks: Sequence[Walk] | None = None,
) -> Stmt:
    """Loops over all axes around the one block of a compute, which gets the name."""
    steps = walks or [walk_of(axis) for axis in (*op.axis, *op.reduce_axis)]
    ranges: dict[Var, tuple[Expr, Expr]] = {w.axis: (w.first, w.extent) for w in steps}
    for part in _read_at_all_points(op):
        refuse_reads_outside(part, ranges, op.name, op.span)
    loops = [Var(w.axis.name) if w.loop is None else w.loop for w in steps]
    iters = [IterVar(Var(f"v{w.axis.name}"), w.extent, w.kind) for w in steps]
    body: Stmt = _Body(op, buffers, steps, iters).block(name, loops)
    for step, loop in zip(reversed(steps), reversed(loops), strict=True):
        if step.loop is None:
            body = For(loop, step.extent, body)
    return body


def _read_at_all_points(op: ComputeOp) -> tuple[Expr, ...]:
    """The formulas whose reads are made at every point: not what a condition keeps out."""
    reduce = op.reduction
    if reduce is None or is_const(reduce.where, True):
        return op.formulas
    return (reduce.where, *reduce.init)


class _Body:
    """The block of a compute over given iteration variables."""

    def __init__(
        self,
        op: ComputeOp,
        buffers: Mapping[Tensor, Buffer],
        walks: Sequence[Walk],
        iters: list[IterVar],
    ) -> None:
        self.op = op
        self.buffers = buffers
        self.iters = iters
        self.targets = [buffers[t] for t in op.outputs]
        self.values: dict[Var, Expr] = {
            w.axis: it.var if is_const(w.first, 0) else it.var + w.first
            for w, it in zip(walks, iters, strict=True)
        }
        self.shifted = any(not is_const(w.first, 0) for w in walks)
        self.indices = tuple(self.values[axis] for axis in op.axis)

    def block(self, name: str, loops: Sequence[Var]) -> Block:
        reduce = self.op.reduction
        init: Stmt | None = None
        combiner: Combiner | None = None
        if reduce is None:
            body = self.stores([self.plain(e) for e in self.op.body])
        else:
            init = seq([self.store(n, e) for n, e in enumerate(self.starts(reduce))])
            if reduce.reducer.simple and len(self.targets) == 1:
                body = self.update(reduce)
            else:
                # A user's functions may speak of the compute's axes.
                combiner = self.plain_combiner(reduce.combiner)
                body = self.updates(reduce, combiner)
        block = make_block(
            BlockSymbol(name), self.iters, loops, body, init=init, annotations=self.op.attrs.pairs
        )
        return block if combiner is None else replace(block, combiner=combiner)

    def plain(self, e: Expr) -> Expr:
        """A formula over the program's buffers and the block's iteration variables."""
        placed = substitute(untensor(e, self.buffers), self.values)
        return _simple_indices(placed) if self.shifted else placed

    def plain_combiner(self, combiner: Combiner) -> Combiner:
        """A combiner over the block's iteration variables."""
        return replace(
            combiner,
            results=tuple(self.plain(e) for e in combiner.results),
            identity=tuple(self.plain(e) for e in combiner.identity),
        )

    def store(self, n: int, value: Expr) -> Stmt:
        return Store(self.targets[n], self.indices, value)

    def stores(self, values: Sequence[Expr]) -> Stmt:
        """All outputs stored after all their values are known."""
        if len(values) == 1:
            return self.store(0, values[0])
        new = [Var(f"new{n}", e.dtype) for n, e in enumerate(values)]
        body = seq([self.store(n, v) for n, v in enumerate(new)])
        return _lets(new, values, body)

    def starts(self, reduce: Reduce) -> list[Expr]:
        given = reduce.init or reduce.reducer.identity(tuple(e.dtype for e in reduce.source))
        return [self.plain(e) for e in given]

    def update(self, reduce: Reduce) -> Stmt:
        """A built-in reduction of one value, in the form that the schedule recognizes."""
        current = Load(self.targets[0], self.indices)
        (result,) = reduce.reducer.combine((current,), (self.plain(reduce.value),))
        where = self.plain(reduce.where)
        return self.store(0, result if is_const(where, True) else Select(where, result, current))

    def updates(self, reduce: Reduce, combiner: Combiner) -> Stmt:
        """A reduction by a combiner: the next values, what they make with the old ones, stores.

        Points that do not count bring the neutral element, if that is what it is; else they are
        left out by a condition around.
        """
        where = self.plain(reduce.where)
        right = [Var(f"next{n}", v.dtype) for n, v in enumerate(combiner.right)]
        values = [self.plain(e) for e in reduce.source]
        guarded = not is_const(where, True)
        neutral = guarded and law_of(combiner).holds
        if neutral:
            values = [
                Select(where, e, identity)
                for e, identity in zip(values, combiner.identity, strict=True)
            ]
        old = tuple(Load(target, self.indices) for target in self.targets)
        body = _lets(right, values, self.stores(combined(combiner, old, tuple(right))))
        return If(where, body) if guarded and not neutral else body


def _lets(variables: Sequence[Var], values: Sequence[Expr], body: Stmt) -> Stmt:
    for var, value in zip(reversed(variables), reversed(values), strict=True):
        body = Let(var, value, body)
    return body


def _simple_indices(e: Expr) -> Expr:
    """Indices of reads as short as they can be: a range that starts late makes `v + 1 - 1`."""

    def visit(current: Expr) -> Expr:
        if not isinstance(current, Load):
            return current
        return Load(current.buffer, tuple(simplify(i) for i in current.indices), current.mask)

    return transform(e, visit)


def untensor(expr: Expr, buffers: Mapping[Tensor, Buffer]) -> Expr:
    """Loads of tensors become loads of the program's buffers."""

    def visit(current: Expr) -> Expr:
        if isinstance(current, Load) and isinstance(current.buffer, Tensor):
            return Load(buffers[current.buffer], current.indices, current.mask)
        return current

    return transform(expr, visit)
