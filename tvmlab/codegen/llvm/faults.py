"""Failed checks of indices: noted where they happen, told to the caller at the end.

A kernel with checks has a record of three 8-byte words on its entry's stack: the address of a text
(null while all is well), the index, and its limit. A check that fails writes the record and goes on
with a zero in place of the value that must not be read. The entry, back from the kernel, copies a
written record to the symbol `NAME.fault` and returns `OUTSIDE`.
"""

from __future__ import annotations

from collections.abc import Iterable

from tvmlab.ir import Broadcast, Call, Const, Expr, Node, Program
from tvmlab.support import BOOL, InternalError

from .builder import OUTSIDE
from .context import Context, LaneMask, any_lane
from .types import literal, llvm_type


def texts_of(program: Program, nodes: Iterable[Node]) -> tuple[str, ...]:
    """The texts that the program's `outside` calls number; empty if no node is such a call."""
    if not any(isinstance(node, Call) and node.op == "outside" for node in nodes):
        return ()
    texts = dict(program.annotations).get("outside", ())
    if not isinstance(texts, tuple):
        raise InternalError("the annotation `outside` is no tuple of texts")
    return tuple(str(text) for text in texts)


def emit_outside(ctx: Context, expr: Call) -> str:
    """Note that an index is outside; the value is zero."""
    lanes = expr.args[0].dtype.lanes
    if ctx.fault is None:
        raise InternalError("a check of an index stands outside a kernel")
    index, limit = (ctx.expr(argument) for argument in expr.args[:2])
    text = ctx.module.text_constant(_text(ctx, expr.args[2]))
    mask = ctx.mask
    if mask is None:
        if lanes > 1:
            mask = LaneMask("splat (i1 true)", lanes)
        else:
            _write(ctx, text, index, limit)
            return literal(0, expr.dtype)
    fn = ctx.fn
    then, done = fn.label("outside"), fn.label("checked")
    fn.branch(any_lane(ctx, mask), then, done)
    fn.start(then)
    if lanes > 1:
        lane = _first_lane(ctx, mask)
        kind = llvm_type(expr.args[0].dtype)
        index, limit = (
            fn.value(f"extractelement {kind} {value}, i64 {lane}") for value in (index, limit)
        )
    _write(ctx, text, index, limit)
    fn.jump(done)
    fn.start(done)
    return literal(0, expr.dtype)


def _text(ctx: Context, number: Expr) -> str:
    node = number.value if isinstance(number, Broadcast) else number
    if not isinstance(node, Const):
        raise InternalError("a check of an index must number its text by a literal")
    position = int(node.value)
    return ctx.texts[position] if position < len(ctx.texts) else "an index is outside its shape"


def _first_lane(ctx: Context, mask: LaneMask) -> str:
    """The number of the first lane that is on."""
    vector, bits = llvm_type(BOOL.with_lanes(mask.lanes)), f"i{mask.lanes}"
    packed = ctx.fn.value(f"bitcast {vector} {mask.value} to {bits}")
    count = ctx.intrinsic(f"cttz.{bits}", bits, (bits, packed), ("i1", "true"))
    if mask.lanes == 64:
        return count
    op = "zext" if mask.lanes < 64 else "trunc"
    return ctx.fn.value(f"{op} {bits} {count} to i64")


def _write(ctx: Context, text: str, index: str, limit: str) -> None:
    """Fill the record; threads may do so at once, then any of their failures is told."""
    for number, (kind, value) in enumerate((("ptr", text), ("i64", index), ("i64", limit))):
        place = ctx.fn.value(f"getelementptr inbounds i64, ptr {ctx.fault}, i64 {number}", "p")
        ctx.fn.effect(f"store atomic {kind} {value}, ptr {place} monotonic, align 8")


def entry_lines(name: str, call: str) -> list[str]:
    """The end of a kernel's entry: call it, and tell of a failure that it noted."""
    return [
        f"  {call}",
        "  %text = load ptr, ptr %fault, align 8",
        "  %fine = icmp eq ptr %text, null",
        "  br i1 %fine, label %done, label %failed",
        "failed:",
        f"  call void @llvm.memcpy.p0.p0.i64(ptr @{name}.fault, ptr %fault, i64 24, i1 false)",
        f"  ret i32 {OUTSIDE}",
        "done:",
        "  ret i32 %code\n}\n",
    ]
