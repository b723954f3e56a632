"""Derivatives of tensors by tensors, as tensors: reverse-mode automatic differentiation.

Each consumer of a tensor contributes what flows back through its reads. A read is turned round, so
that the gradient of a matrix product is a matrix product and that of a convolution a convolution.

>>> dA, dB = gradient(C, [A, B], head=dC)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.arith import Bounds, simplify
from tvmlab.ir import (
    Expr,
    Load,
    Select,
    Var,
    conjunction,
    const,
    eq,
    is_const,
    substitute,
    transform,
)
from tvmlab.support import ShapeError, TypeMismatch, UnsupportedOp

from .axis import Axis, reduce_axis
from .compute import compute
from .derivative import Partial, partials, times
from .folds import sum as sum_over
from .order import operations_of
from .reduction_gradient import Share, shares_of
from .scan import same_size
from .solve_indices import Equation, Solution, solve
from .tensor import ComputeOp, Operation, Tensor


def gradient(
    output: Tensor, inputs: Tensor | Sequence[Tensor], head: Tensor | None = None
) -> list[Tensor]:
    """For each input the derivative of the output by it, times the derivative by the output.

    Parameters
    ----------
    output
        The tensor to differentiate.
    inputs
        What to differentiate by: inputs of the program or intermediate tensors.
    head
        The derivative of something by `output`, of the shape `(..., *output.shape)`; for a loss
        that is a number this is its gradient. Without it the derivatives of each element of the
        output by each of the input are given, of the shape `(*output.shape, *input.shape)`.

    Returns
    -------
    list of Tensor
        For each input a tensor of the shape of `head` with the output's part replaced by the
        input's. Where a function has a corner a derivative of one side is taken; equal largest
        elements of a maximum share what flows back.

    Raises
    ------
    UnsupportedOp
        If an operation on the way has no derivative that is known.
    """
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    for tensor in (output, *wanted):
        # Users without a type checker may pass an element.
        if not isinstance(tensor, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeMismatch(f"te.gradient takes tensors, not {type(tensor).__name__}")
        if not tensor.dtype.is_float:
            raise TypeMismatch(
                f"{tensor.name} holds {tensor.dtype}: there is no derivative",
                hint="differentiate tensors of floats; convert them before",
            )
    prefix = _prefix(output, head)
    back = _Backward(output, head, prefix, _active(output, wanted))
    return [back.gradient_of(tensor) for tensor in wanted]


def _prefix(output: Tensor, head: Tensor | None) -> tuple[Expr, ...]:
    if head is None:
        return output.shape
    count = head.ndim - output.ndim
    tail = head.shape[max(count, 0) :]
    if count < 0 or not all(same_size(a, b) for a, b in zip(tail, output.shape, strict=True)):
        raise ShapeError(
            f"the head {head!r} does not end in the shape of {output!r}",
            hint="its shape is that of the output, after any number of other sizes",
        )
    return head.shape[:count]


def _active(output: Tensor, wanted: Sequence[Tensor]) -> set[Tensor]:
    """The tensors through which the output depends on the wanted ones."""
    active = set(wanted)
    for op in operations_of([output]):
        if any(t in active for t in op.input_tensors):
            active.update(t for t in op.outputs if t.dtype.is_float)
    return active


@dataclass(frozen=True, slots=True)
class _Term:
    """What one read brings: a formula over axes, to be summed over some where a condition holds."""

    value: Expr
    where: Expr
    over: dict[Var, Expr]


@dataclass(frozen=True, slots=True)
class _Read:
    """A read in a share of an output of a compute, and how the share changes with it."""

    op: ComputeOp
    output: Tensor
    share: Share
    part: Partial


class _Backward:
    """The gradients of all tensors on the way from the output to the inputs."""

    def __init__(
        self, output: Tensor, head: Tensor | None, prefix: tuple[Expr, ...], active: set[Tensor]
    ) -> None:
        self.output = output
        self.head = head
        self.prefix = prefix
        self.active = active
        self.users: dict[Tensor, list[Operation]] = {}
        for op in operations_of([output]):
            for tensor in op.input_tensors:
                self.users.setdefault(tensor, []).append(op)
        self.known: dict[Tensor, Tensor | None] = {}

    def gradient_of(self, tensor: Tensor) -> Tensor:
        """The gradient by a tensor; zeros if nothing depends on it."""
        if tensor is self.output and self.head is None:
            return self._build(tensor, identity=True)
        found = self._find(tensor)
        return self._build(tensor) if found is None else found

    def _find(self, tensor: Tensor) -> Tensor | None:
        if tensor is self.output:
            return self.head
        if tensor not in self.known:
            parts = [
                self._contribution(op, tensor)
                for op in dict.fromkeys(self.users.get(tensor, []))
                if any(t in self.active or t is self.output for t in op.outputs)
            ]
            made = [p for p in parts if p is not None]
            self.known[tensor] = _total(tensor, made)
        return self.known[tensor]

    def _contribution(self, op: Operation, tensor: Tensor) -> Tensor | None:
        """What flows back to a tensor through one operation that reads it."""
        if not isinstance(op, ComputeOp):
            raise UnsupportedOp(
                f"te.gradient does not go through {op.name}, which is no te.compute",
                hint="scans and outside code have no derivative that is known",
            )
        pieces: list[Tensor] = []
        for output in op.outputs:
            if output not in self.active and output is not self.output:
                continue
            if output is not self.output and self._find(output) is None:
                continue
            for share in shares_of(op, output):
                pieces += self._through(op, output, share, tensor)
        return _total(tensor, pieces)

    def _through(self, op: ComputeOp, output: Tensor, share: Share, tensor: Tensor) -> list[Tensor]:
        return [
            self._build(tensor, _Read(op, output, share, part))
            for part in partials(share.formula, lambda read: read.buffer is tensor)
        ]

    def _build(
        self, tensor: Tensor, read: _Read | None = None, *, identity: bool = False
    ) -> Tensor:
        """The compute of one contribution; without a read it is zero, or the identity."""
        shape = (*self.prefix, *tensor.shape)
        count = len(self.prefix)

        def element(*axes: Axis) -> Expr:
            outer, place = axes[:count], axes[count:]
            if identity:
                same = conjunction([eq(a, b) for a, b in zip(outer, place, strict=True)])
                return Select(same, const(1, tensor.dtype), const(0, tensor.dtype))
            if read is None:
                return const(0, tensor.dtype)
            return _formula(self._term(outer, place, read))

        return compute(shape, element, name=f"{tensor.name}_grad")

    def _term(self, outer: tuple[Axis, ...], place: tuple[Axis, ...], read: _Read) -> _Term:
        op, share = read.op, read.share
        new = {axis: Var(axis.name) for axis in (*op.axis, *share.axes)}
        moved: dict[Var, Expr] = {a: v if is_const(a.min, 0) else v + a.min for a, v in new.items()}
        given: dict[Var, Expr] = {a: a.extent for a in (*outer, *place)}
        indices = [substitute(i, moved) for i in read.part.read.indices]
        equations: list[Equation] = list(zip(indices, place, strict=True))
        spatial = [moved[a] for a in op.axis]
        if read.output is self.output and self.head is None:
            equations += list(zip(spatial, outer, strict=True))
            upstream: Expr = const(1, read.output.dtype)
        else:
            back = self._find(read.output)
            assert back is not None
            upstream = Load(back, (*outer, *spatial))
        factor = times(share.factor, read.part.value)
        product = times(upstream, substitute(factor, moved))
        holds = substitute(conjunction([share.where, read.part.where]), moved)
        solution = solve(equations, {v: a.extent for a, v in new.items()}, given)
        return _term_of(product, holds, solution, given)


def _term_of(product: Expr, holds: Expr, solution: Solution, given: dict[Var, Expr]) -> _Term:
    env = Bounds.of({**given, **solution.free})
    kept = substitute(holds, solution.values)
    where = simplify(conjunction([*solution.conditions, kept]), env)
    inside = env if is_const(where, True) else env.assume(where)
    return _Term(_short(substitute(product, solution.values), inside), where, solution.free)


def _short(e: Expr, env: Bounds) -> Expr:
    """The formula with short indices."""

    def visit(current: Expr) -> Expr:
        if isinstance(current, Load):
            return Load(current.buffer, tuple(simplify(i, env) for i in current.indices))
        return current

    return transform(e, visit)


def _formula(term: _Term) -> Expr:
    if not term.over:
        if is_const(term.where, True):
            return term.value
        return Select(term.where, term.value, const(0, term.value.dtype))
    axes = {v: reduce_axis(extent, v.name) for v, extent in term.over.items()}
    values: dict[Var, Expr] = dict(axes)
    where = substitute(term.where, values)
    return sum_over(
        substitute(term.value, values),
        axis=list(axes.values()),
        where=None if is_const(where, True) else where,
    )


def _total(tensor: Tensor, parts: Sequence[Tensor]) -> Tensor | None:
    """The sum of contributions; None if there is none."""
    if len(parts) < 2:
        return parts[0] if parts else None

    def element(*axes: Axis) -> Expr:
        total = parts[0][axes]
        for part in parts[1:]:
            total = total + part[axes]
        return total

    return compute(parts[0].shape, element, name=f"{tensor.name}_grad")
