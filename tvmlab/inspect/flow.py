"""Who produces what for whom: the blocks of a program and the buffers between them, as a graph.

The boxes of a picture come in layers from top to bottom: a block stands below everything that
it reads, a buffer below the last block that writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tvmlab.ir import Block, Buffer, Names, Program, const_int
from tvmlab.schedule import index_of
from tvmlab.target import Target

from .cost import nest_cost
from .symbols import SymbolIds

FlowKind = Literal["input", "output", "intermediate", "block"]


@dataclass(frozen=True, slots=True)
class FlowNode:
    """A buffer or a block.

    Attributes
    ----------
    row
        The line of the nest that it is, or that it is written by; None for an input.
    layer
        Where it stands from top to bottom.
    bytes
        A buffer's size; None for a block, or if it is known only at run time.
    share
        A block's part of the estimated time; None for a buffer.
    """

    id: str
    row: str | None
    name: str
    kind: FlowKind
    scope: str
    layer: int
    bytes: int | None
    runs: int | None
    share: float | None


@dataclass(frozen=True, slots=True)
class FlowEdge:
    """Data that goes from a buffer into a block, or from a block into a buffer.

    `touches` counts accesses over the whole run, `elements` is the buffer's size: their ratio is
    how often an element is used. Both are None if they are known only at run time.
    """

    source: str
    sink: str
    touches: int | None
    elements: int | None


@dataclass(frozen=True, slots=True)
class FlowReport:
    """The graph; `updates` names the blocks that also read what they write, as sums do."""

    nodes: tuple[FlowNode, ...]
    edges: tuple[FlowEdge, ...]
    updates: tuple[str, ...]


def flow_report(program: Program, ids: SymbolIds, target: Target) -> FlowReport:
    """The producers and consumers of a program."""
    return _Flow(program, ids, target).report()


class _Flow:
    """One program on its way to a graph."""

    def __init__(self, program: Program, ids: SymbolIds, target: Target) -> None:
        self.program = program
        self.ids = ids
        self.index = index_of(program)
        self.names = Names(program)
        self.cost = nest_cost(program, target)
        self.layers: dict[Block | Buffer, int] = {}
        self.updates: list[str] = []

    def report(self) -> FlowReport:
        edges = [edge for block in self.index.blocks.values() for edge in self._edges(block)]
        nodes = [
            *(self._buffer(b) for b in self._buffers()),
            *(self._block(b) for b in self.index.blocks.values()),
        ]
        nodes.sort(key=lambda node: node.layer)
        return FlowReport(tuple(nodes), tuple(edges), tuple(self.updates))

    def _buffers(self) -> list[Buffer]:
        given = [p for p in self.program.params if isinstance(p, Buffer)]
        return [*given, *self.program.allocs]

    def _edges(self, block: Block) -> Iterator[FlowEdge]:
        """What flows into and out of a block; its place is below all that it reads."""
        reads = list(dict.fromkeys(region.buffer for region in block.reads))
        writes = list(dict.fromkeys(region.buffer for region in block.writes))
        own = [b for b in reads if b in writes]
        if own or (block.init is not None):
            self.updates.append(self.ids.of(block.symbol))
        before = [self.layers.get(b, 0) for b in reads if b not in own]
        place = self.layers[block] = 1 + max(before, default=0)
        for buffer in reads:
            if buffer not in own:
                yield self._edge(
                    block, buffer, buffer, block, self._regions(block, buffer, "reads")
                )
        for buffer in writes:
            self.layers[buffer] = max(self.layers.get(buffer, 0), place + 1)
            yield self._edge(block, buffer, block, buffer, self._regions(block, buffer, "writes"))

    def _regions(
        self, block: Block, buffer: Buffer, side: Literal["reads", "writes"]
    ) -> int | None:
        """How many elements one run of a block reads or writes; None if only a run tells."""
        found = 0
        for region in block.reads if side == "reads" else block.writes:
            if region.buffer is buffer:
                extents = [const_int(e) for e in region.extents]
                if None in extents:
                    return None
                found += _product(tuple(e for e in extents if e is not None))
        return found

    def _edge(
        self,
        block: Block,
        buffer: Buffer,
        source: Block | Buffer,
        sink: Block | Buffer,
        regions: int | None,
    ) -> FlowEdge:
        runs, sizes = self._runs(block), buffer.const_shape
        elements = None if sizes is None else _product(sizes)
        touches = None if runs is None or regions is None else runs * regions
        return FlowEdge(self._id(source), self._id(sink), touches, elements)

    def _id(self, thing: Block | Buffer) -> str:
        return self.ids.of(thing.symbol if isinstance(thing, Block) else thing)

    def _runs(self, block: Block) -> int | None:
        found = 1
        for loop in self.index.loops_around(block):
            extent = const_int(loop.extent)
            if extent is None:
                return None
            found *= extent
        return found

    def _block(self, block: Block) -> FlowNode:
        name, row = self.names[block.symbol], self.ids.of(block.symbol)
        share = None if self.cost is None else self.cost.share(block)[-1]
        around = self.index.loops_around(block)
        place = f"inside {self.names[around[-1].var]}" if around else ""
        layer, runs = self.layers[block], self._runs(block)
        return FlowNode(row, row, name, "block", place, layer, None, runs, share)

    def _buffer(self, buffer: Buffer) -> FlowNode:
        writers = self.index.writers.get(buffer, [])
        kind: FlowKind = "intermediate"
        if buffer not in self.program.allocs:
            kind = "output" if writers else "input"
        sizes = buffer.const_shape
        nbytes = None if sizes is None else _product(sizes) * buffer.dtype.bits // 8
        row = self.ids.of(writers[0].symbol) if writers else None
        layer = self.layers.get(buffer, 0)
        name = self.names[buffer]
        return FlowNode(self._id(buffer), row, name, kind, buffer.scope, layer, nbytes, None, None)


def _product(sizes: tuple[int, ...]) -> int:
    found = 1
    for extent in sizes:
        found *= extent
    return found
