"""Streams of reads and writes as LLVM IR with the kernel ABI, written by hand as `peak_ir` is."""

from __future__ import annotations

from .peak_ir import STREAMS, add_up, entry, load_args

_ARGS = (("ptr", "data"), ("ptr", "other"), ("i64", "blocks"), ("i64", "steps"))


def read_ir(lanes: int) -> str:
    """`peak_read(data, sums, blocks, steps, threads)`: each thread adds up its own blocks.

    A block is `STREAMS` vectors; a thread has `blocks` of them, which follow those of the thread
    before, and takes `steps` steps of one block, over its own again and again.
    """
    vector = f"<{lanes} x float>"
    body = [
        *_head(),
        *(
            f"  %s{n} = phi {vector} [ zeroinitializer, %start ], [ %t{n}, %loop ]"
            for n in range(STREAMS)
        ),
        *_places(),
        *_loads(vector),
        *(f"  %t{n} = fadd {vector} %s{n}, %v{n}" for n in range(STREAMS)),
        *_tail(),
        *add_up("t", STREAMS, vector, "fadd"),
        f"  %out = getelementptr {vector}, ptr %other, i64 %part",
        f"  store {vector} %total, ptr %out, align 4",
    ]
    return _stream("peak_read", body)


def write_ir(lanes: int, *, past_caches: bool = False) -> str:
    """`peak_write(data, other, blocks, steps, threads)`: as `peak_read`, but writes `other`.

    Each vector gets the number of its step, so that no compiler sees equal writes.
    """
    vector = f"<{lanes} x float>"
    body = [
        *_head(),
        *_places(),
        "  %number = uitofp i64 %step to float",
        f"  %lane = insertelement {vector} poison, float %number, i64 0",
        f"  %all = shufflevector {vector} %lane, {vector} poison, <{lanes} x i32> zeroinitializer",
        *_stores(vector, ["%all"] * STREAMS, lanes, past_caches),
        *_tail(),
    ]
    return _stream("peak_write", body)


def copy_ir(lanes: int, *, past_caches: bool = False) -> str:
    """`peak_copy(data, other, blocks, steps, threads)`: as `peak_read`, but copies to `other`."""
    vector = f"<{lanes} x float>"
    body = [
        *_head(),
        *_places(),
        *_loads(vector),
        *_stores(vector, [f"%v{n}" for n in range(STREAMS)], lanes, past_caches),
        *_tail(),
    ]
    return _stream("peak_copy", body)


def _stream(name: str, body: list[str]) -> str:
    """The kernel; the metadata say that a store goes past the caches."""
    return entry(name, 4, load_args(*_ARGS), [*body, "  br label %part.done"]) + "\n!0 = !{i32 1}\n"


def _head() -> list[str]:
    return [
        "start:",
        "  %first = mul i64 %part, %blocks",
        "  br label %loop",
        "loop:",
        "  %step = phi i64 [ 0, %start ], [ %step.next, %loop ]",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %loop ]",
    ]


def _places() -> list[str]:
    return [
        "  %block = add i64 %first, %i",
        f"  %base = mul i64 %block, {STREAMS}",
        *(f"  %n{n} = add i64 %base, {n}" for n in range(STREAMS)),
    ]


def _loads(vector: str) -> list[str]:
    lines: list[str] = []
    for n in range(STREAMS):
        lines += [
            f"  %p{n} = getelementptr {vector}, ptr %data, i64 %n{n}",
            f"  %v{n} = load {vector}, ptr %p{n}, align 4",
        ]
    return lines


def _stores(vector: str, values: list[str], lanes: int, past_caches: bool) -> list[str]:
    # Past the caches go only whole aligned vectors; arrays start at a multiple of 64 bytes.
    how = f"align {4 * lanes}, !nontemporal !0" if past_caches else "align 4"
    lines: list[str] = []
    for n, value in enumerate(values):
        lines += [
            f"  %q{n} = getelementptr {vector}, ptr %other, i64 %n{n}",
            f"  store {vector} {value}, ptr %q{n}, {how}",
        ]
    return lines


def _tail() -> list[str]:
    return [
        "  %i.inc = add i64 %i, 1",
        "  %wraps = icmp eq i64 %i.inc, %blocks",
        "  %i.next = select i1 %wraps, i64 0, i64 %i.inc",
        "  %step.next = add i64 %step, 1",
        "  %again = icmp slt i64 %step.next, %steps",
        "  br i1 %again, label %loop, label %finish",
        "finish:",
    ]
