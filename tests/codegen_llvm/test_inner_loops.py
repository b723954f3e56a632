"""Instructions of inner loops: what each does, and the cycles that ports and chains allow."""

from __future__ import annotations

import pytest

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.codegen.llvm.asm_report import loop_reports
from tvmlab.codegen.llvm.instructions import parse_instruction
from tvmlab.codegen.llvm.ports import GENERIC, INTEL_512, ZEN4, port_model
from tvmlab.inspect import inner_loop_report, inner_loop_text
from tvmlab.target import Target

X86 = pytest.mark.skipif(Target.host().arch != "x86_64", reason="reads x86-64 assembly")

LINES: list[tuple[str, str, int, int, int]] = [
    # line, kind, flops, bytes read, bytes written
    ("vfmadd231ps\t(%rax){1to16}, %zmm1, %zmm2", "fma", 32, 4, 0),
    ("vfmadd231pd\t%ymm0, %ymm1, %ymm2", "fma", 8, 0, 0),
    ("vaddps\t64(%rax,%rcx,4), %zmm1, %zmm2", "add", 16, 64, 0),
    ("vmulss\t%xmm0, %xmm1, %xmm2", "multiply", 1, 0, 0),
    ("vdivps\t%zmm0, %zmm1, %zmm2", "divide", 16, 0, 0),
    ("vmovups\t%zmm2, (%rdi)", "move", 0, 0, 64),
    ("vmovups\t(%rdi), %ymm2", "move", 0, 32, 0),
    ("vpermt2ps\t%zmm2, %zmm3, %zmm4", "shuffle", 0, 0, 0),
    ("vpxord\t%zmm2, %zmm3, %zmm4", "logic", 0, 0, 0),
    ("vdpbf16ps\t%zmm2, %zmm3, %zmm4", "fma", 64, 0, 0),
    ("vpdpbusd\t%zmm2, %zmm3, %zmm4", "fma", 128, 0, 0),
    ("addq\t$64, %rax", "integer", 0, 0, 0),
    ("leaq\t8(%rax), %rcx", "integer", 0, 0, 0),
    ("callq\tsinf@PLT", "call", 0, 0, 0),
    ("jne\t.LBB0_3", "other", 0, 0, 0),
]


@pytest.mark.parametrize(("line", "kind", "flops", "read", "written"), LINES)
def test_an_instruction(line: str, kind: str, flops: int, read: int, written: int) -> None:
    one = parse_instruction(f"\t{line}")
    assert one is not None
    assert (one.kind, one.flops) == (kind, flops)
    moved = one.bytes_moved
    assert (moved if one.reads_memory else 0, moved if one.writes_memory else 0) == (read, written)


@pytest.mark.parametrize("line", [".LBB0_3:", "\t.p2align\t4", "# a remark", ""])
def test_what_is_no_instruction(line: str) -> None:
    assert parse_instruction(line) is None


def test_a_move_to_the_stack_is_a_spill_but_an_array_there_is_not() -> None:
    body = ["\tvmovups\t%zmm1, 64(%rsp)", "\tvmovups\t%zmm1, 64(%rsp,%rax)", "\tjne\t.LBB0_1"]
    (loop,) = loop_reports("\n".join(["f:", ".LBB0_1:", *body]))
    assert (loop.spills, loop.stores, loop.bytes_written) == (1, 1, 64)


def _loop(*body: str, cpu: str = "znver4") -> tuple[float, str]:
    lines = ["f:", ".LBB0_1:", *(f"\t{line}" for line in body), "\tjne\t.LBB0_1"]
    (loop,) = loop_reports("\n".join(lines), cpu)
    return loop.cycles, loop.bound_by


def test_ports_bound_independent_instructions() -> None:
    fmas = [f"vfmadd231ps\t%zmm30, %zmm31, %zmm{n}" for n in range(12)]
    assert _loop(*fmas) == (12, "multiply")
    assert _loop(*fmas, cpu="sapphirerapids") == (6, "multiply")
    loads = [f"vmovups\t{64 * n}(%rax), %zmm{n}" for n in range(6)]
    assert _loop(*loads) == (6, "load")
    stores = [f"vmovups\t%ymm1, {32 * n}(%rax)" for n in range(5)]
    assert _loop(*stores) == (5, "store")


def test_a_chain_bounds_what_waits_for_itself() -> None:
    assert _loop("vfmadd231ps\t%zmm1, %zmm2, %zmm0") == (4, "latency")
    assert _loop("vaddps\t%ymm1, %ymm0, %ymm0", "vaddps\t%ymm2, %ymm0, %ymm0") == (6, "latency")


def test_models_by_name() -> None:
    assert port_model("znver5") is ZEN4
    assert port_model("icelake-server") is INTEL_512
    assert port_model("core-avx2") is GENERIC


@X86
def test_loops_of_a_kernel_in_words() -> None:
    x = te.placeholder((512, 512), name="x")
    exe = tl.build(topi.schedule(topi.softmax(x)))
    loops = exe.inner_loops()
    assert loops[0].flops == max(loop.flops for loop in loops) > 0
    assert loops[0].cycles > 0
    report = inner_loop_report(exe)
    assert report.loops == loops
    text = inner_loop_text(report)
    assert "an iteration takes" in text
    assert loops[0].label in text


def test_a_kernel_without_loops() -> None:
    x = te.placeholder((1,), name="x")
    report = inner_loop_report(tl.build([topi.negative(x)]))
    assert report.loops == ()
    assert inner_loop_text(report).startswith("the machine code has no loop")
