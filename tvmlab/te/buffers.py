"""Buffers as handed to code that is written by hand: with pointers, vectors and strides.

>>> Ab = decl_buffer((16,), "float32", name="A", strides=[1])
>>> Ab.access_ptr("r"), Ab.vload((0,), "float32x8")          # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Literal, TypeAlias

from tvmlab.ir import (
    Access,
    Buffer,
    Expr,
    ExprLike,
    Load,
    Operand,
    Ramp,
    Region,
    Scope,
    Store,
    Stride,
    Var,
    as_expr,
    const,
    const_int,
    is_const,
)
from tvmlab.support import DType, ShapeError, TypeMismatch, UserError, identifier, node

from .axis import index_expr, shape_of

Role: TypeAlias = Literal["read", "write", "update"]
StrideLike: TypeAlias = ExprLike | None

_MODES: dict[str, Role] = {"r": "read", "w": "write", "rw": "update", "wr": "update"}
_MASKS: dict[int, Role] = {1: "read", 2: "write", 3: "update"}


@node
class View(Buffer):
    """A buffer that stands for a part of another one, of which only the shape is known here.

    `declared_strides` says, where not empty, what the code expects: a number for a stride that
    must be this one, a variable for one that may be any. `role` says what the code does with it.
    """

    declared_strides: tuple[Expr, ...] = field(default=(), kw_only=True)
    role: Role = field(default="update", kw_only=True)

    @property
    def strides(self) -> tuple[Expr, ...]:
        """Elements between neighbors along each axis."""
        found: list[Expr] = []
        for axis in range(len(self.shape)):
            known = self.declared_strides[axis] if self.declared_strides else None
            found.append(known if known is not None and const_int(known) else Stride(self, axis))
        return tuple(found)

    @property
    def data(self) -> Operand:
        """A pointer to the first element, for outside code."""
        return self.access_ptr(self.role)

    @property
    def elem_offset(self) -> Expr:
        """Elements before the first one: none, as pointers are to the first one already."""
        return const(0)

    def access_ptr(
        self,
        access_mask: str | int,
        ptr_type: object = None,
        content_lanes: int = 1,
        offset: ExprLike = 0,
        extent: ExprLike | None = None,
    ) -> Operand:
        """A pointer into the buffer, with what outside code does through it.

        Parameters
        ----------
        access_mask
            "r", "w" or "rw"; the bit masks 1, 2 and 3 of old programs mean the same.
        ptr_type, content_lanes, extent
            Taken for the sake of old programs; the pointer is to elements of the buffer.
        offset
            Elements to skip, along the last axis.
        """
        del ptr_type, content_lanes, extent
        return operand_of(self, _access(access_mask), as_expr(offset))

    def vload(self, begin: ExprLike | Sequence[ExprLike], dtype: DType | str | None = None) -> Expr:
        """A vector of consecutive elements; its type says how many, as in "float32x8"."""
        return Load(self, _vector_place(self, begin, dtype))

    def vstore(self, begin: ExprLike | Sequence[ExprLike], value: ExprLike) -> Store:
        """The statement that stores a vector to consecutive elements."""
        stored = as_expr(value, self.dtype)
        return Store(self, _vector_place(self, begin, stored.dtype), stored)

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Expr:
        return Load(self, _place(self, indices))


def decl_buffer(
    shape: ExprLike | tuple[ExprLike, ...] | list[ExprLike],
    dtype: DType | str | None = None,
    name: str = "buffer",
    data: object = None,
    strides: Sequence[StrideLike] | None = None,
    elem_offset: object = None,
    scope: Scope | None = "global",
    data_alignment: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "",
) -> View:
    """A buffer that stands for an operand of hand-written code.

    Parameters
    ----------
    shape, dtype, name, scope
        As of any buffer; the memory is required of the operand if it is not "global".
    strides
        For each axis a number that the operand's stride must be, or a variable or None if the code
        takes any. Without strides, code that asks for a pointer needs a compact operand.
    data, elem_offset, data_alignment, offset_factor, buffer_type
        Taken for the sake of old programs; they say nothing here.
    """
    del data, elem_offset, data_alignment, offset_factor, buffer_type
    sizes = shape_of(shape, name)
    given = [None if s is None else as_expr(s) for s in strides or ()]
    if given and len(given) != len(sizes):
        raise ShapeError(
            f"buffer {name} has {len(sizes)} dimension(s), but {len(given)} stride(s) are given"
        )
    known = tuple(Var("stride") if s is None else s for s in given)
    element = DType.of(dtype or "float32")
    return View(identifier(name), sizes, element, scope or "global", declared_strides=known)


def view_of(buffer: Buffer, role: Role, name: str | None = None) -> View:
    """A view of a buffer's shape and type, for code with a given role of it."""
    if isinstance(buffer, View) and name is None:
        return replace(buffer, role=role)
    return View(name or buffer.name, buffer.shape, buffer.dtype, buffer.scope, role=role)


def operand_of(buffer: Buffer, access: Access, offset: Expr | None = None) -> Operand:
    """All of a buffer as an operand of a call, or what follows an offset in its last axis."""
    mins: list[Expr] = [const(0)] * len(buffer.shape)
    extents = list(buffer.shape)
    if offset is not None and not is_const(offset, 0):
        if not mins:
            raise ShapeError(f"{buffer.name} has one element, so a pointer into it has no offset")
        mins[-1] = index_expr(offset, f"the offset into {buffer.name}")
        extents[-1] = extents[-1] - mins[-1]
    return Operand(Region(buffer, tuple(mins), tuple(extents)), access)


def _access(mask: str | int) -> Role:
    if isinstance(mask, str) and mask in ("read", "write", "update"):
        return mask
    found = _MODES.get(mask) if isinstance(mask, str) else _MASKS.get(mask)
    if found is None:
        raise UserError(f"access_ptr does not know {mask!r}", hint='it is "r", "w" or "rw"')
    return found


def _place(buffer: Buffer, indices: ExprLike | Sequence[ExprLike]) -> tuple[Expr, ...]:
    given = indices if isinstance(indices, Sequence) else (indices,)
    if len(given) != len(buffer.shape):
        raise ShapeError(
            f"{buffer.name} has {len(buffer.shape)} dimension(s) but is indexed with {len(given)}"
        )
    return tuple(as_expr(i) for i in given)


def _vector_place(
    buffer: Buffer, begin: ExprLike | Sequence[ExprLike], dtype: DType | str | None
) -> tuple[Expr, ...]:
    wanted = buffer.dtype if dtype is None else DType.of(dtype)
    if wanted.scalar != buffer.dtype:
        raise TypeMismatch(f"{buffer.name} holds {buffer.dtype}, not {wanted.scalar}")
    *outer, last = _place(buffer, begin)
    if wanted.lanes == 1:
        return (*outer, last)
    return (*outer, Ramp(last, const(1, last.dtype), wanted.lanes))
