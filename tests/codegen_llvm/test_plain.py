"""Plain programs, for which a few of LLVM's passes do, and what the emitter does for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.kernels import buffer, kernel_of, run_program

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.codegen.llvm import compile as compiling
from tvmlab.codegen.llvm import emit_module
from tvmlab.codegen.llvm.asm_report import loop_reports
from tvmlab.codegen.llvm.builder import PLAIN
from tvmlab.codegen.llvm.plain import is_plain
from tvmlab.ir import (
    Alloc,
    Broadcast,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Load,
    Program,
    Ramp,
    Stmt,
    Store,
    Var,
    compare,
    const,
    seq,
)
from tvmlab.support import FLOAT32, DType
from tvmlab.target import Target

HOST = Target.host()
X86 = pytest.mark.skipif(HOST.vector_bits != 512, reason="counts instructions of 512-bit vectors")


def _matmul(m: int, n: int, k: int) -> Program:
    return topi.schedule_matmul(topi.matmul(m, n, k)[2], HOST).program


def _all_passes(*_: object) -> str:
    return "functions"


def _text(program: Program) -> str:
    return emit_module(tl.lower(program, HOST).program, HOST)


@pytest.mark.parametrize("shape", [(16, 16, 16), (96, 96, 96), (192, 192, 192), (17, 33, 65)])
def test_a_matrix_product_is_plain(shape: tuple[int, int, int]) -> None:
    assert _text(_matmul(*shape)).startswith(PLAIN)


@X86
@pytest.mark.parametrize("shape", [(96, 96, 96), (192, 192, 192)])
def test_few_passes_leave_the_loops_as_all_of_them_do(
    shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = _text(_matmul(*shape))
    few = loop_reports(compiling.compile_module(text, HOST).asm, HOST.cpu)
    monkeypatch.setattr(compiling, "_extent", _all_passes)
    many = loop_reports(compiling.compile_module(text, HOST).asm, HOST.cpu)
    counts = [[(loop.fma, loop.loads, loop.spills) for loop in loops] for loops in (few, many)]
    assert max(counts[0]) == max(counts[1])
    assert all(spills == 0 for _, _, spills in counts[0])


A, B, T = buffer("A", 256), buffer("B", 256), buffer("T", 256)
I, K = Var("i"), Var("k")


def _nest(body: Stmt) -> Program:
    return Program("f", (A, B), For(I, const(16), For(K, const(16), body)))


def _row(index: Expr) -> Expr:
    return Load(A, (index,)) * 2.0


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        (Store(B, (I * 16 + K,), _row(I * 16 + K)), True),
        (Store(B, (I * 16 + K,), _row(I * 16)), False),  # could be loaded outside of the loop
        (Store(B, (I * 16 + K,), Load(A, (I * 16 + K,))), False),  # one call copies all
        (Store(B, (I * 16 + K,), _row(I * 16 + K) / 3.0), False),
        (If(compare("lt", K, I), Store(B, (I * 16 + K,), _row(I * 16 + K))), False),
        (Store(B, (I * 16 + K,), const(0.0)), True),  # one call clears all
        (Store(B, (I * 16 + K,), const(1.0)), False),
    ],
)
def test_what_is_plain(body: Stmt, plain: bool) -> None:
    program = _nest(body)
    assert is_plain(program) is plain
    a, b = np.arange(256, dtype=np.float32), np.full(256, 7, np.float32)
    run_program(program, a, b)
    want = np.full(256, 7, np.float32)
    tl.codegen.interpret(program, [a, want])
    np.testing.assert_array_equal(b, want)


def test_a_choice_between_loops_is_plain() -> None:
    def loop(factor: float) -> Stmt:
        return For(K, const(16), Store(B, (I * 16 + K,), _row(I * 16 + K) + factor))

    choice = If(compare("lt", I, const(3)), loop(1.0), loop(2.0))
    program = Program("f", (A, B), For(I, const(16), choice))
    assert is_plain(program)
    assert not is_plain(Program("f", (A, B), If(choice.cond, loop(1.0))))
    a, b = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    run_program(program, a, b)
    np.testing.assert_array_equal(b, a * 2 + np.where(np.arange(256) < 48, 1, 2))


def test_what_is_loaded_again_is_not_plain() -> None:
    again = seq([
        Store(B, (K,), Load(B, (K,)) * 2.0),
        Store(B, (K,), Load(B, (K,)) + 1.0),
    ])  # fmt: skip
    program = Program("f", (A, B), For(K, const(256), again))
    assert is_plain(program)
    assert not emit_module(program, HOST).startswith(PLAIN)
    b = np.arange(256, dtype=np.float32)
    run_program(program, np.zeros(256, np.float32), b)
    np.testing.assert_array_equal(b, np.arange(256) * 2 + 1)


def _kept(write: Callable[[Var], Stmt]) -> Program:
    """T is filled, then read twice in one round of a loop."""
    fill = For(K, const(16), Store(T, (K,), Load(A, (I * 16 + K,))))
    j = Var("j")
    twice = seq([
        Store(B, (I * 16 + j,), Load(T, (j,)) * 2.0),
        write(j),
        Store(B, (I * 16 + j,), Load(B, (I * 16 + j,)) + Load(T, (j,))),
    ])  # fmt: skip
    return Program("f", (A, B), For(I, const(16), Alloc(T, seq([fill, For(j, const(16), twice)]))))


def _other(j: Var) -> Stmt:
    return Store(B, (I * 16 + j,), Load(B, (I * 16 + j,)) + 1.0)


def _same(j: Var) -> Stmt:
    return Store(T, (j,), Load(T, (j,)) + 1.0)


@pytest.mark.parametrize(("write", "loads"), [(_other, 1), (_same, 3)])
def test_what_a_loop_does_not_write_is_loaded_once(
    write: Callable[[Var], Stmt], loads: int
) -> None:
    program = _kept(write)
    text = emit_module(program, HOST)
    pointers = [line.split(" = ")[0].strip() for line in text.splitlines() if "ptr %T" in line]
    read = [line for line in text.splitlines() if "load float, ptr" in line]
    assert sum(any(f"{p}," in line for p in pointers) for line in read) == loads
    a, b, want = (np.arange(256, dtype=np.float32) for _ in range(3))
    run_program(program, a, b)
    tl.codegen.interpret(program, [a, want])
    np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize("index", [K + 0, K + 3, const(5) + (K + I * 2)], ids=str)
def test_a_loop_that_clears_memory_is_one_call(dtype: str, index: Expr) -> None:
    kind = DType.of(dtype)
    out = Buffer("B", (const(64),), kind)
    zero = Const(False if dtype == "bool" else 0, kind)
    program = Program("f", (out,), For(I, const(1), For(K, const(20), Store(out, (index,), zero))))
    assert emit_module(program, HOST).count("llvm.memset") == 2  # declared and called
    got, want = np.ones(64, dtype), np.ones(64, dtype)
    run_program(program, got)
    tl.codegen.interpret(program, [want])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "store",
    [
        Store(B, (K,), const(-0.0)),
        Store(B, (K * 2,), const(0.0)),
        Store(B, (K + K,), const(0.0)),
        Store(B, (const(20) - K,), const(0.0)),
        Store(B, (Ramp(K, const(1), 4),), Broadcast(const(0.0), 4)),
    ],
)
def test_what_only_looks_like_clearing(store: Store) -> None:
    program = Program("f", (B,), For(K, const(20), store))
    assert "memset" not in emit_module(program, HOST)
    got, want = np.ones(256, np.float32), np.ones(256, np.float32)
    run_program(program, got)
    tl.codegen.interpret(program, [want])
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("size", [0, 1, 5])
def test_clearing_as_much_as_is_said_at_run_time(size: int) -> None:
    n = Var("n")
    out = Buffer("B", (n,), FLOAT32)
    kernel = kernel_of(Program("f", (out, n), For(K, n, Store(out, (K,), const(0.0)))))
    room = np.ones(8, np.float32)
    kernel(room[:size], size)
    np.testing.assert_array_equal(room, np.arange(8) >= size)


def test_a_size_that_may_be_negative_is_a_loop() -> None:
    n = Var("n")
    loop = For(K, n - 3, Store(B, (K,), const(0.0)))
    kernel = kernel_of(Program("f", (B, n), loop))
    b = np.ones(256, np.float32)
    kernel(b, 1)
    kernel(b, 7)
    np.testing.assert_array_equal(b, np.arange(256) >= 4)


def test_a_tiled_product_from_start_values_in_memory() -> None:
    m = n = k = 48
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis(k, "r")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    sch = tl.Schedule(c)
    i, j, r_loop = sch.loops("C")
    io, ii = sch.split(i, [None, 8])
    jo, ji = sch.split(j, [None, 16])
    ko, ki = sch.split(r_loop, [None, 16])
    sch.reorder(io, jo, ko, ki, ii, ji)
    sch.decompose_reduction("C", ko)
    sch.vectorize(ji)
    sch.unroll(ii)
    assert _text(sch.program).startswith(PLAIN)
    rng = np.random.default_rng(0)
    x, y = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    out = np.empty((m, n), np.float32)
    tl.build(sch)(x, y, out)
    np.testing.assert_allclose(out, x.astype(float) @ y, rtol=1e-5)
