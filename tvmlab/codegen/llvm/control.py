"""Statements: loops, conditions, sequences, and storage with its ways out."""

from __future__ import annotations

from tvmlab.ir import Alloc, Buffer, Evaluate, For, If, Seq, const_int
from tvmlab.support import InternalError

from .builder import NO_MEMORY
from .context import Context, runs
from .loops import emit_loop
from .parallel import emit_parallel
from .types import memory_type
from .zeros import clears, emit_clear

ALIGNMENT = 64
"""Of every allocated buffer: a cache line, and the widest vector register."""


@runs(Seq)
def _seq(ctx: Context, stmt: Seq) -> None:
    for child in stmt.stmts:
        ctx.stmt(child)


@runs(Evaluate)
def _evaluate(ctx: Context, stmt: Evaluate) -> None:
    ctx.expr(stmt.value)


@runs(If)
def _if(ctx: Context, stmt: If) -> None:
    fn = ctx.fn
    cond = ctx.expr(stmt.cond)
    then, done = fn.label("then"), fn.label("endif")
    otherwise = fn.label("else") if stmt.otherwise is not None else done
    available = fn.available()
    fn.branch(cond, then, otherwise)
    fn.start(then, available)
    ctx.stmt(stmt.then)
    fn.jump(done)
    if stmt.otherwise is not None:
        fn.start(otherwise, available)
        ctx.stmt(stmt.otherwise)
        fn.jump(done)
    fn.start(done, available)


@runs(For)
def _for(ctx: Context, stmt: For) -> None:
    if stmt.kind not in ("serial", "parallel"):
        raise InternalError(f"the {stmt.kind} loop {stmt.var.name} was not lowered")
    if stmt.kind == "parallel" and ctx.parallel_for is not None:
        emit_parallel(ctx, stmt)
        return
    first = clears(stmt)
    if first is not None and ctx.ranges.of(stmt.extent)[0] >= 0:
        emit_clear(ctx, stmt, first)
        return
    emit_loop(ctx, stmt, "0", ctx.expr(stmt.extent))


@runs(Alloc)
def _alloc(ctx: Context, stmt: Alloc) -> None:
    buffer = stmt.buffer
    count = _element_count(buffer)
    size = None if count is None else count * buffer.dtype.itemsize
    if buffer.scope == "register" and size is None:
        raise InternalError(f"register buffer {buffer.name} has no constant size")
    on_stack = buffer.scope == "register" or (
        size is not None and ctx.fn.stack_bytes + size <= ctx.options.stack_limit
    )
    if on_stack and count is not None and size is not None:
        element = memory_type(buffer.dtype)
        slot = f"[{max(count, 1)} x {element}]"
        # Registers become values: they cost no stack.
        cost = 0 if buffer.scope == "register" else size
        ctx.buffers[buffer] = ctx.fn.slot(slot, ALIGNMENT, cost, buffer.name)
        ctx.stmt(stmt.body)
        return
    _alloc_on_heap(ctx, stmt, size)


def _alloc_on_heap(ctx: Context, stmt: Alloc, size: int | None) -> None:
    """A heap block: taken once per function if its size is known, else where it is declared.

    The content is undefined at the start of each life, so one block can serve all of them; a fresh
    one for each round of a loop would cost page faults.
    """
    buffer, fn = stmt.buffer, ctx.fn
    ctx.module.declare("aligned_alloc", "noalias ptr", "i64 allocalign, i64")
    ctx.module.declare("free", "void", "ptr")
    if size is not None:
        ctx.buffers[buffer] = fn.heap(_round_up(size), buffer.name)
        ctx.stmt(stmt.body)
        return
    elements = ctx.expr(buffer.shape[0])
    exact = fn.value(f"mul i64 {elements}, {buffer.dtype.itemsize}", "bytes")
    padded = fn.value(f"add i64 {exact}, {2 * ALIGNMENT - 1}", "bytes")
    size_text = fn.value(f"and i64 {padded}, {-ALIGNMENT}", "bytes")
    call = f"call noalias ptr @aligned_alloc(i64 {ALIGNMENT}, i64 {size_text})"
    pointer = fn.value(call, buffer.name)
    missing = fn.value(f"icmp eq ptr {pointer}, null", "c")
    fail, have = fn.label("no_room"), fn.label("room")
    fn.branch(missing, fail, have)
    fn.start(fail)
    ctx.leave(str(NO_MEMORY))
    fn.start(have)
    ctx.heap_blocks.append(pointer)
    ctx.buffers[buffer] = pointer
    ctx.stmt(stmt.body)
    ctx.heap_blocks.pop()
    fn.effect(f"call void @free(ptr {pointer})")


def _round_up(size: int) -> int:
    return max(ALIGNMENT, -(-size // ALIGNMENT) * ALIGNMENT)


def _element_count(buffer: Buffer) -> int | None:
    if len(buffer.shape) > 1:
        raise InternalError(f"buffer {buffer.name} has {len(buffer.shape)} dimensions: flatten it")
    return 1 if not buffer.shape else const_int(buffer.shape[0])
