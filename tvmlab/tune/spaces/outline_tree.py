"""The tree of loops and blocks that an outline works on: finding, moving, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tvmlab.ir import Program, Var
from tvmlab.schedule import LoopRef
from tvmlab.support import Namer, identifier
from tvmlab.tune.features.dense import Part, part_of
from tvmlab.tune.features.forms import Floats, Motion
from tvmlab.tune.features.geometry import access_geometry
from tvmlab.tune.features.nest import AccessKey

from .outline_nest import (
    Access,
    Column,
    Index,
    Leaf,
    Loop,
    NotOutlinedError,
    Storage,
    access_motions,
    composed,
    fixed_part,
    index_motion,
    largest,
    leaves,
    loops_in,
    moving,
    outline_of,
    substituted,
)

Node = Loop | Leaf


class NestTree:
    """Loops and blocks with columns for numbers.

    Parameters
    ----------
    batch
        Number of entries of each column.
    """

    def __init__(self, program: Program, batch: int) -> None:
        self.batch = batch
        self.nodes, self._known = outline_of(program)
        self.names = Namer(
            [b.name for b in program.buffers] + [leaf.name for leaf in leaves(self.nodes)]
        )

    # ---------------------------------------------------------------- finding

    def leaf(self, block: Any) -> Leaf:
        """The block of a name or reference."""
        if isinstance(block, Leaf):
            return block
        name = block if isinstance(block, str) else block.name
        for leaf in leaves(self.nodes):
            if leaf.name == name:
                return leaf
        raise NotOutlinedError(f"there is no block {name}")

    def loop(self, loop: Any) -> Loop:
        """The loop of a reference."""
        if isinstance(loop, Loop):
            return loop
        var: Var = loop.var if isinstance(loop, LoopRef) else loop
        return self._known[var]

    def children(self, parent: Loop | None) -> list[Node]:
        """What stands directly in a loop, or outermost."""
        return self.nodes if parent is None else parent.body

    def top(self, leaf: Leaf) -> Node:
        """The outermost node that holds a block."""
        around = leaf.around()
        return around[0] if around else leaf

    # --------------------------------------------------------------- changing

    def put(self, node: Node, parent: Loop | None, place: int) -> None:
        """Insert a node into a loop's body."""
        node.parent = parent
        self.children(parent).insert(place, node)

    def replace(
        self,
        old: Loop,
        news: Sequence[Loop],
        values: Mapping[Loop, Index],
        body: list[Node] | None = None,
    ) -> None:
        """Put loops, one in the other, in the place of one; indices follow."""
        inside = old.body if body is None else body
        siblings = self.children(old.parent)
        siblings[siblings.index(old)] = nested(news, inside)
        news[0].parent = old.parent
        for leaf in leaves(inside):
            leaf.bindings = [substituted(b, values) for b in leaf.bindings]

    def remove(self, leaf: Leaf) -> None:
        """Take a block out, and loops that hold nothing then."""
        node: Node = leaf
        while True:
            parent = node.parent
            self.children(parent).remove(node)
            if parent is None or parent.body:
                return
            node = parent

    def twin(self, buffer: Storage, scope: str) -> Storage:
        """A buffer like another one, in another scope."""
        name = self.names.fresh(identifier(f"{buffer.name}_{scope}"))
        return Storage(name, buffer.shape, buffer.itemsize, scope != "global", True)

    def copy(self, name: str, target: Storage, source: Storage) -> Leaf:
        """A block that copies a buffer, in loops of its own."""
        loops = [Loop(f"ax{n}", size) for n, size in enumerate(target.shape)]
        forms = tuple((("atom", n, 0),) for n in range(len(loops)))
        ones = np.ones((1, 1))
        leaf = Leaf(
            name=name,
            kinds=("spatial",) * len(loops),
            domain=target.shape,
            bindings=[((loop, 1.0),) for loop in loops],
            accesses=[
                Access(target, forms, ones, False, True),
                Access(source, forms, ones, True, False),
            ],
            operations=(0,) * 10,
            conditions=0.0,
            has_init=False,
        )
        nested(loops, [leaf])
        return leaf

    def move(
        self,
        leaf: Leaf,
        access: Access,
        touched: Sequence[tuple[Leaf, Access]],
        target: Loop,
        place: int,
    ) -> list[Loop]:
        """Run a block in a loop, over the window of a buffer that others touch there.

        Parameters
        ----------
        access
            How the block touches that buffer.
        touched
            How the others do.
        place
            Where in the body of the loop.
        """
        windows = self._windows(touched, target)
        spans = {
            form[0][1]: window
            for form, window in zip(access.forms, windows, strict=True)
            if len(form) == 1 and form[0][0] == "atom"
        }
        loops: list[Loop] = []
        for n, size in enumerate(leaf.domain):
            extent, base = spans.get(n, (size, ()))
            loops.append(Loop(f"ax{n}", extent))
            leaf.bindings[n] = (*base, (loops[-1], 1.0))
            # Where the last window goes further than the block does, a condition cuts it.
            beyond = np.asarray(largest(base) + extent) > size
            leaf.conditions = leaf.conditions + beyond.astype(np.float64)
        self.remove(leaf)
        self.put(nested(loops, [leaf]), target, place)
        return loops

    def _windows(
        self, touched: Sequence[tuple[Leaf, Access]], target: Loop
    ) -> list[tuple[Column, Index]]:
        """Size and start of what is touched while a loop and those around it stand still."""
        extents: list[Column] = [0.0] * len(touched[0][1].forms)
        bases: list[Index] = []
        for user, access in touched:
            loops = user.around()
            level = loops.index(target) + 1
            sizes, iters = self._motions(user, loops)
            # Loops with a tail go further than the block does.
            inside = [
                Motion(m.steps, np.minimum(m.ranges, size - 1.0))
                for m, size in zip(iters, user.domain, strict=True)
            ]
            motions = access_motions(access, inside, sizes)
            for dim, motion in enumerate(motions):
                reach = np.minimum(motion.ranges[:, level] + 1.0, access.buffer.shape[dim])
                extents[dim] = np.maximum(extents[dim], reach)
            if not bases:
                fixed = set(loops[:level])
                bases = [
                    fixed_part(composed(form, access.numbers, user.bindings), fixed)
                    for form in access.forms
                ]
        return list(zip(extents, bases, strict=True))

    # ---------------------------------------------------------------- numbers

    def parts(self) -> tuple[list[Part], list[float]]:
        """The nests in program order; number and bytes of own buffers, as `buffer_columns`."""
        blocks = list(leaves(self.nodes))
        own = {leaf.accesses[0].buffer: None for leaf in blocks if leaf.accesses[0].buffer.own}
        local = [_bytes(b) for b in own if b.local]
        spare = [_bytes(b) for b in own if not b.local]
        sums = [float(len(local)), sum(local), float(len(spare)), sum(spare)]
        return [self._part(leaf) for leaf in blocks], sums

    def _part(self, leaf: Leaf) -> Part:
        loops = leaf.around()
        extents, iters = self._motions(leaf, loops)
        pairs = zip(leaf.bindings, leaf.kinds, strict=True)
        reducing = set[Loop]().union(*(loops_in(b) for b, kind in pairs if kind == "reduce"))
        writing = moving(leaf.accesses[0], leaf.bindings)
        accesses = [
            access_geometry(
                AccessKey((), 0, a.buffer.itemsize, a.buffer.local, a.read, a.written),
                access_motions(a, iters, extents),
                np.array([a.buffer.shape]),
                extents,
            )
            for a in leaf.accesses
        ]
        marks = [(lp.kind, lp in reducing, lp in writing) for lp in loops]
        return part_of(extents, marks, accesses, leaf.operations, leaf.conditions, leaf.has_init)

    def _motions(self, leaf: Leaf, loops: Sequence[Loop]) -> tuple[Floats, list[Motion]]:
        """Extents of the loops, and how the iteration variables move."""
        extents = np.ones((self.batch, len(loops)))
        for n, loop in enumerate(loops):
            extents[:, n] = loop.extent
        places = {loop: n for n, loop in enumerate(loops)}
        return extents, [index_motion(b, places, extents) for b in leaf.bindings]


def nested(loops: Sequence[Loop], inside: list[Node]) -> Node:
    """Loops one in the other around some nodes; returns the outermost."""
    if not loops:
        assert len(inside) == 1
        return inside[0]
    for outer, inner in pairwise(loops):
        outer.body, inner.parent = [inner], outer
    loops[-1].body = inside
    for node in inside:
        node.parent = loops[-1]
    return loops[0]


def chain_of(loops: Sequence[Loop]) -> list[Loop]:
    """The nest from the outermost to the innermost of some loops."""
    deepest = max(loops, key=_depth)
    chain: list[Loop] = []
    loop: Loop | None = deepest
    while loop is not None and not set(loops) <= set(chain):
        chain.insert(0, loop)
        loop = loop.parent
    return chain


def _depth(loop: Loop) -> int:
    count = 0
    parent = loop.parent
    while parent is not None:
        count, parent = count + 1, parent.parent
    return count


def touches(leaf: Leaf, buffer: Storage) -> bool:
    """Whether a block reads or writes a buffer."""
    return any(access.buffer is buffer for access in leaf.accesses)


def _bytes(buffer: Storage) -> float:
    return float(np.prod(buffer.shape)) * buffer.itemsize
