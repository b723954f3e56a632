"""The one shape that loops have in the emitted code."""

from __future__ import annotations

from tvmlab.ir import For

from .context import Context
from .types import llvm_type


def emit_loop(ctx: Context, stmt: For, begin: str, end: str) -> None:
    """A loop tested at its end, with a guard before it unless it surely runs."""
    fn, kind = ctx.fn, llvm_type(stmt.var.dtype)
    name = stmt.var.name
    ctx.ranges.bind_loop(stmt.var, stmt.extent)
    body, done = fn.label(f"{name}.body"), fn.label(f"{name}.end")
    before = fn.block
    if begin == "0" and ctx.ranges.of(stmt.extent)[0] > 0:
        fn.jump(body)
    else:
        runs_once = fn.value(f"icmp slt {kind} {begin}, {end}", "c")
        fn.branch(runs_once, body, done)
    available = fn.available()
    fn.start(body, available)
    index, after = "%" + fn.fresh(name), "%" + fn.fresh(f"{name}.next")
    around = fn.loads, fn.stores
    fn.loads, fn.stores = set(), set()
    place = fn.reserve()
    ctx.vars[stmt.var] = index
    outer = ctx.streamed, ctx.steady
    ctx.streamed |= _streamed(stmt)
    ctx.steady |= ctx.buffers.keys() - ctx.written[id(stmt)]
    ctx.stmt(stmt.body)
    ctx.streamed, ctx.steady = outer
    ctx.module.recurs |= fn.recurs()
    fn.loads, fn.stores = around
    fn.fill(place, f"{index} = phi {kind} [ {begin}, %{before} ], [ {after}, %{fn.block} ]")
    fn.effect(f"{after} = add nuw nsw {kind} {index}, 1")
    more = fn.value(f"icmp ne {kind} {after}, {end}", "c")
    metadata = ctx.module.loop_metadata(_unroll_count(stmt))
    fn.effect(f"br i1 {more}, label %{body}, label %{done}, {metadata}")
    fn.start(done, available)


def _unroll_count(stmt: For) -> int | None:
    """An annotation `llvm_unroll` lets LLVM unroll a loop that the schedule left rolled."""
    value = dict(stmt.annotations).get("llvm_unroll")
    return value if isinstance(value, int) and value > 1 else None


def _streamed(stmt: For) -> frozenset[str]:
    """The buffers that the schedule has stored past the caches in a loop."""
    names = dict(stmt.annotations).get("stream", ())
    return frozenset(str(name) for name in names) if isinstance(names, tuple) else frozenset()
