"""Micro-benchmarks as LLVM IR with the kernel ABI: what the machine can do at most.

They are written by hand, because they measure what generated code is compared with. Each shares its
work out to threads by the pool, as kernels do; a thread takes one part.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.intrin import BF16, LANES, U8S8, DotKind
from tvmlab.target import Target

CHAINS = 12
"""Independent chains of multiply-adds: enough to hide their latency, few enough for registers."""

STREAMS = 8
"""Vectors that are loaded in one step of a read or copy."""

CLOCK_STEPS = 1000
"""Operations in a step of the chain that shows the clock."""

_ENTRY = """
define i32 @{name}(ptr %args, ptr %parallel_for) {{
  %at = getelementptr i64, ptr %args, i64 {threads_slot}
  %threads = load i64, ptr %at, align 8
  %code = call i32 %parallel_for(ptr @{name}.parts, ptr %args, i64 %threads)
  ret i32 %code
}}

define internal i32 @{name}.parts(ptr %args, i64 %begin, i64 %end) {{
entry:
{load_args}
  br label %parts
parts:
  %part = phi i64 [ %begin, %entry ], [ %part.next, %part.done ]
  %more = icmp slt i64 %part, %end
  br i1 %more, label %start, label %leave
{body}
part.done:
  %part.next = add i64 %part, 1
  br label %parts
leave:
  ret i32 0
}}
"""


@dataclass(frozen=True, slots=True)
class Multiply:
    """An instruction that multiplies and adds.

    Attributes
    ----------
    vector
        Its registers, as LLVM types, of `lanes` elements of `bytes` bytes.
    call
        The instruction on `{a}` (the sums), `%x` and `%y`.
    operations
        Multiplications and additions that it does.
    """

    dtype: str
    vector: str
    lanes: int
    bytes: int
    call: str
    declare: str
    operations: int


def multiply_kinds(target: Target) -> list[Multiply]:
    """The instructions of a machine by the types that they multiply."""
    kinds = [multiply_add(target, "float32"), multiply_add(target, "float64")]
    return [*kinds, *(_dot(kind) for kind in (BF16, U8S8) if kind.runs_on(target))]


def multiply_add(target: Target, dtype: str) -> Multiply:
    """The fused multiply-add of a floating-point type."""
    name, size = ("float", 4) if dtype == "float32" else ("double", 8)
    lanes = target.lanes(8 * size)
    vector, function = f"<{lanes} x {name}>", f"@llvm.fma.v{lanes}f{8 * size}"
    call = f"call {vector} {function}({vector} {{a}}, {vector} %x, {vector} %y)"
    declare = f"declare {vector} {function}({vector}, {vector}, {vector})\n"
    return Multiply(dtype, vector, lanes, size, call, declare, 2 * lanes)


def _dot(kind: DotKind) -> Multiply:
    """A dot instruction; its operands are bits of the factor and the addend."""
    vector, operand = kind.sums, kind.operand
    call = f"call {vector} @{kind.call}({vector} {{a}}, {operand} %u, {operand} %w)"
    declare = f"declare {vector} @{kind.call}({vector}, {operand}, {operand})\n"
    return Multiply(kind.right, vector, LANES, 4, call, declare, 2 * LANES * kind.group)


def rate_ir(kind: Multiply) -> str:
    """`peak_rate(data, steps, threads)`: each thread takes `steps` steps of `CHAINS` instructions.

    Data are two vectors, the factor and the addend; then one with which each chain starts, so that
    no compiler can see equal chains; then one for each thread, which is written.
    """
    vector = kind.vector
    add = "fadd" if kind.dtype != "int8" else "add"
    body = [
        "start:",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %loop ]",
        *(f"  %a{n} = phi {vector} [ %c{n}, %start ], [ %b{n}, %loop ]" for n in range(CHAINS)),
        *(f"  %b{n} = {kind.call.format(a=f'%a{n}')}" for n in range(CHAINS)),
        "  %i.next = add i64 %i, 1",
        "  %again = icmp slt i64 %i.next, %steps",
        "  br i1 %again, label %loop, label %finish",
        "finish:",
        *add_up("b", CHAINS, vector, add),
        f"  %row = add i64 %part, {CHAINS + 2}",
        f"  %out = getelementptr {vector}, ptr %data, i64 %row",
        f"  store {vector} %total, ptr %out, align 4",
        "  br label %part.done",
    ]
    load = [*load_args(("ptr", "data"), ("i64", "steps")), *_load_operands(kind)]
    for n in range(CHAINS):
        load.append(f"  %c{n}.at = getelementptr {vector}, ptr %data, i64 {n + 2}")
        load.append(f"  %c{n} = load {vector}, ptr %c{n}.at, align 4")
    return kind.declare + entry("peak_rate", 2, load, body)


def _load_operands(kind: Multiply) -> list[str]:
    """The factor and the addend, in the types that the instruction takes."""
    vector = kind.vector
    lines = [
        f"  %x = load {vector}, ptr %data, align 4",
        f"  %y.at = getelementptr {vector}, ptr %data, i64 1",
        f"  %y = load {vector}, ptr %y.at, align 4",
    ]
    if " %u" in kind.call:
        operand = kind.declare.rsplit(", ", 1)[-1].rstrip(")\n")
        lines.append(f"  %u = bitcast {vector} %x to {operand}")
        lines.append(f"  %w = bitcast {vector} %y to {operand}")
    return lines


def clock_ir() -> str:
    """`peak_clock(data, steps, threads)`: a chain of operations of one cycle each.

    A step has `CLOCK_STEPS` of them.

    Additions and exclusive ors take turns, of numbers that no compiler knows, so that it cannot
    put them together beforehand.
    """
    chain = [
        f"  %v{n + 1} = {'xor' if n % 2 else 'add'} i64 %v{n}, {'%y' if n % 2 else '%x'}"
        for n in range(CLOCK_STEPS)
    ]
    body = [
        "start:",
        "  %x = load i64, ptr %data, align 4",
        "  %y.at = getelementptr i64, ptr %data, i64 1",
        "  %y = load i64, ptr %y.at, align 4",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %loop ]",
        f"  %v0 = phi i64 [ %x, %start ], [ %v{CLOCK_STEPS}, %loop ]",
        *chain,
        "  %i.next = add i64 %i, 1",
        "  %again = icmp slt i64 %i.next, %steps",
        "  br i1 %again, label %loop, label %finish",
        "finish:",
        f"  store i64 %v{CLOCK_STEPS}, ptr %data, align 4",
        "  br label %part.done",
    ]
    load = load_args(("ptr", "data"), ("i64", "steps"), ("i64", "one"))
    return entry("peak_clock", 2, load, body)


def entry(name: str, threads_slot: int, load: list[str], body: list[str]) -> str:
    """A kernel that gives each thread a part, from the lines that load and that work."""
    return _ENTRY.format(
        name=name, threads_slot=threads_slot, load_args="\n".join(load), body="\n".join(body)
    )


def load_args(*slots: tuple[str, str]) -> list[str]:
    """Read arguments by their places."""
    lines: list[str] = []
    for number, (kind, name) in enumerate(slots):
        lines.append(f"  %{name}.at = getelementptr i64, ptr %args, i64 {number}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at, align 8")
    return lines


def add_up(name: str, count: int, vector: str, add: str) -> list[str]:
    """Add up `count` values into `%total`, so that none of them can be left out."""
    lines = [f"  %sum0 = {add} {vector} %{name}0, %{name}1"]
    lines += [
        f"  %sum{n} = {add} {vector} %sum{n - 1}, %{name}{n + 1}" for n in range(1, count - 2)
    ]
    return [*lines, f"  %total = {add} {vector} %sum{count - 3}, %{name}{count - 1}"]
