"""What a block body reads and writes, as regions over the block's iteration variables."""

from __future__ import annotations

from collections.abc import Sequence

from .buffer import Region
from .expr import TRUE, Buffer, Expr, Load, Var, const
from .stmt import Alloc, Annotations, Block, BlockSymbol, For, IterVar, Stmt, Store
from .structural import structural_key
from .traverse import uses_var, walk


def infer_regions(
    iters: Sequence[IterVar], init: Stmt | None, body: Stmt
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """The regions that one iteration of a block reads and writes.

    An access is a point of its buffer; a dimension indexed by a loop or block inside the body
    counts as read or written whole. Buffers that live only inside the body are left out. Regions
    come in order of occurrence, each place once.
    """
    del iters  # regions are over them by construction; named for the reader of the signature
    roots = [body] if init is None else [init, body]
    inner_vars = {n.var for root in roots for n in walk(root) if isinstance(n, (For, IterVar))}
    inner_buffers = {n.buffer for root in roots for n in walk(root) if isinstance(n, Alloc)}
    reads: dict[tuple[Buffer, tuple[str, ...]], Region] = {}
    writes: dict[tuple[Buffer, tuple[str, ...]], Region] = {}
    for root in roots:
        for current in walk(root):
            if not isinstance(current, (Load, Store)) or current.buffer in inner_buffers:
                continue
            table = reads if isinstance(current, Load) else writes
            key = (current.buffer, structural_key(current.indices))
            if key not in table:
                table[key] = _access_region(current.buffer, current.indices, inner_vars)
    return tuple(reads.values()), tuple(writes.values())


def make_block(
    symbol: BlockSymbol,
    iters: Sequence[IterVar],
    bindings: Sequence[Expr],
    body: Stmt,
    *,
    init: Stmt | None = None,
    predicate: Expr = TRUE,
    annotations: Annotations = (),
) -> Block:
    """A block whose regions are those that its body touches."""
    reads, writes = infer_regions(iters, init, body)
    return Block(
        symbol, tuple(iters), tuple(bindings), reads, writes, body, init, predicate, annotations
    )


def _access_region(buffer: Buffer, indices: tuple[Expr, ...], inner: set[Var]) -> Region:
    mins: list[Expr] = []
    extents: list[Expr] = []
    for index, size in zip(indices, buffer.shape, strict=True):
        whole = bool(inner) and uses_var(index, inner)
        mins.append(const(0) if whole else index)
        extents.append(size if whole else const(1))
    return Region(buffer, tuple(mins), tuple(extents))
