"""What part of each buffer one execution of a line touches, as boxes.

For the loop over `k` in a matrix product, one execution touches a row of A, a column of B and one
element of C. Boxes come from the regions of blocks: linear indices are followed by their
coefficients, all others by `arith.relax`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tvmlab.arith import Bounds, Interval, linear_form, relax
from tvmlab.ir import Block, Buffer, Expr, Region, Var, const_int, substitute

Extents = Mapping[Var, int]


@dataclass(frozen=True, slots=True)
class Box:
    """Extents of the touched part of a buffer, no larger than the buffer."""

    buffer: Buffer
    extents: tuple[int, ...]

    def bytes(self, line: int = 1) -> int:
        """Bytes that move to bring it near, if memory moves in lines of so many bytes."""
        whole, width = self.buffer.const_shape or (), self.buffer.dtype.bits / 8
        if not self.extents:
            return max(line, int(width))
        # The innermost dimensions touched whole are one run of neighboring elements.
        inner = len(whole) - 1
        while inner > 0 and self.extents[inner] == whole[inner]:
            inner -= 1
        run = int(prod(self.extents[inner:]) * width)
        return prod(self.extents[:inner]) * (-(-run // line) * line)


@dataclass(frozen=True, slots=True)
class _Index:
    """One index of an access, as a sum of loops (or other atoms) with factors, and a constant."""

    expr: Expr
    extent: int
    terms: Mapping[Expr, int]
    constant: int

    @property
    def key(self) -> tuple[tuple[int, int], ...]:
        """Equal for indices that differ by a constant; atoms are interned by the environment."""
        return tuple(sorted((id(atom), factor) for atom, factor in self.terms.items()))

    @property
    def is_linear(self) -> bool:
        return all(isinstance(atom, Var) for atom in self.terms)


@dataclass(frozen=True, slots=True)
class Access:
    """A region that a block touches, in terms of the loops around the block."""

    buffer: Buffer
    indices: tuple[_Index, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for accesses that differ only by constants, such as those of a stencil."""
        return (id(self.buffer), *(index.key for index in self.indices))


def accesses_of(block: Block, env: Bounds) -> list[Access] | None:
    """The regions of a block over the loops around it; None if a size is known only at run time."""
    bindings = {it.var: value for it, value in zip(block.iters, block.bindings, strict=True)}
    found: list[Access] = []
    for region in (*block.reads, *block.writes):
        access = _access(region, bindings, env)
        if access is None:
            return None
        found.append(access)
    return found


def _access(region: Region, bindings: Mapping[Var, Expr], env: Bounds) -> Access | None:
    if region.buffer.const_shape is None:
        return None
    indices: list[_Index] = []
    for low, extent in zip(region.mins, region.extents, strict=True):
        width = const_int(extent)
        if width is None:
            return None
        expr = bindings.get(low) if isinstance(low, Var) else None
        expr = substitute(low, bindings) if expr is None else expr
        form = linear_form(expr, env)
        indices.append(_Index(expr, width, form.terms, form.const))
    return Access(region.buffer, tuple(indices))


def boxes(accesses: Iterable[Access], inner: Extents, env: Bounds) -> dict[Buffer, Box]:
    """The box of each buffer that is touched while the inner loops run and the others stand.

    Accesses that differ by constants share a box. Those that move differently are taken to be
    apart: their box is as long as both together.
    """
    groups: dict[tuple[object, ...], list[Access]] = {}
    for access in accesses:
        groups.setdefault(access.key, []).append(access)
    result: dict[Buffer, Box] = {}
    shown: dict[Buffer, Access] = {}
    for members in groups.values():
        buffer, columns = members[0].buffer, zip(*(m.indices for m in members), strict=True)
        sizes = buffer.const_shape or ()
        box = Box(
            buffer,
            tuple(min(_union(c, inner, env, n), n) for c, n in zip(columns, sizes, strict=True)),
        )
        old = result.get(buffer)
        result[buffer] = box if old is None else _apart(old, box, shown[buffer], members[0])
        shown[buffer] = members[0]
    return result


def merge(parts: Iterable[Mapping[Buffer, Box]]) -> dict[Buffer, Box]:
    """Boxes of several lines together; lines that share a buffer are taken to share its box."""
    result: dict[Buffer, Box] = {}
    for part in parts:
        for buffer, box in part.items():
            old = result.get(buffer)
            result[buffer] = box if old is None else _larger(old, box)
    return result


def _larger(a: Box, b: Box) -> Box:
    return Box(a.buffer, tuple(max(x, y) for x, y in zip(a.extents, b.extents, strict=True)))


def _apart(a: Box, b: Box, first: Access, second: Access) -> Box:
    """Both boxes one behind the other, along the first dimension in which their indices differ."""
    extents = list(_larger(a, b).extents)
    for place, (x, y) in enumerate(zip(first.indices, second.indices, strict=True)):
        whole = (a.buffer.const_shape or ())[place]
        if x.key != y.key and extents[place] < whole:
            extents[place] = min(a.extents[place] + b.extents[place], whole)
            break
    return Box(a.buffer, tuple(extents))


def _union(column: Sequence[_Index], inner: Extents, env: Bounds, whole: int) -> int:
    """The width that indices which differ by constants cover together in one dimension."""
    first = column[0]
    lowest = min(i.constant for i in column)
    reach = max(i.constant + i.extent for i in column) - lowest
    if not first.is_linear:
        ranges = {var: Interval.extent(extent) for var, extent in inner.items()}
        found = relax([first.expr], ranges, env).extent
        return whole if found is None else found - 1 + reach
    moving = ((v, c) for v, c in first.terms.items() if isinstance(v, Var) and v in inner)
    return reach + sum(abs(c) * (inner[v] - 1) for v, c in moving)
