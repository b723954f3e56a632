"""From a lowered program to LLVM IR text: the entry point of the emitter.

A kernel is `i32 NAME(ptr args, ptr parallel_for)`: `args` holds one 8-byte slot per parameter (a
pointer for a buffer, the value itself for a scalar). It unpacks them and calls `NAME.kernel`, whose
pointer arguments carry what LLVM may assume of them.

>>> text = emit_module(lowered_program, Target.host())  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tvmlab.codegen.llvm.calls as calls
import tvmlab.codegen.llvm.control as control
import tvmlab.codegen.llvm.convert as convert
import tvmlab.codegen.llvm.invoke as invoke
import tvmlab.codegen.llvm.leaves as leaves
import tvmlab.codegen.llvm.memory as memory
import tvmlab.codegen.llvm.scalars as scalars
from tvmlab.ir import Binary, Buffer, Expr, Invoke, Node, Param, Program, Var
from tvmlab.support import DType, InternalError, UnsupportedOp, deep, identifier
from tvmlab.target import Target

from .builder import FunctionText, ModuleText
from .context import Context, typed
from .faults import entry_lines, texts_of
from .line_table import LineTable
from .link import carried
from .options import EmitOptions
from .parallel import only_forks
from .plain import is_plain
from .ranges import UNKNOWN_EXTENT, Ranges
from .signature import BufferUse, buffer_argument, buffer_uses, nodes_of, steady_buffers
from .streaming import stores_past_caches
from .types import llvm_type
from .written import loop_writes

# Importing these modules filled the tables of `context`; each is named so that none is missed.
RULE_MODULES = (calls, control, convert, invoke, leaves, memory, scalars)


# Functions of the C library that emitted code, or LLVM on its own account, may call.
_LIBRARY = {
    "aligned_alloc", "free", "memcpy", "memmove", "memset", "bcmp", "memcmp", "fmod", "rint",
    "floor", "ceil", "trunc", "fma", "sqrt", *calls.LIBRARY,
}  # fmt: skip


def kernel_name(program: Program) -> str:
    """The symbol under which a program's kernel can be found in the object.

    A program may be called `sin` or `memset`, but its symbol may not.
    """
    return _symbol(program.name, nodes_of(program))


def _symbol(wanted: str, nodes: Iterable[Node]) -> str:
    name = identifier(wanted)
    called = {n.callee.partition(":")[2] for n in nodes if isinstance(n, Invoke)}
    taken = _LIBRARY | called
    return f"{name}_kernel" if name in taken or name.removesuffix("f") in _LIBRARY else name


@deep
def emit_module(program: Program, target: Target, options: EmitOptions | None = None) -> str:
    """LLVM IR text of a module with one kernel.

    Parameters
    ----------
    program
        A lowered program: flat buffers, serial and parallel loops, explicit vectors, no blocks.
    """
    options = options or EmitOptions()
    _check(program)
    nodes = nodes_of(program)
    name = _symbol(program.name, nodes)
    module = ModuleText(name, target.triple)
    module.unique(f"{name}.kernel")
    texts = texts_of(program, nodes)
    _emit_kernel(module, program, target, options, name, texts, nodes)
    if texts:
        module.define_text(f"@{name}.fault = global [3 x i64] zeroinitializer\n")
        module.declare("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1")
    module.define_text(_unpacking_entry(name, program.params, checked=bool(texts)))
    module.attributes = _attributes(target)
    return module.render() + carried(program.imported_code)


def _emit_kernel(
    module: ModuleText,
    program: Program,
    target: Target,
    options: EmitOptions,
    name: str,
    texts: tuple[str, ...],
    nodes: Sequence[Node],
) -> None:
    ranges = Ranges()
    text = FunctionText("")
    pool = "%" + text.fresh("parallel_for")
    fault = "%" + text.fresh("fault") if texts else None
    ctx = Context(
        module, text, target, options, ranges,
        kernel=name, parallel_for=pool, fault=fault, texts=texts,
        lines=LineTable(module, program) if options.locate else None,
        written=loop_writes(program.body),
    )  # fmt: skip
    uses = buffer_uses(nodes)
    ctx.steady = steady_buffers(uses)
    module.plain = not texts and is_plain(program)
    module.past_caches = any(stores_past_caches(code) for code in program.imported_code)
    shapes = [size for p in program.params if isinstance(p, Buffer) for size in p.shape]
    sizes = {var for size in shapes for var in _factors(size)}
    arguments: list[str] = []
    for param in program.params:
        value = "%" + text.fresh(param.name)
        if isinstance(param, Var):
            ctx.vars[param] = value
            if param in sizes and param.dtype.is_int:
                ranges.bind(param, 0, UNKNOWN_EXTENT)
            arguments.append(f"{llvm_type(param.dtype)} {value}")
        else:
            ctx.buffers[param] = value
            use = uses.get(param, BufferUse())
            arguments.append(f"{buffer_argument(param, use)} {value}")
    arguments.append(f"ptr {pool}")
    if fault is not None:
        arguments.append(f"ptr {fault}")
    group = "#1" if only_forks(program.body) else "#0"
    text.header = f"define internal i32 @{name}.kernel({', '.join(arguments)}) {group}"
    if ctx.lines is not None:
        text.header += ctx.lines.scope(text, f"{name}.kernel")
    ctx.stmt(program.body)
    text.leave("0")
    module.define(text)


def _factors(size: Expr) -> set[Var]:
    """Variables that a size is a product of: they are sizes themselves, so not negative."""
    if isinstance(size, Var):
        return {size}
    if isinstance(size, Binary) and size.op == "mul":
        return _factors(size.a) | _factors(size.b)
    return set()


def _unpacking_entry(name: str, params: tuple[Param, ...], *, checked: bool) -> str:
    lines = [f"define i32 @{name}(ptr %args, ptr %parallel_for) #1 {{"]
    passed: list[tuple[str, str]] = []
    for number, param in enumerate(params):
        kind = "ptr" if isinstance(param, Buffer) else _scalar_slot(param.dtype)
        lines.append(f"  %p{number} = getelementptr inbounds i64, ptr %args, i64 {number}")
        lines.append(f"  %a{number} = load {kind}, ptr %p{number}, align 8")
        passed.append((kind, f"%a{number}"))
    passed.append(("ptr", "%parallel_for"))
    if checked:
        lines += ["  %fault = alloca [3 x i64], align 8", "  store ptr null, ptr %fault, align 8"]
        passed.append(("ptr", "%fault"))
    call = f"%code = call i32 @{name}.kernel({typed(passed)})"
    lines += entry_lines(name, call) if checked else [f"  {call}", "  ret i32 %code\n}\n"]
    return "\n".join(lines)


def _scalar_slot(dtype: DType) -> str:
    """The type as which a scalar argument lies at the start of its slot (little-endian)."""
    if dtype.is_bool:
        raise UnsupportedOp("a scalar parameter cannot be a bool", hint="pass an int64 instead")
    return llvm_type(dtype)


def _attributes(target: Target) -> str:
    """Attribute groups: #0 for code that stays a function of its own, #1 entries, #2 maths.

    Entries, and kernels that only start parallel loops, are a few loads and calls: there is
    nothing to optimize in them, only time to save.
    """
    width = f' "prefer-vector-width"="{target.vector_bits}"' if target.vector_bits else ""
    return (
        f"attributes #0 = {{ noinline nounwind{width} }}\n"
        f"attributes #1 = {{ noinline optnone nounwind{width} }}\n"
    )


def _check(program: Program) -> None:
    if program.allocs:
        names = ", ".join(buffer.name for buffer in program.allocs)
        raise InternalError(f"intermediate buffers {names} of {program.name} were not placed")
