"""Parallel loops: the body becomes a function over a part of the range, run by the thread pool.

What the body uses from outside (pointers and values) is copied into an array of 8-byte slots, the
context. Inside a body another parallel loop runs serially: the outer one has the threads already.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import Alloc, Buffer, For, Let, Node, Seq, Stmt, Var, free_vars

from .builder import FunctionText
from .context import Context, typed
from .loops import emit_loop
from .signature import BufferUse, buffer_argument, buffer_uses, nodes_below, steady_buffers
from .types import llvm_type


def emit_parallel(ctx: Context, stmt: For) -> None:
    """Emit a parallel loop as a call of the pool with an outlined body."""
    fn = ctx.fn
    nodes = nodes_below(stmt)
    variables = _captured_vars(nodes)
    uses = {b: use for b, use in buffer_uses(nodes).items() if b in ctx.buffers}
    name = f"{ctx.kernel}.{stmt.var.name}"
    name = _emit_body(ctx, stmt, name, variables, uses)
    slots = len(variables) + len(uses) + (ctx.fault is not None)
    space = fn.slot(f"[{max(slots, 1)} x i64]", 8, 8 * slots, "captured")
    values = [(llvm_type(v.dtype), ctx.vars[v]) for v in variables]
    values += [("ptr", ctx.buffers[b]) for b in uses]
    if ctx.fault is not None:
        values.append(("ptr", ctx.fault))
    for number, (kind, value) in enumerate(values):
        place = fn.value(f"getelementptr inbounds i64, ptr {space}, i64 {number}", "p")
        fn.effect(f"store {kind} {value}, ptr {place}, align 8")
    extent = ctx.expr(stmt.extent)
    pool = ctx.parallel_for
    code = fn.value(f"call i32 {pool}(ptr @{name}, ptr {space}, i64 {extent})", "code")
    failed = fn.value(f"icmp ne i32 {code}, 0", "c")
    fail, done = fn.label("failed"), fn.label("joined")
    fn.branch(failed, fail, done)
    fn.start(fail)
    ctx.leave(code)
    fn.start(done)


def only_forks(stmt: Stmt) -> bool:
    """Whether a statement outside of parallel loops does nothing but start them."""
    if isinstance(stmt, Seq):
        return all(only_forks(child) for child in stmt.stmts)
    return isinstance(stmt, For) and stmt.kind == "parallel"


def _emit_body(
    ctx: Context, stmt: For, wish: str, variables: list[Var], uses: dict[Buffer, BufferUse]
) -> str:
    """Write the body function and the entry that unpacks its context; returns the entry's name."""
    entry = ctx.module.unique(wish)
    inner = f"{entry}.body"
    text = FunctionText("")
    arguments: list[tuple[str, str]] = []
    parameters: list[str] = []
    child = Context(
        ctx.module, text, ctx.target, ctx.options, ctx.ranges,
        kernel=ctx.kernel, parallel_for=None, texts=ctx.texts, lines=ctx.lines,
        written=ctx.written,
    )  # fmt: skip
    child.steady = steady_buffers(uses)
    for var in variables:
        name = "%" + text.fresh(var.name)
        child.vars[var] = name
        arguments.append((llvm_type(var.dtype), name))
        parameters.append(f"{llvm_type(var.dtype)} {name}")
    for buffer, use in uses.items():
        name = "%" + text.fresh(buffer.name)
        child.buffers[buffer] = name
        arguments.append(("ptr", name))
        parameters.append(f"{buffer_argument(buffer, use)} {name}")
    if ctx.fault is not None:
        child.fault = "%" + text.fresh("fault")
        arguments.append(("ptr", child.fault))
        parameters.append(f"ptr {child.fault}")
    begin, end = "%" + text.fresh("begin"), "%" + text.fresh("end")
    child.streamed = ctx.streamed
    text.header = (
        f"define internal i32 @{inner}({', '.join([*parameters, f'i64 {begin}', f'i64 {end}'])}) #0"
    )
    if ctx.lines is not None:
        text.header += ctx.lines.scope(text, inner)
        text.location = ctx.lines.location(stmt, text)
    emit_loop(child, stmt, begin, end)
    text.leave("0")
    ctx.module.define(text)
    ctx.module.define_text(_unpacking_entry(entry, inner, arguments))
    return entry


def _captured_vars(nodes: Sequence[Node]) -> list[Var]:
    """Variables from outside that a loop needs, also for the sizes of what it allocates."""
    found: dict[Var, None] = {}
    inner: set[Var] = set()
    for node in nodes:
        if isinstance(node, Var):
            found.setdefault(node)
        elif isinstance(node, (For, Let)):
            inner.add(node.var)
    for node in nodes:
        if isinstance(node, Alloc):
            found |= dict.fromkeys(v for size in node.buffer.shape for v in free_vars(size))
    return [var for var in found if var not in inner]


def _unpacking_entry(entry: str, inner: str, arguments: list[tuple[str, str]]) -> str:
    """The function that the pool calls: read the context, call the body."""
    lines = [f"define internal i32 @{entry}(ptr %context, i64 %begin, i64 %end) #1 {{"]
    passed: list[tuple[str, str]] = []
    for number, (kind, _) in enumerate(arguments):
        lines.append(f"  %p{number} = getelementptr inbounds i64, ptr %context, i64 {number}")
        lines.append(f"  %a{number} = load {kind}, ptr %p{number}, align 8")
        passed.append((kind, f"%a{number}"))
    passed += [("i64", "%begin"), ("i64", "%end")]
    lines.append(f"  %code = call i32 @{inner}({typed(passed)})")
    lines.append("  ret i32 %code\n}\n")
    return "\n".join(lines)
