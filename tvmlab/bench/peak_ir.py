"""Micro-benchmarks as LLVM IR with the kernel ABI: what the machine can do at most.

They are written by hand, because they measure what generated code is compared with. Each shares its
work out to threads by the pool, as kernels do; a thread takes one part.
"""

from __future__ import annotations

CHAINS = 12
"""Independent chains of multiply-adds: enough to hide their latency, few enough for registers."""

STREAMS = 8
"""Vectors that are loaded in one step of a read or copy."""

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


def fma_ir(lanes: int) -> str:
    """`peak_fma(data, steps, threads)`: each thread takes `steps` steps of `CHAINS` multiply-adds.

    Data are two vectors, the factor and the addend; then one with which each chain starts, so that
    no compiler can see equal chains; then one for each thread, which is written.
    """
    vector = f"<{lanes} x float>"
    phis = [f"  %a{n} = phi {vector} [ %c{n}, %start ], [ %b{n}, %loop ]" for n in range(CHAINS)]
    steps = [
        f"  %b{n} = call {vector} @llvm.fma.v{lanes}f32({vector} %a{n}, {vector} %x, {vector} %y)"
        for n in range(CHAINS)
    ]
    body = "\n".join(
        [
            "start:",
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %start ], [ %i.next, %loop ]",
            *phis,
            *steps,
            "  %i.next = add i64 %i, 1",
            "  %again = icmp slt i64 %i.next, %steps",
            "  br i1 %again, label %loop, label %finish",
            "finish:",
            *_sum("b", CHAINS, vector),
            f"  %row = add i64 %part, {CHAINS + 2}",
            f"  %out = getelementptr {vector}, ptr %data, i64 %row",
            f"  store {vector} %total, ptr %out, align 4",
            "  br label %part.done",
        ]
    )
    load = "\n".join(
        [
            *_load_args(("ptr", "data"), ("i64", "steps")),
            f"  %x = load {vector}, ptr %data, align 4",
            f"  %y.at = getelementptr {vector}, ptr %data, i64 1",
            f"  %y = load {vector}, ptr %y.at, align 4",
            *_load_starts(vector),
        ]
    )
    declare = f"declare {vector} @llvm.fma.v{lanes}f32({vector}, {vector}, {vector})\n"
    return declare + _ENTRY.format(name="peak_fma", threads_slot=2, load_args=load, body=body)


def read_ir(lanes: int) -> str:
    """`peak_read(data, sums, blocks, steps, threads)`: each thread adds up its own blocks.

    A block is `STREAMS` vectors; a thread has `blocks` of them, which follow those of the thread
    before, and takes `steps` steps of one block, over its own again and again.
    """
    vector = f"<{lanes} x float>"
    body = "\n".join(
        [
            *_stream_head(),
            *(
                f"  %s{n} = phi {vector} [ zeroinitializer, %start ], [ %t{n}, %loop ]"
                for n in range(STREAMS)
            ),
            *_stream_loads(vector),
            *(f"  %t{n} = fadd {vector} %s{n}, %v{n}" for n in range(STREAMS)),
            *_stream_tail(),
            *_sum("t", STREAMS, vector),
            f"  %out = getelementptr {vector}, ptr %other, i64 %part",
            f"  store {vector} %total, ptr %out, align 4",
            "  br label %part.done",
        ]
    )
    load = "\n".join(
        _load_args(("ptr", "data"), ("ptr", "other"), ("i64", "blocks"), ("i64", "steps"))
    )
    return _ENTRY.format(name="peak_read", threads_slot=4, load_args=load, body=body)


def copy_ir(lanes: int) -> str:
    """`peak_copy(data, copy, blocks, steps, threads)`: as `peak_read`, but copies."""
    vector = f"<{lanes} x float>"
    stores = [
        line
        for n in range(STREAMS)
        for line in (
            f"  %q{n} = getelementptr {vector}, ptr %other, i64 %n{n}",
            f"  store {vector} %v{n}, ptr %q{n}, align 4",
        )
    ]
    body = "\n".join(
        [
            *_stream_head(),
            *_stream_loads(vector),
            *stores,
            *_stream_tail(),
            "  br label %part.done",
        ]
    )
    load = "\n".join(
        _load_args(("ptr", "data"), ("ptr", "other"), ("i64", "blocks"), ("i64", "steps"))
    )
    return _ENTRY.format(name="peak_copy", threads_slot=4, load_args=load, body=body)


def _load_args(*slots: tuple[str, str]) -> list[str]:
    lines: list[str] = []
    for number, (kind, name) in enumerate(slots):
        lines.append(f"  %{name}.at = getelementptr i64, ptr %args, i64 {number}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at, align 8")
    return lines


def _load_starts(vector: str) -> list[str]:
    lines: list[str] = []
    for n in range(CHAINS):
        lines.append(f"  %c{n}.at = getelementptr {vector}, ptr %data, i64 {n + 2}")
        lines.append(f"  %c{n} = load {vector}, ptr %c{n}.at, align 4")
    return lines


def _stream_head() -> list[str]:
    return [
        "start:",
        "  %first = mul i64 %part, %blocks",
        "  br label %loop",
        "loop:",
        "  %step = phi i64 [ 0, %start ], [ %step.next, %loop ]",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %loop ]",
    ]


def _stream_loads(vector: str) -> list[str]:
    lines = ["  %block = add i64 %first, %i", f"  %base = mul i64 %block, {STREAMS}"]
    for n in range(STREAMS):
        lines += [
            f"  %n{n} = add i64 %base, {n}",
            f"  %p{n} = getelementptr {vector}, ptr %data, i64 %n{n}",
            f"  %v{n} = load {vector}, ptr %p{n}, align 4",
        ]
    return lines


def _stream_tail() -> list[str]:
    return [
        "  %i.inc = add i64 %i, 1",
        "  %wraps = icmp eq i64 %i.inc, %blocks",
        "  %i.next = select i1 %wraps, i64 0, i64 %i.inc",
        "  %step.next = add i64 %step, 1",
        "  %again = icmp slt i64 %step.next, %steps",
        "  br i1 %again, label %loop, label %finish",
        "finish:",
    ]


def _sum(name: str, count: int, vector: str) -> list[str]:
    """Add up `count` values into `%total`, so that none of them can be left out."""
    lines = [f"  %sum0 = fadd {vector} %{name}0, %{name}1"]
    lines += [f"  %sum{n} = fadd {vector} %sum{n - 1}, %{name}{n + 1}" for n in range(1, count - 2)]
    return [*lines, f"  %total = fadd {vector} %sum{count - 3}, %{name}{count - 1}"]
