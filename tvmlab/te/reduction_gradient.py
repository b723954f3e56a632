"""How a compute's value changes with the values that it reduces."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tvmlab.ir import TRUE, Expr, Load, Select, Var, conjunction, const, eq, ne, substitute
from tvmlab.support import UnsupportedOp

from .axis import Axis, reduce_axis
from .compute import compute
from .folds import prod
from .folds import sum as sum_over
from .reduction import ARGMAX, ARGMIN, MAX, MIN, PROD, SUM, Reduce
from .tensor import ComputeOp, Tensor


@dataclass(frozen=True, slots=True)
class Share:
    """A formula whose change, times `factor`, changes the output, at points of `axes`."""

    formula: Expr
    factor: Expr
    axes: tuple[Axis, ...] = ()
    where: Expr = TRUE


def shares_of(op: ComputeOp, output: Tensor) -> list[Share]:
    """The formulas that an output of a compute changes with.

    Raises
    ------
    UnsupportedOp
        If it is a reduction by an operation whose derivative is not known.
    """
    body = op.body[output.value_index]
    one = const(1, output.dtype)
    if not isinstance(body, Reduce):
        return [Share(body, one)]
    share = Share(body.value, one, body.axes, body.where)
    start = [Share(body.init[body.value_index], one)] if body.init else []
    name = _name(body, output)
    if name == "sum":
        return [share, *start]
    if start:
        raise UnsupportedOp(f"te.gradient of te.{name} with a start of its own is not known")
    if name in ("min", "max"):
        return [replace(share, factor=_of_best(op, output, body))]
    if name == "prod":
        return [replace(share, factor=_of_product(op, body))]
    return [replace(share, factor=_of_found(op, output, body))]


def _name(body: Reduce, output: Tensor) -> str:
    """Which known reduction makes an output."""
    reducer = body.reducer
    if reducer in (ARGMAX, ARGMIN) and body.value_index == 1:
        return reducer.name
    one = reducer.each[body.value_index] if reducer.each else reducer
    if one in (SUM, PROD, MIN, MAX):
        return one.name
    raise UnsupportedOp(
        f"te.gradient does not know the derivative of {output.name}, a reduction by {reducer.name}",
        hint="known are te.sum, te.prod, te.min, te.max, te.argmin and te.argmax",
    )


def _of_best(op: ComputeOp, output: Tensor, body: Reduce) -> Expr:
    """Elements equal to the best one share alike."""
    zero, one = const(0, output.dtype), const(1, output.dtype)
    fresh = {axis: reduce_axis((axis.min, axis.min + axis.extent), axis.name) for axis in body.axes}

    def equals(*axes: Axis) -> Expr:
        values: dict[Var, Expr] = {**dict(zip(op.axis, axes, strict=True)), **fresh}
        same = eq(substitute(body.value, values), Load(output, axes))
        where = substitute(body.where, values)
        return sum_over(Select(same, one, zero), axis=list(fresh.values()), where=where)

    count = compute(output.shape, equals, name=f"{output.name}_ties")
    same = eq(body.value, Load(output, op.axis))
    return Select(same, one / Load(count, op.axis), zero)


def _of_product(op: ComputeOp, body: Reduce) -> Expr:
    """The product of all other elements, which is right where some are zero too."""
    extents = tuple(axis.extent for axis in body.axes)
    fresh = {axis: reduce_axis((axis.min, axis.min + axis.extent), axis.name) for axis in body.axes}
    rank = len(op.axis)

    def others(*axes: Axis) -> Expr:
        values: dict[Var, Expr] = {**dict(zip(op.axis, axes[:rank], strict=True)), **fresh}
        own = zip(body.axes, axes[rank:], strict=True)
        differs: Expr = const(False)
        for axis, at in own:
            differs = differs | ne(fresh[axis], at + axis.min)
        where = conjunction([substitute(body.where, values), differs])
        return prod(substitute(body.value, values), axis=list(fresh.values()), where=where)

    shape = (*(axis.extent for axis in op.axis), *extents)
    rest = compute(shape, others, name=f"{op.name}_others")
    return Load(rest, (*op.axis, *(axis - axis.min for axis in body.axes)))


def _of_found(op: ComputeOp, output: Tensor, body: Reduce) -> Expr:
    """The element that an arg-max found."""
    index = op.output(0)
    found = eq(body.source[0], Load(index, op.axis))
    return Select(found, const(1, output.dtype), const(0, output.dtype))
