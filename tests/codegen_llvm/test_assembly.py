"""The machine code itself: a register-tiled matrix product without spills, FMA, no surprises."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.kernels import buffer, elementwise, kernel_of

from tvmlab.codegen.llvm import (
    EmitOptions,
    FastMath,
    compile_module,
    emit_module,
    kernel_signature,
    loop_reports,
)
from tvmlab.ir import (
    Alloc,
    Broadcast,
    Buffer,
    Expr,
    For,
    Load,
    Program,
    Ramp,
    Stmt,
    Store,
    Var,
    const,
    seq,
)
from tvmlab.runtime import Kernel, empty
from tvmlab.support import InternalError
from tvmlab.target import Target

HOST = Target.host()
needs_avx2 = pytest.mark.skipif(not HOST.has("fma"), reason="the host has no FMA")


def micro_kernel(rows: int, vectors: int, lanes: int, depth: int) -> Program:
    """C = A @ B for a tile in registers; A is packed by columns, B by rows."""
    width = vectors * lanes
    ba, bb, bc = (
        buffer("A", depth * rows),
        buffer("B", depth * width),
        buffer("C", rows * width),
    )
    tile = [
        [buffer(f"c{r}_{v}", lanes, scope="register") for v in range(vectors)] for r in range(rows)
    ]
    line = [buffer(f"b{v}", lanes, scope="register") for v in range(vectors)]
    whole, k = Ramp(const(0), const(1), lanes), Var("k")

    def at(base: Expr) -> tuple[Expr]:
        return (Ramp(base, const(1), lanes),)

    accumulators = [register for row in tile for register in row]
    start = [Store(r, (whole,), Broadcast(const(0.0), lanes)) for r in accumulators]
    step: list[Stmt] = [
        Store(line[v], (whole,), Load(bb, at(k * width + v * lanes))) for v in range(vectors)
    ]
    for r in range(rows):
        element = Broadcast(Load(ba, (k * rows + r,)), lanes)
        for v in range(vectors):
            sum_ = Load(tile[r][v], (whole,)) + element * Load(line[v], (whole,))
            step.append(Store(tile[r][v], (whole,), sum_))
    finish = [
        Store(bc, at(const(r * width + v * lanes)), Load(tile[r][v], (whole,)))
        for r in range(rows)
        for v in range(vectors)
    ]
    body: Stmt = seq([*start, For(k, const(depth), seq(step)), *finish])
    for register in (*accumulators, *line):
        body = Alloc(register, body)
    return Program("micro", (ba, bb, bc), body)


@needs_avx2
@pytest.mark.parametrize(("rows", "vectors"), [(12, 2), (14, 2), (8, 3)])
def test_register_tile_is_nothing_but_loads_and_fma(rows: int, vectors: int) -> None:
    if HOST.vector_bits < 512:
        rows, vectors = 6, 2
    lanes = HOST.lanes(32)
    program = micro_kernel(rows, vectors, lanes, 64)
    compiled = compile_module(emit_module(program, HOST), HOST)
    (loop,) = loop_reports(compiled.asm)
    assert loop.function == "micro.kernel"
    assert loop.fma == rows * vectors
    assert loop.loads == rows + vectors
    assert (loop.spills, loop.stores, loop.calls) == (0, 0, 0)
    assert loop.widest == HOST.vector_bits
    assert loop.instructions <= loop.fma + loop.loads + 6
    a, b = (
        np.random.default_rng(0).random(n, np.float32) for n in (64 * rows, 64 * vectors * lanes)
    )
    c = empty(rows * vectors * lanes)
    Kernel(compiled.object_bytes, kernel_signature(program))(a, b, c)
    want = a.reshape(64, rows).T @ b.reshape(64, -1)
    np.testing.assert_allclose(c.reshape(rows, -1), want, rtol=1e-5)


@needs_avx2
def test_too_many_registers_show_as_spills() -> None:
    lanes = HOST.lanes(32)
    program = micro_kernel(HOST.num_registers, 2, lanes, 64)
    (loop,) = loop_reports(compile_module(emit_module(program, HOST), HOST).asm)
    assert loop.spills > 0


@needs_avx2
def test_contraction_is_an_option() -> None:
    program = micro_kernel(2, 1, 8, 64)
    for fast_math, fma in ((FastMath(), True), (FastMath(contract=False), False)):
        text = emit_module(program, HOST, EmitOptions(fast_math))
        (loop,) = loop_reports(compile_module(text, HOST).asm)
        assert (loop.fma > 0) == fma


def test_reassociation_is_off_by_default() -> None:
    # (x + 1e8) - 1e8 may only become x when asked for
    x = np.array([1.0], np.float32)
    assert elementwise(lambda a: (a + 1e8) - 1e8, [x], "float32")[0] == 0.0
    assert FastMath(reassociate=True).flags == "contract reassoc "
    assert FastMath(contract=False).flags == ""


def test_llvm_neither_vectorizes_nor_unrolls() -> None:
    ba, bb, i = buffer("A", 1024), buffer("B", 1024), Var("i")
    program = Program("f", (ba, bb), For(i, const(1024), Store(bb, (i,), Load(ba, (i,)) + 1.0)))
    text = compile_module(emit_module(program, HOST), HOST).llvm_text_optimized
    assert text.count("fadd") == 1
    assert "x float>" not in text


def test_unrolling_by_llvm_can_be_asked_for() -> None:
    ba, bb, i = buffer("A", 1024), buffer("B", 1024), Var("i")
    loop = For(
        i, const(1024), Store(bb, (i,), Load(ba, (i,)) + 1.0), "serial", (("llvm_unroll", 4),)
    )
    text = compile_module(emit_module(Program("f", (ba, bb), loop), HOST), HOST).llvm_text_optimized
    assert text.count("fadd") == 4


def test_stages_are_timed_and_text_is_made_on_demand() -> None:
    compiled = compile_module(emit_module(micro_kernel(2, 1, 4, 8), HOST), HOST, opt_level=1)
    assert set(compiled.seconds) == {"parse", "optimize", "codegen"}
    assert all(value > 0 for value in compiled.seconds.values())
    assert "micro" in compiled.asm
    assert "i32 @micro(" in compiled.llvm_text_optimized
    assert "phi i64" in compiled.ir_text


def test_rejected_text_is_a_bug_with_its_place() -> None:
    with pytest.raises(InternalError, match=r"(?s)LLVM rejects the generated code.*bad line"):
        compile_module("define void @f() {\n  bad line\n}\n", HOST)


@pytest.mark.parametrize(
    "spec",
    ["llvm -mtriple=aarch64-linux-gnu", "llvm -mtriple=riscv64-linux-gnu -mattr=+d,+v",
     "llvm -mtriple=armv7-linux-gnueabihf -mattr=+neon", "llvm -mtriple=wasm32 -mattr=+simd128"],
)  # fmt: skip
def test_cross_compilation(spec: str) -> None:
    target = Target.of(spec)
    program = micro_kernel(4, 2, 4, 16)
    compiled = compile_module(emit_module(program, target), target)
    assert len(compiled.object_bytes) > 200


def test_kernels_are_deterministic_text() -> None:
    program = micro_kernel(2, 2, 8, 16)
    assert emit_module(program, HOST) == emit_module(program, HOST)


def test_loops_without_vectors_count_nothing() -> None:
    bb, i, j = buffer("B", 64, "int64"), Var("i"), Var("j")
    update = Store(bb, (i,), Load(bb, (i,)) * 3 + j)
    program = Program("f", (bb,), For(i, const(64), For(j, const(64), update)))
    reports = loop_reports(compile_module(emit_module(program, HOST), HOST).asm)
    assert len(reports) == 1  # the inner loop only
    assert (reports[0].fma, reports[0].loads, reports[0].widest) == (0, 0, 0)


def test_signature_of_a_program() -> None:
    n = Var("n")
    ba, bb = (
        Buffer(name, (size,), buffer("x", 1).dtype) for name, size in (("A", n), ("B", n * 2 + 1))
    )
    i = Var("i")
    program = Program("f", (ba, bb, n), For(i, n, Store(bb, (i * 2,), Load(ba, (i,)))))
    text = "f(A: float32[n], B: float32[((n * 2) + 1)], n: int64)"
    assert str(kernel_signature(program)) == text
    a, b = np.arange(3, dtype=np.float32), np.zeros(7, np.float32)
    kernel_of(program)(a, b)
    np.testing.assert_array_equal(b, [0, 0, 1, 0, 2, 0, 0])
