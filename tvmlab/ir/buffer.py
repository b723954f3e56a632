"""Buffers: named, typed, shaped storage, and rectangular regions of it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tvmlab.support import DType, node

from .expr import Expr, const_int

Scope: TypeAlias = Literal["global", "local", "shared", "register"]
"""Where a buffer lives. "local" is private to one iteration of the loops around it (stack or
registers), "register" is one SSA value made by register promotion."""


@node
class Buffer:
    """A symbol for storage: row-major and compact, unless lowering has flattened it.

    Two buffers with one name differ. A 0-d buffer has the shape `()` and one element.
    """

    name: str
    shape: tuple[Expr, ...]
    dtype: DType
    scope: Scope = "global"

    @property
    def const_shape(self) -> tuple[int, ...] | None:
        """The shape as integers if all of it is known, else None."""
        sizes = [const_int(s) for s in self.shape]
        return None if any(s is None for s in sizes) else tuple(s for s in sizes if s is not None)


@node
class Region:
    """A box of a buffer: for each dimension the first index and the number of indices."""

    buffer: Buffer
    mins: tuple[Expr, ...]
    extents: tuple[Expr, ...]
