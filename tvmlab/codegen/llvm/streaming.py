"""Vectors stored past the caches, for results that are larger than these."""

from __future__ import annotations

from .context import Context


def store_past_caches(
    ctx: Context, pointer: str, kind: str, value: str, size: int, align: int
) -> None:
    """Store a vector straight to memory if its address is divisible by its size.

    LLVM would take any other vector apart. Whether it is can be seen only at run time; neighboring
    vectors share the question, and loops over whole vectors ask it once.

    Such stores of x86 are not ordered with those after them: before a function is left, which is
    when another thread may look, a fence waits for them.
    """
    fn = ctx.fn
    number = fn.value(f"ptrtoint ptr {pointer} to i64", "address")
    rest = fn.value(f"and i64 {number}, {size - 1}", "rest")
    aligned = fn.value(f"icmp eq i64 {rest}, 0", "c")
    past, usual, done = fn.label("past_caches"), fn.label("usual"), fn.label("stored")
    fn.branch(aligned, past, usual)
    fn.start(past)
    mark = ctx.module.shared_metadata("!{i32 1}")
    fn.effect(f"store {kind} {value}, ptr {pointer}, align {size}, !nontemporal {mark}")
    fn.jump(done)
    fn.start(usual)
    fn.effect(f"store {kind} {value}, ptr {pointer}, align {align}")
    fn.jump(done)
    fn.start(done)
    fence_at_leave(ctx)


def fence_at_leave(ctx: Context) -> None:
    """Let a function that stored past the caches wait for these stores before it is left."""
    if ctx.target.arch == "x86_64":
        fence = ctx.module.declare("llvm.x86.sse.sfence", "void", "")
        ctx.fn.at_leave(f"call void {fence}()")


def stores_past_caches(code: str) -> bool:
    """Whether code that is linked in has such stores of its own."""
    return "!nontemporal" in code
