"""`Outline`: takes the steps of a schedule for thousands of points at once, on numbers alone.

It has the methods of `Schedule`, but extents are columns with one number for each point. Steps that
no number enters are taken on a real schedule first. Nothing is checked: it tells what the nests of
a point would be if its steps are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tvmlab.tune.features.dense import Part
from tvmlab.tune.features.nest import KINDS

from .outline_nest import (
    Access,
    Column,
    Index,
    Leaf,
    Loop,
    NotOutlinedError,
    Quotient,
    leaves,
    loops_in,
    substituted,
)
from .outline_tree import NestTree, chain_of, nested, touches
from .panels import Panels
from .prefix import Prefix, moved

_UNSEEN = {"annotate", "annotate_block", "pragma", "storage_align", "prefetch", "unannotate"}
"""Steps that features do not see."""


class LoopList(list[Loop]):
    """Loops of a nest, of which schedules leave out those of one iteration.

    The last of them is then another loop at some points than at others.
    """

    def __getitem__(self, place: Any) -> Any:
        plain: list[Any] = list(self)
        if isinstance(place, slice):
            return LoopList(plain[place])
        return _Last(plain) if place == -1 else plain[place]


@dataclass(frozen=True, slots=True)
class _Last:
    """At each point the last of these loops that has more than one iteration."""

    loops: list[Loop]


class Outline:
    """The nests of many points that take the same steps with different numbers.

    Parameters
    ----------
    start
        The state before the first step.
    batch
        Number of points.
    """

    def __init__(self, start: Prefix, batch: int) -> None:
        self.batch = batch
        self._before: Prefix | None = start
        self._tree_: NestTree | None = None

    def parts(self) -> tuple[list[Part], list[float]]:
        """The nests in program order; number and bytes of own buffers, as `buffer_columns`."""
        return self._tree.parts()

    @property
    def _tree(self) -> NestTree:
        """The loops with columns; from now on the schedule is left behind."""
        if self._tree_ is None:
            assert self._before is not None
            self._tree_ = NestTree(self._before.schedule.program, self.batch)
            self._before = None
        return self._tree_

    def __getattr__(self, name: str) -> Any:
        """A step that has no outline: taken on the schedule, as long as no number is a column."""
        if name.startswith("_"):
            raise AttributeError(name)

        def step(*args: Any, **named: Any) -> Any:
            if self._before is not None and not _has_columns([args, list(named.values())]):
                return self._take(name, *args, **named)
            if name in _UNSEEN:
                return None
            raise NotOutlinedError(f"{name} is not outlined")

        return step

    def _take(self, name: str, *args: Any, **named: Any) -> Any:
        """A step of the real schedule."""
        assert self._before is not None
        self._before, result = self._before.step(name, args, named)
        return result

    # ------------------------------------------------------------------ steps

    def loops(self, block: Any) -> Any:
        """The loops around a block, outermost first."""
        if self._before is not None:
            schedule = self._before.schedule
            return schedule.loops(moved(block, schedule))
        return LoopList(self._tree.leaf(block).around())

    def split(self, loop: Any, factors: Any, *tail: Any, **named: Any) -> Any:
        """Split a loop; factors may be columns."""
        if self._before is not None and not _has_columns(factors):
            return self._take("split", loop, factors, *tail, **named)
        tree = self._tree
        old = tree.loop(loop)
        given: list[Any] = (
            list(cast("list[Any]", factors)) if isinstance(factors, (list, tuple))
            else [None, factors]
        )  # fmt: skip
        news = [Loop(f"{old.name}_{n}", e) for n, e in enumerate(_cut(old.extent, given))]
        value: list[tuple[Loop, Column]] = []
        factor: Column = 1.0
        for new in reversed(news):
            value.insert(0, (new, factor))
            factor = factor * new.extent
        tree.replace(old, news, {old: tuple(value)})
        leaves_tail = np.asarray(factor) > np.asarray(old.extent)
        if leaves_tail.any():
            for leaf in leaves(news[-1].body):
                leaf.conditions = leaf.conditions + leaves_tail.astype(np.float64)
        return news

    def fuse(self, *loops: Any) -> Any:
        """Join directly nested loops."""
        if self._before is not None:
            return self._take("fuse", *loops)
        chosen = [self._tree.loop(loop) for loop in loops]
        fused = Loop("_".join(loop.name for loop in chosen) + "_fused", 1.0)
        values: dict[Loop, Index] = {}
        for n, loop in reversed(list(enumerate(chosen))):
            index: Index = ((fused, 1.0),)
            if loop is not chosen[-1]:
                index = ((Quotient(index, fused.extent, False), 1.0),)
            if n:
                index = ((Quotient(index, loop.extent, True), 1.0),)
            values[loop] = index
            fused.extent = fused.extent * loop.extent
        self._tree.replace(chosen[0], [fused], values, chosen[-1].body)
        return fused

    def reorder(self, *loops: Any) -> None:
        """Put loops of one nest into an order."""
        if self._before is not None:
            self._take("reorder", *loops)
            return
        wanted = [self._tree.loop(loop) for loop in loops]
        chain = chain_of(wanted)
        if any(len(loop.body) != 1 for loop in chain[:-1]):
            raise NotOutlinedError("reorder of loops with something between is not outlined")
        order = iter(wanted)
        nest = [next(order) if loop in wanted else loop for loop in chain]
        parent, body = chain[0].parent, chain[-1].body
        siblings = self._tree.children(parent)
        siblings[siblings.index(chain[0])] = nest[0]
        nested(nest, body)
        nest[0].parent = parent

    def vectorize(self, loop: Any) -> None:
        """Mark a loop."""
        self._mark("vectorize", "vectorized", loop)

    def unroll(self, loop: Any) -> None:
        """Mark a loop."""
        self._mark("unroll", "unrolled", loop)

    def parallel(self, loop: Any) -> None:
        """Mark a loop."""
        self._mark("parallel", "parallel", loop)

    def serial(self, loop: Any) -> None:
        """Take a mark away."""
        self._mark("serial", "serial", loop)

    def _mark(self, step: str, kind: str, loop: Any) -> None:
        if self._before is not None:
            self._take(step, loop)
            return
        left: Any = True
        for each in reversed(loop.loops if isinstance(loop, _Last) else [self._tree.loop(loop)]):
            here = left & (np.asarray(each.extent) > 1)
            each.kind = np.where(here, float(KINDS.index(kind)), each.kind)
            left = left & ~here

    def cache_write(self, block: Any, scope: Any = "local") -> Any:
        """Stage what a block writes."""
        if self._before is not None:
            return self._take("cache_write", block, scope)
        tree = self._tree
        buffer = tree.leaf(block).accesses[0].buffer
        users = [leaf for leaf in leaves(tree.nodes) if touches(leaf, buffer)]
        if any(leaf.accesses[0].buffer is not buffer for leaf in users):
            raise NotOutlinedError("cache_write of what others read is not outlined")
        cached = tree.twin(buffer, scope)
        for access in (a for leaf in users for a in leaf.accesses if a.buffer is buffer):
            access.buffer = cached
        place = 1 + max(tree.nodes.index(tree.top(leaf)) for leaf in users)
        copy = tree.copy(tree.names.fresh(f"{buffer.name}_write"), buffer, cached)
        tree.put(tree.top(copy), None, place)
        return copy

    def cache_read(self, block: Any, buffer: Any, scope: Any = "local") -> Any:
        """Stage what a block reads."""
        if self._before is not None:
            return self._take("cache_read", block, buffer, scope)
        tree = self._tree
        reader = tree.leaf(block)
        name = buffer if isinstance(buffer, str) else buffer.name
        read = [a for a in reader.accesses if a.buffer.name == name and not a.written]
        top = tree.top(reader)
        if not read or any(x.accesses[0].buffer is read[0].buffer for x in leaves([top])):
            raise NotOutlinedError(f"{reader.name} does not read {name}, or beside its writer")
        source = read[0].buffer
        cached = tree.twin(source, scope)
        for access in read:
            access.buffer = cached
        copy = tree.copy(cached.name, cached, source)
        tree.put(tree.top(copy), None, tree.nodes.index(top))
        return copy

    def transform_layout(self, block: Any, buffer: Any, mapping: Any) -> None:
        """Lay a copy out in panels."""
        if self._before is not None:
            self._take("transform_layout", block, buffer, mapping)
            return
        if not isinstance(mapping, Panels):
            raise NotOutlinedError("transform_layout by a function is not outlined")
        name = buffer if isinstance(buffer, str) else buffer.name
        reads = [a for a in self._tree.leaf(block).accesses if a.buffer.name == name]
        if not reads:
            raise NotOutlinedError(f"the block does not touch {name}")
        storage = reads[0].buffer
        for access in (a for leaf in leaves(self._tree.nodes) for a in leaf.accesses):
            if access.buffer is storage:
                access.forms, access.numbers = mapping.moved(access.forms, access.numbers)
        storage.shape = mapping.shape(storage.shape)

    def compute_at(self, block: Any, loop: Any) -> Any:
        """Move a producer to a loop of its consumers."""
        if self._before is not None:
            return self._take("compute_at", block, loop)
        producer, target = self._tree.leaf(block), self._tree.loop(loop)
        written = producer.accesses[0]
        touched = [
            (user, access)
            for user in leaves(target.body)
            for access in user.accesses
            if access.buffer is written.buffer and user is not producer
        ]
        if not touched:
            raise NotOutlinedError("compute_at without a consumer is not outlined")
        users = {user for user, _ in touched}
        place = next(n for n, x in enumerate(target.body) if users & set(leaves([x])))
        return LoopList(self._tree.move(producer, written, touched, target, place))

    def reverse_compute_at(self, block: Any, loop: Any) -> Any:
        """Move a consumer to a loop of its producers."""
        if self._before is not None:
            return self._take("reverse_compute_at", block, loop)
        consumer, target = self._tree.leaf(block), self._tree.loop(loop)
        writers = [u for u in leaves(target.body) if u is not consumer]
        for access in consumer.accesses[1:]:
            touched = [(u, u.accesses[0]) for u in writers if u.accesses[0].buffer is access.buffer]
            if touched:
                moved = self._tree.move(consumer, access, touched, target, len(target.body))
                return LoopList(moved)
        raise NotOutlinedError("reverse_compute_at without a producer is not outlined")

    def decompose_reduction(self, block: Any, loop: Any) -> Any:
        """Set the start value in a nest of its own."""
        if self._before is not None:
            return self._take("decompose_reduction", block, loop)
        tree = self._tree
        leaf, start = tree.leaf(block), tree.loop(loop)
        pairs = zip(leaf.bindings, leaf.kinds, strict=True)
        moved = set[Loop]().union(*(loops_in(b) for b, kind in pairs if kind != "reduce"))
        chain = leaf.around()
        inner = [lp for lp in chain[chain.index(start) :] if lp in moved]
        fresh = [Loop(f"{lp.name}_init", lp.extent, lp.kind) for lp in inner]
        values: dict[Loop, Index] = {
            old: ((new, 1.0),) for old, new in zip(inner, fresh, strict=True)
        }
        own = leaf.accesses[0]
        init = Leaf(
            name=tree.names.fresh(f"{leaf.name}_init"),
            kinds=leaf.kinds,
            domain=leaf.domain,
            bindings=[
                () if kind == "reduce" else substituted(b, values)
                for b, kind in zip(leaf.bindings, leaf.kinds, strict=True)
            ],
            accesses=[Access(own.buffer, own.forms, own.numbers, False, True)],
            operations=(0,) * len(leaf.operations),
            conditions=leaf.conditions,
            has_init=False,
        )
        leaf.has_init = False
        place = tree.children(start.parent).index(start)
        tree.put(nested(fresh, [init]), start.parent, place)
        return init


def _cut(extent: Column, factors: list[Any]) -> list[Column]:
    """The extents of a split's loops: None filled in, too large factors cut down."""
    known: list[Column] = [1.0 if f is None else np.asarray(f, np.float64) for f in factors]
    result: list[Column] = []
    left: Column = extent
    for place in reversed(range(len(factors))):
        factor = known[place]
        if factors[place] is None:
            outer: Column = 1.0
            for other in known[:place]:
                outer = outer * other
            factor = np.ceil(left / outer)
        factor = np.minimum(factor, left)
        result.insert(0, factor)
        left = np.ceil(left / factor)
    return result


def _has_columns(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_columns(v) for v in cast("list[Any]", value))
    return isinstance(value, np.ndarray)
