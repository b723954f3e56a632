"""What a block body reads and writes, as regions over the block's iteration variables."""

from __future__ import annotations

from collections.abc import Sequence

from .buffer import Region
from .expr import TRUE, Buffer, Expr, Load, Var, const
from .sharing import share
from .stmt import (
    Alloc,
    Annotations,
    Block,
    BlockSymbol,
    Combiner,
    For,
    Invoke,
    IterVar,
    Let,
    Operand,
    Stmt,
    Store,
)
from .structural import structural_key
from .traverse import Node, substitute, uses_var, walk


def infer_regions(
    iters: Sequence[IterVar], init: Stmt | None, body: Stmt
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """The regions that one iteration of a block reads and writes.

    An access is a point of its buffer, a part handed to a call is a box; a dimension indexed by a
    loop or block inside the body, or by memory that the body writes, counts as read or written
    whole. A name for a value stands for
    that value. Buffers that live only inside the body are left out. Regions come in order of
    occurrence, each place once.
    """
    del iters  # regions are over them by construction; named for the reader of the signature
    found = _Accesses([body] if init is None else [init, body])
    return tuple(found.reads.values()), tuple(found.writes.values())


class _Accesses:
    """Collects what some statements access."""

    def __init__(self, roots: Sequence[Stmt]) -> None:
        self.reads: dict[tuple[Buffer, tuple[str, ...]], Region] = {}
        self.writes: dict[tuple[Buffer, tuple[str, ...]], Region] = {}
        self._loops: set[Var] = set()
        self._values: dict[Var, Expr] = {}
        self._buffers: set[Buffer] = set()
        self._changing: set[Buffer] = set()
        nodes = [n for root in roots for n in walk(root)]
        for node in nodes:
            self._bind(node)
        for node in nodes:
            self._visit(node)

    def _bind(self, node: Node) -> None:
        if isinstance(node, (For, IterVar)):
            self._loops.add(node.var)
        elif isinstance(node, Let):
            self._values[node.var] = substitute(node.value, self._values)
        elif isinstance(node, Alloc):
            self._buffers.add(node.buffer)
            self._changing.add(node.buffer)
        elif isinstance(node, Store):
            self._changing.add(node.buffer)

    def _visit(self, node: Node) -> None:
        if isinstance(node, Load):
            self._add(self.reads, node.buffer, node.indices)
        elif isinstance(node, Store):
            self._add(self.writes, node.buffer, node.indices)
        elif isinstance(node, Invoke):
            for operand in node.args:
                if isinstance(operand, Operand):
                    self._add_operand(operand)

    def _add_operand(self, operand: Operand) -> None:
        region = operand.region
        if operand.access in ("read", "update"):
            self._add(self.reads, region.buffer, region.mins, region.extents)
        if operand.access in ("write", "update"):
            self._add(self.writes, region.buffer, region.mins, region.extents)

    def _add(
        self,
        table: dict[tuple[Buffer, tuple[str, ...]], Region],
        buffer: Buffer,
        mins: tuple[Expr, ...],
        extents: tuple[Expr, ...] | None = None,
    ) -> None:
        if buffer in self._buffers:
            return
        key = (buffer, structural_key(mins if extents is None else (*mins, *extents)))
        if key not in table:
            table[key] = self._region(buffer, mins, extents or (const(1),) * len(mins))

    def _region(self, buffer: Buffer, mins: tuple[Expr, ...], extents: tuple[Expr, ...]) -> Region:
        first: list[Expr] = []
        counts: list[Expr] = []
        for start, extent, size in zip(mins, extents, buffer.shape, strict=True):
            low, count = substitute(start, self._values), substitute(extent, self._values)
            whole = self._varies(low) or self._varies(count)
            first.append(const(0) if whole else low)
            counts.append(size if whole else count)
        return Region(buffer, tuple(first), tuple(counts))

    def _varies(self, index: Expr) -> bool:
        """Whether an index has no single value during the body: it uses a loop, or memory that the
        body itself writes.
        """
        if self._loops and uses_var(index, self._loops):
            return True
        return bool(self._changing) and any(
            isinstance(n, Load) and n.buffer in self._changing for n in walk(index)
        )


def written_buffers(tree: Node) -> tuple[Buffer, ...]:
    """The buffers that statements store to or let a call write, in order of occurrence."""
    found: dict[Buffer, None] = {}
    for node in walk(tree):
        if isinstance(node, Store):
            found.setdefault(node.buffer)
        elif isinstance(node, Operand) and node.access in ("write", "update"):
            found.setdefault(node.region.buffer)
    return tuple(found)


def accessed_buffer(node: Node) -> Buffer | None:
    """The buffer that one node loads from, stores to or hands to a call, if it does."""
    if isinstance(node, (Load, Store)):
        return node.buffer
    return node.region.buffer if isinstance(node, Operand) else None


def make_block(
    symbol: BlockSymbol,
    iters: Sequence[IterVar],
    bindings: Sequence[Expr],
    body: Stmt,
    *,
    init: Stmt | None = None,
    predicate: Expr = TRUE,
    annotations: Annotations = (),
    combiner: Combiner | None = None,
) -> Block:
    """A block whose regions are those that its body touches; large formulas get names."""
    body, init = share(body), None if init is None else share(init)
    reads, writes = infer_regions(iters, init, body)
    return Block(
        symbol,
        tuple(iters),
        tuple(bindings),
        reads,
        writes,
        body,
        init,
        predicate,
        annotations,
        combiner,
    )
