"""The same computation at other sizes: what a schedule would do to a larger or an odd problem.

Sizes are found from how iteration variables index buffers: variables that must stay equal share
one size. Buffers that are indexed by sums of variables, as in convolutions, grow along. What
compares an index with a fixed number, as padding does, cannot be resized and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, Union

from tvmlab.arith import Bounds, linear_form
from tvmlab.ir import (
    Block,
    Buffer,
    Compare,
    Const,
    Expr,
    For,
    Names,
    Node,
    Program,
    Region,
    Var,
    const_int,
    replace_buffers,
    transform,
    walk,
)
from tvmlab.schedule import index_of
from tvmlab.support import UserError

_Side: TypeAlias = Union[Var, tuple[Buffer, int]]
"""A variable of a block, or a dimension of a buffer."""


@dataclass(frozen=True, slots=True)
class Size:
    """A size that can be changed: a name such as `i`, its value, and what it runs over."""

    name: str
    value: int
    about: str


class Resizer:
    """The sizes of an unscheduled program, and the program at other ones.

    Raises
    ------
    UserError
        If a size is known only at run time.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._blocks = list(index_of(program).blocks.values())
        self._names = Names(program)
        self._summed = {it.var for b in self._blocks for it in b.iters if it.kind == "reduce"}
        self._same: dict[_Side, _Side] = {}
        self._values: dict[_Side, int] = {}
        self._note_sides()
        self._note_equal_ones()
        self._groups = self._grouped()
        self._named = {self._name(root): root for root in self._groups}

    @property
    def sizes(self) -> tuple[Size, ...]:
        """What can be changed, in the order in which loops come."""
        found: list[Size] = []
        for name, root in self._named.items():
            if self._values[root] > 1:  # a size of one is how a formula keeps a dimension
                dims = [f"{s[0].name} dim {s[1]}" for s in self._dimensions_of(root)]
                found.append(Size(name, self._values[root], ", ".join(dims)))
        return tuple(found)

    def program(self, wanted: Mapping[str, int]) -> Program:
        """The program with some of its sizes changed.

        Raises
        ------
        UserError
            If there is no such size, it is not positive, or a formula holds it as a number.
        """
        values = {root: self._values[root] for root in self._groups}
        for name, value in wanted.items():
            if name not in self._named:
                known = ", ".join(self._named)
                raise UserError(f"there is no size {name!r}", hint=f"sizes are {known}")
            if value < 1:
                raise UserError(f"{name} = {value}: a size must be at least 1")
            values[self._named[name]] = value
        self._let_others_follow(values, {self._named[name] for name in wanted})
        changed = {root for root, value in values.items() if self._values[root] != value}
        if not changed:
            return self._program
        self._require_free_formulas({v for root in changed for v in self._groups[root]})
        return self._rebuilt(values)

    # ---------------------------------------------------------------- finding sizes

    def _note_sides(self) -> None:
        for block in self._blocks:
            for it in block.iters:
                self._values[it.var] = _known(it.extent, it.var.name)
        for buffer in self._program.buffers:
            for place, extent in enumerate(buffer.shape):
                self._values[buffer, place] = _known(extent, buffer.name)

    def _note_equal_ones(self) -> None:
        """A dimension that one variable alone indexes has that variable's size."""
        for block in self._blocks:
            for region, place, low in _indices(block):
                side = (region.buffer, place)
                if isinstance(low, Var) and self._values.get(low) == self._values[side]:
                    self._join(low, side)

    def _join(self, a: _Side, b: _Side) -> None:
        first, second = self._root(a), self._root(b)
        if first != second:
            self._same[second] = first

    def _root(self, side: _Side) -> _Side:
        while side in self._same:
            side = self._same[side]
        return side

    def _grouped(self) -> dict[_Side, list[Var]]:
        """The variables of each size; sizes with none follow from others."""
        groups: dict[_Side, list[Var]] = {}
        for block in self._blocks:
            for it in block.iters:
                groups.setdefault(self._root(it.var), []).append(it.var)
        return groups

    def _dimensions_of(self, root: _Side) -> list[tuple[Buffer, int]]:
        return [s for s in self._values if isinstance(s, tuple) and self._root(s) == root]

    def _name(self, root: _Side) -> str:
        """A variable's name without the letter that tells it from its loop, used once."""
        group = self._groups[root]
        names = [self._names[v] for v in sorted(group, key=lambda v: v in self._summed)]
        short = [n[1:] if n.startswith("v") and len(n) > 1 else n for n in names]
        others = {
            self._names[v].removeprefix("v")
            for other, group in self._groups.items()
            if other != root and self._values[other] > 1
            for v in group
        }
        return next((n for n in short if n not in others), names[0])

    # ---------------------------------------------------------------- making the program

    def _let_others_follow(self, values: dict[_Side, int], wanted: set[_Side]) -> None:
        """What is indexed by sums of variables grows with them: padded data with their windows."""
        old = self._extents(self._values)
        for _ in self._blocks:
            new = self._extents(values)
            for side in self._values:
                root = self._root(side)
                if isinstance(side, tuple) and root in values and root not in wanted:
                    values[root] = self._values[root] + self._growth(side, old, new)

    def _extents(self, values: Mapping[_Side, int]) -> dict[Var, int]:
        return {v: values[root] for root, group in self._groups.items() for v in group}

    def _require_free_formulas(self, changed: set[Var]) -> None:
        for block in self._blocks:
            for node in walk(block.body):
                if isinstance(node, Compare) and _fixed(node, changed):
                    raise UserError(
                        f"the formula of {block.symbol.name} compares an index with a fixed "
                        f"number, as padding does, so its sizes belong together",
                        hint="make the computation again with other sizes, and replay the steps",
                    )

    def _rebuilt(self, values: Mapping[_Side, int]) -> Program:
        fresh = {
            buffer: _reshaped(buffer, shape)
            for buffer, shape in self._shapes(values).items()
            if shape != buffer.const_shape
        }
        extents = self._extents(values)
        loops = self._loop_extents(extents)

        def resize(node: Node) -> Node:
            if isinstance(node, For) and node.var in loops:
                return replace(node, extent=Const(loops[node.var], node.var.dtype))
            if isinstance(node, Block):
                iters = tuple(
                    replace(it, extent=Const(extents[it.var], it.var.dtype)) for it in node.iters
                )
                return replace(node, iters=iters)
            return node

        body = replace_buffers(transform(self._program.body, resize), fresh)
        params = tuple(
            fresh.get(p, p) if isinstance(p, Buffer) else p for p in self._program.params
        )
        allocs = tuple(fresh.get(b, b) for b in self._program.allocs)
        return replace(self._program, params=params, body=body, allocs=allocs)

    def _loop_extents(self, extents: Mapping[Var, int]) -> dict[Var, int]:
        """The loops of an unscheduled program give one variable each."""
        found: dict[Var, int] = {}
        for block in self._blocks:
            for it, binding in zip(block.iters, block.bindings, strict=True):
                if isinstance(binding, Var):
                    found[binding] = extents[it.var]
        return found

    def _shapes(self, values: Mapping[_Side, int]) -> dict[Buffer, tuple[int, ...]]:
        """Every buffer's shape: dimensions of a size have it, others grow along."""
        old, extents = self._extents(self._values), self._extents(values)
        shapes: dict[Buffer, tuple[int, ...]] = {}
        for buffer in self._program.buffers:
            shape: list[int] = []
            for place in range(len(buffer.shape)):
                side, root = (buffer, place), self._root((buffer, place))
                grown = self._growth(side, old, extents)
                shape.append(values.get(root, self._values[side] + grown))
            shapes[buffer] = tuple(shape)
        return shapes

    def _growth(
        self, side: tuple[Buffer, int], old: Mapping[Var, int], new: Mapping[Var, int]
    ) -> int:
        """By how much the largest index of a dimension moves."""
        changes = [
            _largest(low, new) - _largest(low, old)
            for block in self._blocks
            for region, place, low in _indices(block)
            if (region.buffer, place) == side and not isinstance(low, Var)
        ]
        return max(changes, default=0)


def _indices(block: Block) -> Iterable[tuple[Region, int, Expr]]:
    for region in (*block.reads, *block.writes):
        for place, low in enumerate(region.mins):
            yield region, place, low


def _largest(index: Expr, extents: Mapping[Var, int]) -> int:
    """The largest value of an index that is a sum of variables.

    Raises
    ------
    UserError
        If it is anything else.
    """
    form = linear_form(index, Bounds.of(dict(extents)))
    total = form.const
    for atom, factor in form.terms.items():
        if not isinstance(atom, Var) or atom not in extents:
            raise UserError(
                "an index is no sum of loops, so what a size changes is not known",
                hint="make the computation again with other sizes, and replay the steps",
            )
        total += max(0, factor * (extents[atom] - 1))
    return total


def _fixed(compare: Compare, variables: set[Var]) -> bool:
    """Whether a comparison sets an index against a number."""
    sides = (compare.a, compare.b)
    return any(const_int(side) is not None for side in sides) and any(
        isinstance(node, Var) and node in variables for side in sides for node in walk(side)
    )


def _known(extent: Expr, name: str) -> int:
    value = const_int(extent)
    if value is None:
        raise UserError(
            f"a size of {name} is known only at run time already",
            hint="call the kernel with arrays of any size",
        )
    return value


def _reshaped(buffer: Buffer, shape: tuple[int, ...]) -> Buffer:
    """A buffer of the same name and kind with another shape."""
    return replace(
        buffer,
        shape=tuple(Const(n, old.dtype) for n, old in zip(shape, buffer.shape, strict=True)),
    )
