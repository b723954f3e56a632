"""Tensors and the operations that make them. A tensor is a buffer that knows how it is computed.

Programs never contain tensors: `create_program` replaces each by a plain buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TypeAlias, Union

from tvmlab.ir import Buffer, Expr, ExprLike, Load, const_int
from tvmlab.support import ShapeError, Span, node

from .axis import Axis, index_expr
from .reduction import Reduce

Index: TypeAlias = Union[ExprLike, tuple[ExprLike, ...]]


@node
class PlaceholderOp:
    """An input."""

    name: str
    span: Span | None = None


@node
class ComputeOp:
    """An output given by one formula per element, over `axis` (and the reduction's axes)."""

    name: str
    axis: tuple[Axis, ...]
    body: Expr
    tag: str = ""
    span: Span | None = None

    @property
    def reduce_axis(self) -> tuple[Axis, ...]:
        """The axes that the formula reduces over; none for an element-wise one."""
        return self.body.axes if isinstance(self.body, Reduce) else ()


Operation: TypeAlias = Union[PlaceholderOp, ComputeOp]


@node
class Tensor(Buffer):
    """A typed, shaped value of a tensor program. `T[i, j]` reads an element in a formula."""

    op: Operation = field(default=PlaceholderOp("T"), kw_only=True)

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

    def __iter__(self) -> object:
        raise TypeError(f"tensor {self.name} cannot be iterated over; index it in a te.compute")

    def _check_literal(self, position: int, expr: Expr, size: Expr) -> None:
        value, limit = const_int(expr), const_int(size)
        if value is not None and (value < 0 or (limit is not None and value >= limit)):
            raise ShapeError(
                f"{self.name} is indexed with {value} in dimension {position}, whose size is "
                f"{'symbolic' if limit is None else limit}",
                hint="indices count from 0; negative indices do not wrap around",
            )
