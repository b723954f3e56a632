"""Staging through other memory: cache_read and cache_write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvmlab.arith import Bounds
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    IterVar,
    Load,
    Operand,
    Program,
    Scope,
    Stmt,
    Store,
    Var,
    const,
    make_block,
    transform,
)
from tvmlab.schedule.coverage import require_covered_consumers, require_covered_reads
from tvmlab.schedule.holes import has_holes, require_started, require_written
from tvmlab.schedule.index import ProgramIndex, buffers_read, buffers_written, index_of
from tvmlab.schedule.legality import written_buffer
from tvmlab.schedule.regions import block_with_regions
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import insert_at, replace_stmts, with_alloc
from tvmlab.schedule.verdict import refuse
from tvmlab.schedule.windows import Span, cover_window, fixed_vars, guards_of, touched_window
from tvmlab.support import Namer, identifier

from .bind import SCOPE_PARAM


@primitive(
    "cache_read", "cache read", "c",
    ParamSpec("block", "block", "the block whose reads are staged"),
    ParamSpec("buffer", "buffer", "what it reads"),
    SCOPE_PARAM,
    moves_blocks=True,
)  # fmt: skip
def cache_read(
    program: Program, block: BlockSymbol, buffer: Buffer, scope: Scope = "local"
) -> Applied:
    """Copy what a block reads into a buffer of its own first, and let the block read the copy.

    The copy is a block that can be moved to a loop with `compute_at`.

    Before::

        C[i] = A[i] * 2

    After `cache_read("C", "A", "local")`::

        A_local[i] = A[i]
        ...
        C[i] = A_local[i] * 2
    """
    index = index_of(program)
    reader = index.blocks[block]
    if buffer not in buffers_read(reader):
        raise refuse(
            "cache_read.not-read",
            f"cannot cache {buffer.name} for {reader.name}: it does not read {buffer.name}",
            subject=block,
        )
    if buffer in buffers_written(reader):
        raise refuse(
            "cache_read.own-output",
            f"cannot cache {buffer.name} for {reader.name}: the block also writes it; "
            f"use cache_write to accumulate in other memory",
            subject=block,
        )
    cached = _twin(program, buffer, scope)
    home, position = _place_after_writers(index, reader, buffer)
    window, holes = _whole(buffer), has_holes(index, buffer)
    if home is not None or holes:
        window = touched_window(index, [reader], buffer, Load, home)
    copy = _copy_nest(index, (buffer, cached), home, window, [reader])
    redirected = replace_stmts(program, {reader: _redirect(reader, buffer, cached, Load)})
    new_home = None if home is None else index_of(redirected).loops[home.var]
    result = with_alloc(insert_at(redirected, new_home, position, copy), cached)
    _require_complete(result, copy, (buffer, buffer) if holes else None, "cache_read", block)
    return Applied(result, (_symbol_in(copy),))


@primitive(
    "cache_write", "cache write", "w",
    ParamSpec("block", "block", "the block whose result is staged"),
    SCOPE_PARAM,
    moves_blocks=True,
)  # fmt: skip
def cache_write(program: Program, block: BlockSymbol, scope: Scope = "local") -> Applied:
    """Let a block write a buffer of its own, copied to the real one afterwards.

    The copy is a block that can be moved to a loop with `reverse_compute_at`.

    Before::

        C[i] += A[i, k]

    After `cache_write("C", "local")`::

        C_local[i] += A[i, k]
        ...
        C[i] = C_local[i]
    """
    index = index_of(program)
    writer = index.blocks[block]
    buffer = written_buffer(writer, "cache_write")
    if buffer not in program.allocs:
        require_started(index, buffer, "cache_write", block)
    cached = _twin(program, buffer, scope)
    writers = index.writers[buffer]
    shared = index.common_loops(*writers, *index.consumers(buffer))
    home = shared[-1] if shared and index.consumers(buffer) else None
    window, holes = _whole(buffer), has_holes(index, buffer)
    if home is not None or holes:
        window = touched_window(index, writers, buffer, Store, home)
    copy = _copy_nest(index, (cached, buffer), home, window, writers)
    position = 1 + max(index.child_holding(home, w)[0] for w in writers)
    early = [c for c in index.consumers(buffer) if index.child_holding(home, c)[0] < position]
    if early:
        raise refuse(
            "cache_write.consumer-inside",
            f"cannot stage the result of {writer.name}: {early[0].name} reads {buffer.name} inside "
            f"the loops that compute it, before a copy could be written back; cache_write before "
            f"decomposing the reduction",
            subject=block,
        )
    moved: dict[Stmt, Stmt] = {
        w: _redirect(_redirect(w, buffer, cached, Store), buffer, cached, Load) for w in writers
    }
    redirected = replace_stmts(program, moved)
    new_home = None if home is None else index_of(redirected).loops[home.var]
    result = with_alloc(insert_at(redirected, new_home, position, copy), cached)
    _require_complete(result, copy, (cached, buffer) if holes else None, "cache_write", block)
    require_covered_consumers(result, _symbol_in(copy), "cache_write")
    return Applied(result, (_symbol_in(copy),))


def _require_complete(
    result: Program,
    copy: Stmt,
    holed: tuple[Buffer, Buffer] | None,
    primitive: str,
    block: BlockSymbol,
) -> None:
    """Refuse if a copy would read what has not been computed by then, or never is.

    `holed` is its source, if that has elements that nobody writes, and the buffer to speak of.
    """
    symbol = _symbol_in(copy)
    require_covered_reads(result, symbol, primitive, moved=block)
    if holed is not None:
        index = index_of(result)
        source, told = holed
        require_written(index, index.blocks[symbol], source, primitive, block, told=told)


def _place_after_writers(
    index: ProgramIndex, reader: Block, buffer: Buffer
) -> tuple[For | None, int]:
    """The innermost loop that the reader shares with a writer, and the place before the reader."""
    writers = index.writers.get(buffer, [])
    nests = [index.common_loops(reader, w) for w in writers]
    shared = max(nests, key=len) if nests else []
    home = shared[-1] if shared else None
    position = index.child_holding(home, reader)[0]
    for writer in writers:
        inside = home is None or index.is_under(writer, home)
        if inside and index.child_holding(home, writer)[0] >= position:
            raise refuse(
                "cache_read.unfinished",
                f"cannot cache {buffer.name} for {reader.name}: {writer.name} still writes it in "
                f"the loops around {reader.name}",
                subject=reader.symbol,
            )
    return home, position


def _twin(program: Program, buffer: Buffer, scope: Scope) -> Buffer:
    """A new buffer like another one in another scope, with a name of its own."""
    taken = [b.name for b in program.buffers] + [s.name for s in index_of(program).blocks]
    return Buffer(
        Namer(taken).fresh(identifier(f"{buffer.name}_{scope}")), buffer.shape, buffer.dtype, scope
    )


def _whole(buffer: Buffer) -> list[Span]:
    return [Span(const(0), size) for size in buffer.shape]


def _copy_nest(
    index: ProgramIndex,
    buffers: tuple[Buffer, Buffer],
    home: For | None,
    window: Sequence[Span],
    partners: Sequence[Block],
) -> Stmt:
    """A block that copies a window of one buffer to another, with its loops.

    It runs where its partners do: those that it copies for, or those whose result it copies.
    """
    program = index.program
    source, target = buffers
    iters = [IterVar(Var(f"vax{n}"), size, "spatial") for n, size in enumerate(source.shape)]
    indices: tuple[Expr, ...] = tuple(it.var for it in iters)
    is_write_back = target in program.buffers
    symbol = BlockSymbol(_write_back_name(program, target) if is_write_back else target.name)
    block = make_block(symbol, iters, indices, Store(target, indices, Load(source, indices)))
    if home is None:
        return cover_window(block, target, window, Bounds.of({})).stmt
    env = index.bounds_around(home).bind_loop(home.var, home.extent)
    fixed = fixed_vars(index, home, target)
    return cover_window(block, target, window, env, guards_of(partners, fixed)).stmt


def _write_back_name(program: Program, target: Buffer) -> str:
    taken = [s.name for s in index_of(program).blocks]
    return Namer(taken).fresh(f"{target.name}_write")


def _symbol_in(stmt: Stmt) -> BlockSymbol:
    while isinstance(stmt, For):
        stmt = stmt.body
    assert isinstance(stmt, Block)
    return stmt.symbol


def _redirect(block: Block, old: Buffer, new: Buffer, kind: type[Load] | type[Store]) -> Block:
    """The block with its loads (or stores) of one buffer going to another."""

    def hands(operand: Operand) -> bool:
        return (operand.access == "read") == (kind is Load)

    def visit(current: Expr | Stmt | Operand) -> Expr | Stmt | Operand:
        if isinstance(current, kind) and current.buffer is old:
            return replace(current, buffer=new)
        if isinstance(current, Operand) and current.region.buffer is old and hands(current):
            return replace(current, region=replace(current.region, buffer=new))
        return current

    init = None if block.init is None else transform(block.init, visit)
    body = transform(block.body, visit)
    return block_with_regions(replace(block, body=body, init=init))
