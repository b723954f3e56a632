"""Tensors and the operations that make them. A tensor is a buffer that knows how it is computed.

Programs never contain tensors: `create_program` replaces each by a plain buffer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TypeAlias, Union

from tvmlab.ir import Buffer, Expr, ExprLike, Load, Stmt, const_int, to_text, walk
from tvmlab.support import DType, ShapeError, Span, TypeMismatch, node

from .axis import Axis, index_expr
from .reduction import Reduce
from .tags import Attributes

Index: TypeAlias = Union[ExprLike, tuple[ExprLike, ...]]


@node
class Operation:
    """What makes one or more tensors.

    `tag` and `attrs` are free labels for passes and schedules; the attributes become annotations of
    the operation's block.
    """

    name: str
    tag: str = field(default="", kw_only=True)
    attrs: Attributes = field(default_factory=Attributes, kw_only=True)
    span: Span | None = field(default=None, kw_only=True)
    outputs: list[Tensor] = field(
        default_factory=list["Tensor"], init=False, repr=False, compare=False
    )
    """The tensors that it makes, filled when they are made."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def num_outputs(self) -> int:
        """How many tensors the operation makes."""
        return len(self.outputs)

    def output(self, index: int) -> Tensor:
        """The tensor of a position.

        Raises
        ------
        ShapeError
            If there is no output of that number.
        """
        if not 0 <= index < len(self.outputs):
            raise ShapeError(f"{self.name} has {len(self.outputs)} output(s), none number {index}")
        return self.outputs[index]

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that it reads, in order of first use."""
        return ()


@node
class PlaceholderOp(Operation):
    """An input."""


@node
class ComputeOp(Operation):
    """Outputs given by one formula per element, over `axis` (and the reduction's axes).

    `body` has one formula for each output. Either all are parts of one reduction, or none reduces.
    """

    axis: tuple[Axis, ...]
    body: tuple[Expr, ...]

    @property
    def reduction(self) -> Reduce | None:
        """The first output's reduction, whose axes and condition are those of all."""
        first = self.body[0]
        return first if isinstance(first, Reduce) else None

    @property
    def reduce_axis(self) -> tuple[Axis, ...]:
        """The axes that the formula reduces over; none for an element-wise one."""
        return () if self.reduction is None else self.reduction.axes

    @property
    def formulas(self) -> tuple[Expr, ...]:
        """All formulas, the parts of a reduction among them, none of which is a reduction."""
        return self.body if self.reduction is None else self.reduction.parts

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        return tensors_read(self.formulas)


@node
class ScanOp(Operation):
    """States that follow from their earlier values, step by step along their first axis.

    State `n` starts as `init[n]`, and at each later step `t` it is `update[n]` at `t`, a formula
    over `state_placeholder[...]` at steps before. `inputs` are the other tensors that the user
    named as read.
    """

    scan_axis: Axis
    init: tuple[Tensor, ...]
    update: tuple[Tensor, ...]
    state_placeholder: tuple[Tensor, ...]
    inputs: tuple[Tensor, ...] = ()

    @property
    def axis(self) -> tuple[Axis, ...]:
        """The time axis."""
        return (self.scan_axis,)

    @property
    def spatial_axis_(self) -> tuple[Axis, ...]:
        """The other axes of the states, those of the updates, by the name of the old `te`."""
        return tuple(
            axis for t in self.update if isinstance(t.op, ComputeOp) for axis in t.op.axis[1:]
        )

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        return (*self.init, *self.update)


@node
class ExternOp(Operation):
    """Outputs written by a statement of the user's, such as a call of outside code.

    `body` is over `in_buffers`, which stand for the inputs, and `out_buffers`.
    """

    inputs: tuple[Tensor, ...]
    in_buffers: tuple[Buffer, ...]
    out_buffers: tuple[Buffer, ...]
    body: Stmt

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        return self.inputs


@node
class Tensor(Buffer):
    """A typed, shaped value of a tensor program. `T[i, j]` reads an element in a formula."""

    op: Operation = field(default_factory=lambda: PlaceholderOp("T"), kw_only=True)
    value_index: int = field(default=0, kw_only=True)
    """Which output of its operation the tensor is."""

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, indices: Index) -> Expr:
        given: Sequence[ExprLike] = indices if isinstance(indices, tuple) else (indices,)
        if len(given) != len(self.shape):
            raise ShapeError(
                f"{self.name} has {len(self.shape)} dimension(s) but is indexed with {len(given)}",
                hint=f"write {self.name}[{', '.join('ijklmn'[: len(self.shape)])}]",
            )
        exprs = tuple(
            index_expr(index, f"index {position} of {self.name}")
            for position, index in enumerate(given)
        )
        for position, (expr, size) in enumerate(zip(exprs, self.shape, strict=True)):
            self._check_literal(position, expr, size)
        return Load(self, exprs)

    def __call__(self, *indices: ExprLike) -> Expr:
        return self[indices]

    def __iter__(self) -> Iterator[Expr]:
        raise TypeError(f"tensor {self.name} cannot be iterated over; index it in a te.compute")

    def _refuse_arithmetic(self, other: object = None) -> Expr:
        indices = ", ".join("ijklmn"[: len(self.shape)])
        raise TypeMismatch(
            f"{self.name} is a whole tensor, and formulas are made of elements",
            hint=f"write {self.name}[{indices}] inside a te.compute",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse_arithmetic
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refuse_arithmetic
    __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse_arithmetic
    __lt__ = __le__ = __gt__ = __ge__ = _refuse_arithmetic

    def __neg__(self) -> Expr:
        return self._refuse_arithmetic()

    def __abs__(self) -> Expr:
        return self._refuse_arithmetic()

    def __repr__(self) -> str:
        return f"<Tensor {self.name}: {self.dtype}[{', '.join(to_text(s) for s in self.shape)}]>"

    def _check_literal(self, position: int, expr: Expr, size: Expr) -> None:
        value, limit = const_int(expr), const_int(size)
        if value is not None and (value < 0 or (limit is not None and value >= limit)):
            raise ShapeError(
                f"{self.name} is indexed with {value} in dimension {position}, whose size is "
                f"{'symbolic' if limit is None else limit}",
                hint="indices count from 0; negative indices do not wrap around",
            )


def add_outputs(
    op: Operation, shapes: Sequence[tuple[Expr, ...]], dtypes: Sequence[DType]
) -> tuple[Tensor, ...]:
    """Make the tensors of a new operation; several are told apart by a number in their names."""
    for position, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
        name = op.name if len(shapes) == 1 else f"{op.name}_v{position}"
        op.outputs.append(Tensor(name, shape, dtype, op=op, value_index=position))
    return tuple(op.outputs)


def tensors_read(formulas: Sequence[Expr]) -> tuple[Tensor, ...]:
    """The tensors that formulas read, in order of first use."""
    found: dict[Tensor, None] = {}
    for formula in formulas:
        for current in walk(formula):
            if isinstance(current, Load) and isinstance(current.buffer, Tensor):
                found.setdefault(current.buffer)
    return tuple(found)
