"""The regions of blocks that hold loops: boxes of elements, as small as can be told.

with block("C", vi=spatial(4, io)):
    for ii in range(8):
        C[vi * 8 + ii] = A[vi * 8 + ii] * 2       ->   writes C[vi * 8 : vi * 8 + 8]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tvmlab.arith import Bounds, Relaxation, bound_of
from tvmlab.ir import (
    Alloc,
    Block,
    Buffer,
    Expr,
    For,
    If,
    Let,
    Load,
    Node,
    Operand,
    Ramp,
    Region,
    Stmt,
    Store,
    Var,
    children,
    const,
    const_int,
    is_const,
    structural_equal,
    substitute,
    walk,
)


@dataclass(frozen=True, slots=True)
class Touch:
    """An access somewhere in a block: `extents` elements of a buffer from `mins` on.

    `loops` are those of the block's body around it, and `conditions` hold there.
    """

    buffer: Buffer
    mins: tuple[Expr, ...]
    extents: tuple[Expr, ...]
    reads: bool
    writes: bool
    loops: Mapping[Var, Expr]
    conditions: tuple[Expr, ...]


def touches(stmt: Stmt) -> list[Touch]:
    """Every access of a statement to buffers that outlive it, in order."""
    return list(_Place().touches(stmt))


def touches_in_loops(block: Block) -> list[Touch]:
    """The accesses of a block in terms of the loops around it; its predicate is not in them."""
    return list(_Place().touches(block))


def block_with_regions(block: Block) -> Block:
    """The block with the regions that its body and init touch."""
    env = Bounds.of({it.var: it.extent for it in block.iters})
    found = touches(block.body) if block.init is None else touches(block.init) + touches(block.body)
    boxes = _Boxes(env)
    reads = [boxes.region(t) for t in found if t.reads]
    writes = [boxes.region(t) for t in found if t.writes]
    return replace(block, reads=_distinct(reads), writes=_distinct(writes))


@dataclass(frozen=True, slots=True)
class _Place:
    """What is around a node: loops, conditions, values of variables, and buffers that end there."""

    loops: Mapping[Var, Expr] = field(default_factory=lambda: dict[Var, Expr]())
    conditions: tuple[Expr, ...] = ()
    values: Mapping[Var, Expr] = field(default_factory=lambda: dict[Var, Expr]())
    local: frozenset[Buffer] = frozenset()

    def touches(self, node: Node) -> Iterator[Touch]:
        match node:
            case For():
                inside = {**self.loops, node.var: substitute(node.extent, self.values)}
                yield from replace(self, loops=inside).touches(node.body)
            case Block():
                known = zip((it.var for it in node.iters), node.bindings, strict=True)
                inner = self.knowing(dict(known))
                for part in (node.init, node.body):
                    yield from () if part is None else inner.touches(part)
            case If():
                yield from self._branches(node)
            case Let():
                yield from self.touches(node.value)
                yield from self.knowing({node.var: node.value}).touches(node.body)
            case Alloc():
                yield from replace(self, local=self.local | {node.buffer}).touches(node.body)
            case Operand():
                yield from self._operand(node)
            case Expr():
                for part in walk(node):
                    if isinstance(part, Load):
                        yield from self._access(part)
            case _:
                yield from self._access(node)
                for child in children(node):
                    yield from self.touches(child)

    def knowing(self, values: Mapping[Var, Expr]) -> _Place:
        """The same place, where more variables have values."""
        new = {var: substitute(value, self.values) for var, value in values.items()}
        return replace(self, values={**self.values, **new})

    def _branches(self, node: If) -> Iterator[Touch]:
        yield from self.touches(node.cond)
        condition = substitute(node.cond, self.values)
        yield from replace(self, conditions=(*self.conditions, condition)).touches(node.then)
        if node.otherwise is not None:
            yield from self.touches(node.otherwise)

    def _access(self, node: Node) -> Iterator[Touch]:
        if isinstance(node, (Load, Store)) and node.buffer not in self.local:
            spans = [
                _span(substitute(i, self.values), size)
                for i, size in zip(node.indices, node.buffer.shape, strict=True)
            ]
            mins, extents = tuple(s[0] for s in spans), tuple(s[1] for s in spans)
            reads = isinstance(node, Load)
            yield Touch(node.buffer, mins, extents, reads, not reads, self.loops, self.conditions)

    def _operand(self, node: Operand) -> Iterator[Touch]:
        region, access = node.region, node.access
        if region.buffer not in self.local and access != "address":
            yield Touch(
                region.buffer,
                tuple(substitute(e, self.values) for e in region.mins),
                tuple(substitute(e, self.values) for e in region.extents),
                access in ("read", "update"),
                access in ("write", "update"),
                self.loops,
                self.conditions,
            )


def _span(index: Expr, size: Expr) -> tuple[Expr, Expr]:
    """First index and number of indices; lanes whose places are not known may be anywhere."""
    if index.dtype.lanes == 1:
        return index, const(1, index.dtype)
    stride = const_int(index.stride) if isinstance(index, Ramp) else None
    if isinstance(index, Ramp) and stride is not None and stride > 0:
        return index.base, const((index.lanes - 1) * stride + 1, index.base.dtype)
    return const(0), size


class _Boxes:
    """The regions of touches in one block: many are in the same loops, some are the same."""

    def __init__(self, env: Bounds) -> None:
        self._env = env
        self._places: dict[Hashable, Relaxation] = {}
        self._known: dict[Hashable, Region] = {}

    def region(self, touch: Touch) -> Region:
        place = (id(touch.loops), touch.conditions)
        sizes = [e if (n := const_int(e)) is None else n for e in touch.extents]
        key = (touch.buffer, touch.mins, *sizes, *place)
        found = self._known.get(key)
        if found is None:
            inside = self._places.get(place)
            if inside is None:
                inside = self._places[place] = self._relaxation(touch)
            found = self._known[key] = _region(touch, inside)
        return found

    def _relaxation(self, touch: Touch) -> Relaxation:
        running = Bounds.of(dict(touch.loops))
        known = self._env
        for condition in touch.conditions:
            known = known.assume(condition)
        return Relaxation({v: bound_of(v, running) for v in touch.loops}, known)


def _region(touch: Touch, inside: Relaxation) -> Region:
    mins: list[Expr] = []
    extents: list[Expr] = []
    for low, extent, size in zip(touch.mins, touch.extents, touch.buffer.shape, strict=True):
        ends = [low] if is_const(extent, 1) else [low, low + (extent - 1)]
        box = inside.box(ends)
        most = const_int(size)
        whole = box.extent is None or box.extent >= (1 << 62 if most is None else most)
        mins.append(const(0) if whole else box.min)
        extents.append(size if whole else const(box.extent or 0))
    return Region(touch.buffer, tuple(mins), tuple(extents))


def _distinct(regions: Sequence[Region]) -> tuple[Region, ...]:
    found: list[Region] = []
    for region in regions:
        if not any(_same(region, other) for other in found):
            found.append(region)
    return tuple(found)


def _same(a: Region, b: Region) -> bool:
    return a.buffer is b.buffer and all(
        structural_equal(x, y)
        for x, y in zip((*a.mins, *a.extents), (*b.mins, *b.extents), strict=True)
    )
