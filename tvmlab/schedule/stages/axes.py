"""What a stage writes down: how its axes came from others, and what is to happen to each.

The derived axes are nominal: a stage that is attached to another one runs over the part of its
tensor that is needed there, so its loops may have other extents than the axes say here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeAlias, Union

from tvmlab.arith import Bounds, simplify
from tvmlab.ir import Expr, as_expr, const, const_int, minimum
from tvmlab.support import INDEX
from tvmlab.te import Axis, Tensor, ThreadAxis


class AttachType(IntEnum):
    """Where a stage is computed; numbers as old programs know them."""

    ROOT = 1
    INLINE = 2
    SCOPE = 4
    SCAN = 5


class IterType(IntEnum):
    """How the loop of an axis runs; numbers as old programs know them."""

    DATA_PARALLEL = 0
    THREAD_INDEX = 1
    REDUCTION = 2
    ORDERED = 3
    OPAQUE = 4
    UNROLLED = 5
    VECTORIZED = 6
    PARALLELIZED = 7
    TENSORIZED = 8


class Text(str):
    """A text that also has it as its `value`, as old programs read it."""

    __slots__ = ()

    @property
    def value(self) -> str:
        """The text itself."""
        return str(self)


@dataclass(slots=True, eq=False)
class AxisMark:
    """What is to happen to the loop of one axis."""

    iter_type: IterType = IterType.DATA_PARALLEL
    bind_thread: ThreadAxis | None = None
    pragmas: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    prefetches: list[tuple[Tensor, Expr]] = field(default_factory=list[tuple[Tensor, Expr]])
    align: tuple[int, int] | None = None
    tensor_intrin: Any = None

    @property
    def pragma_keys(self) -> list[Text]:
        """The names of the pragmas."""
        return [Text(name) for name, _ in self.pragmas]

    @property
    def pragma_values(self) -> list[Any]:
        """The values of the pragmas."""
        return [value for _, value in self.pragmas]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """`parent` became `outer` times `inner`; one of factor and nparts was given."""

    parent: Axis
    outer: Axis
    inner: Axis
    factor: int | None
    nparts: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Fuse:
    """Neighboring `axes` became one."""

    axes: tuple[Axis, ...]
    fused: Axis

    @property
    def outer(self) -> Axis:
        return self.axes[0]

    @property
    def inner(self) -> Axis:
        return self.axes[-1]


@dataclass(frozen=True, slots=True, eq=False)
class Singleton:
    """An axis of one iteration was made from none."""

    iter: Axis


@dataclass(frozen=True, slots=True, eq=False)
class Reorder:
    """Axes were put into this order."""

    axes: tuple[Axis, ...]


Relation: TypeAlias = Union[Split, Fuse, Singleton]
Change: TypeAlias = Union[Relation, Reorder]


def split_axis(parent: Axis, factor: int | None, nparts: int | None) -> Split:
    """The relation of splitting an axis, with the new axes."""
    size = parent.extent
    given = factor if factor is not None else nparts
    assert given is not None
    rest = ceil_div(size, given)
    part = _at_most(given, size)
    outer, inner = (rest, part) if factor is not None else (part, rest)
    return Split(
        parent,
        Axis(f"{parent.name}_outer", INDEX, outer, parent.kind),
        Axis(f"{parent.name}_inner", INDEX, inner, parent.kind),
        factor,
        nparts,
    )


def fuse_axes(axes: tuple[Axis, ...]) -> Fuse:
    """The relation of fusing axes, with the new axis; it reduces if one of them does."""
    size: Expr = const(1)
    for axis in axes:
        size = size * axis.extent
    kind = "reduce" if any(axis.kind == "reduce" for axis in axes) else "spatial"
    name = "_".join(axis.name for axis in axes) + "_fused"
    return Fuse(axes, Axis(name, INDEX, simplify(size, Bounds.of({})), kind))


def root_values(
    roots: tuple[Axis, ...], relations: list[Relation]
) -> tuple[dict[Axis, Expr], list[Expr]]:
    """The values of a stage's own axes in terms of its leaf axes, and the guards of tails.

    An axis that does not start at zero keeps its start; guards say which combinations of leaves
    stand for an iteration.
    """
    values: dict[Axis, Expr] = {}
    guards: list[Expr] = []
    for relation in reversed(relations):
        if isinstance(relation, Split):
            outer = values.get(relation.outer, relation.outer)
            inner = values.get(relation.inner, relation.inner)
            value = outer * relation.inner.extent + inner
            values[relation.parent] = value
            whole = const_int(relation.parent.extent)
            parts = const_int(relation.outer.extent), const_int(relation.inner.extent)
            if None in (whole, *parts) or (parts[0] or 0) * (parts[1] or 0) != whole:
                guards.append(value < relation.parent.extent)
        elif isinstance(relation, Fuse):
            rest = values.get(relation.fused, relation.fused)
            for axis in reversed(relation.axes[1:]):
                values[axis] = rest % axis.extent
                rest = rest // axis.extent
            values[relation.axes[0]] = rest
    for axis in roots:
        first = const_int(axis.min)
        if first != 0 and axis in values:
            values[axis] = values[axis] + axis.min
    return {axis: values.get(axis, axis) for axis in roots}, guards


def ceil_div(size: Expr, parts: int) -> Expr:
    """`size / parts`, rounded up."""
    known = const_int(size)
    if known is not None:
        return const(-(-known // parts))
    return simplify((size + (parts - 1)) // parts, Bounds.of({}))


def _at_most(value: int, size: Expr) -> Expr:
    known = const_int(size)
    return as_expr(value) if known is None else as_expr(const_int(minimum(value, known)) or value)
