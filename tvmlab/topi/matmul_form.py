"""Reading a matrix product off a tensor expression, so that one schedule serves all of its forms.

Transposed operands, batches, vectors, and element-wise operators behind the product are seen here.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.ir import Binary, Cast, Expr, Load, Var, const_int
from tvmlab.support import UserError
from tvmlab.te import Axis, ComputeOp, Tensor

from .tag import is_broadcast


@dataclass(frozen=True, slots=True)
class Operand:
    """One of the two factors: its tensor, and the axis along which its elements are neighbors."""

    tensor: Tensor
    axes: tuple[Var, ...]

    @property
    def run(self) -> Var | None:
        """The axis of neighbors in memory; None if the last dimension has a single element."""
        return self.axes[-1] if self.axes else None


@dataclass(frozen=True, slots=True)
class ProductForm:
    """A product `out[..., i, j] = sum over k of left[..., i, k] * right[..., k, j]` in any layout.

    Attributes
    ----------
    product, output
        The tensor of the sums, and the last of the element-wise operators behind it.
    between
        The operators between these two, in order.
    outer
        How many of the output's dimensions come before those of the product.
    m, n, k
        Sizes; `m` is 1 where the left factor is a vector.
    itemsize
        Bytes of the widest element, which fills the registers.
    """

    product: Tensor
    output: Tensor
    between: tuple[Tensor, ...]
    left: Operand
    right: Operand
    outer: int
    rows: Axis | None
    columns: Axis
    sum: Axis
    m: int
    n: int
    k: int
    itemsize: int

    @property
    def block(self) -> str:
        """The name of the block that multiplies."""
        return self.product.op.name

    @property
    def one_tensor(self) -> bool:
        """Whether both factors are the same tensor, as in `a @ a.T`: copies would be for both."""
        return self.left.tensor is self.right.tensor

    @property
    def left_transposed(self) -> bool:
        """Whether neighbors of the left factor lie in a column of it."""
        return self.rows is not None and self.left.run is self.rows

    @property
    def right_transposed(self) -> bool:
        """Whether neighbors of the right factor lie in a column of it."""
        return self.right.run is not self.columns


def product_form(output: Tensor) -> ProductForm:
    """Understand a tensor as a matrix product.

    Raises
    ------
    UserError
        If it is none.
    """
    product, between = _behind(output)
    op = product.op
    if not isinstance(op, ComputeOp) or op.reduction is None or len(op.reduce_axis) != 1:
        raise _no_product(output, "it is not a sum along one axis")
    factors = _factors(op)
    if factors is None or op.reduction.reducer.name != "sum":
        raise _no_product(output, "what it sums is not a product of elements of two tensors")
    spatial = [axis for axis in op.axis if const_int(axis.extent) != 1]
    if not spatial or (op.axis[-1] not in spatial and _in_both(spatial[-1], factors)):
        # A single column; what both factors change along is a batch.
        spatial.append(op.axis[-1])
    columns, left, right = _sides(spatial[-1], factors, op.reduce_axis[0])
    if left is None:
        raise _no_product(output, f"both factors change along {columns.name}, its last dimension")
    inside = [a for a in spatial[:-1] if a in left.axes and a not in right.axes]
    rows = inside[-1] if inside and inside[-1] is spatial[-2] else None
    sizes = [1 if axis is None else const_int(axis.extent) for axis in (rows, columns)]
    depth = const_int(op.reduce_axis[0].extent)
    if depth is None or any(size is None for size in sizes):
        raise _no_product(output, "its sizes are not numbers")
    return ProductForm(
        product, output, between, left, right,
        len(spatial) - (1 if rows is None else 2), rows, columns, op.reduce_axis[0],
        sizes[0] or 1, sizes[1] or 1, depth, product.dtype.itemsize,
    )  # fmt: skip


def _behind(output: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The product that element-wise operators follow, and those between it and the last one."""
    between: list[Tensor] = []
    current = output
    while isinstance(current.op, ComputeOp) and current.op.reduction is None:
        if current is not output:
            between.append(current)
        same = [
            t
            for t in current.op.input_tensors
            if isinstance(t.op, ComputeOp)
            and [const_int(s) for s in t.shape] == [const_int(s) for s in current.shape]
        ]
        if len(same) != 1 or not is_broadcast(current.op.tag):
            raise _no_product(output, "what stands behind the product is not element-wise")
        current = same[0]
    return current, tuple(reversed(between))


def _factors(op: ComputeOp) -> tuple[Load, Load] | None:
    term = op.formulas[0]
    if not isinstance(term, Binary) or term.op != "mul":
        return None
    first, second = _plain(term.a), _plain(term.b)
    if not isinstance(first, Load) or not isinstance(second, Load):
        return None
    return first, second


def _plain(value: Expr) -> Expr:
    """A value without casts around it."""
    while isinstance(value, Cast):
        value = value.value
    return value


def _sides(
    columns: Axis, factors: tuple[Load, Load], along: Axis
) -> tuple[Axis, Operand | None, Operand]:
    """The left and the right factor: the right one has the output's last dimension."""
    first, second = (_operand(load) for load in factors)
    if const_int(along.extent) != 1 and not (along in first.axes and along in second.axes):
        return columns, None, second
    has = (columns in first.axes, columns in second.axes)
    if has == (True, True) and const_int(columns.extent) != 1:
        return columns, None, second
    return (columns, second, first) if has == (True, False) else (columns, first, second)


def _in_both(axis: Axis, factors: tuple[Load, Load]) -> bool:
    return all(axis in _operand(load).axes for load in factors)


def _operand(load: Load) -> Operand:
    tensor = load.buffer
    assert isinstance(tensor, Tensor)
    axes = [i for i in load.indices if not _stands_still(i)]
    known = [i for i in axes if isinstance(i, Var)]
    return Operand(tensor, tuple(known) if len(known) == len(axes) else ())


def _stands_still(index: Expr) -> bool:
    """Whether an index has a single value."""
    if isinstance(index, Axis):
        return const_int(index.extent) == 1
    return const_int(index) is not None


def _no_product(output: Tensor, why: str) -> UserError:
    return UserError(
        f"{output.op.name} cannot be scheduled as a matrix product: {why}",
        hint="it must be out[..., i, j] = sum over k of a[..., i, k] * b[..., k, j], with the "
        "dimensions of a and b in any order, and element-wise operators behind it",
    )
