"""Loops, conditions, storage, parallel bodies, and what happens when memory is short."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.kernels import buffer, kernel_of, run_program, vector

from tvmlab.codegen.llvm import emit_module
from tvmlab.ir import (
    Alloc,
    Block,
    BlockSymbol,
    Broadcast,
    Buffer,
    Call,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    Program,
    Ramp,
    Seq,
    Stmt,
    Store,
    Var,
    compare,
    const,
    eq,
    seq,
)
from tvmlab.runtime import get_num_threads, num_threads
from tvmlab.support import FLOAT32, DType, InternalError, RuntimeFailure
from tvmlab.target import Target

HOST = Target.host()


def copy_loop(source: Buffer, dest: Buffer, size: Expr | int) -> For:
    i = Var("i")
    extent = const(size) if isinstance(size, int) else size
    return For(i, extent, Store(dest, (i,), Load(source, (i,)) + 1.0))


def test_loop_nest_and_condition() -> None:
    bb = buffer("B", 12)
    i, j = Var("i"), Var("j")
    inner = If(
        compare("lt", j, i),
        Store(bb, (i * 4 + j,), const(1.0)),
        If(eq(j, i), Store(bb, (i * 4 + j,), const(2.0))),
    )
    b = np.zeros(12, np.float32)
    run_program(Program("f", (bb,), For(i, const(3), For(j, const(4), inner))), b)
    want = np.tril(np.ones((3, 4)), -1) + 2 * np.eye(3, 4)
    np.testing.assert_array_equal(b.reshape(3, 4), want)


@pytest.mark.parametrize("kind", ["serial", "parallel"])
@pytest.mark.parametrize("extent", [0, 1, 2, 3, 1000])
def test_extents_known_only_at_run_time(extent: int, kind: str) -> None:
    n = Var("n")
    ba, bb = (Buffer(name, (n,), FLOAT32) for name in "AB")
    i = Var("i")
    body = For(i, n, Store(bb, (i,), Load(ba, (i,)) * 2.0), kind)  # pyright: ignore[reportArgumentType]
    kernel = kernel_of(Program("f", (ba, bb, n), body))
    a, b = np.arange(extent, dtype=np.float32), np.full(extent, -1, np.float32)
    kernel(a, b, extent)
    np.testing.assert_array_equal(b, a * 2)
    b[:] = -1
    kernel(a, b)  # the size is read off the arrays
    np.testing.assert_array_equal(b, a * 2)


def test_a_scalar_in_a_shape_may_be_negative() -> None:
    n = Var("n")
    bb = Buffer("B", (n + 10,), DType.of("int64"))
    kernel = kernel_of(Program("f", (bb, n), Store(bb, (const(0),), n // 4 * 10 + n % 4)))
    for value in (-3, 5):
        b = np.zeros(value + 10, np.int64)
        kernel(b, value)
        assert b[0] == value // 4 * 10 + value % 4


def test_scalar_parameters_of_several_types() -> None:
    bb = buffer("B", 3, "float64")
    x, y, z = (Var(t, DType.of(t)) for t in ("float32", "int8", "uint32"))
    stores = [Store(bb, (const(n),), v.astype("float64")) for n, v in enumerate((x, y, z))]
    b = np.zeros(3)
    run_program(Program("f", (x, y, z, bb), Seq(tuple(stores))), 1.5, -3, 4_000_000_000, b)
    np.testing.assert_array_equal(b, [1.5, -3, 4_000_000_000])


@pytest.mark.parametrize("elements", [16, 15_000, 40_000])
def test_local_buffers_on_stack_and_heap(elements: int) -> None:
    ba, bb = buffer("A", elements), buffer("B", elements)
    bt, bu = buffer("T", elements, scope="local"), buffer("U", elements, scope="local")
    body = Alloc(
        bt,
        seq(
            [
                copy_loop(ba, bt, elements),
                Alloc(
                    bu,
                    seq([copy_loop(bt, bu, elements), copy_loop(bu, bb, elements)]),
                ),
            ]
        ),
    )
    program = Program("f", (ba, bb), body)
    text = emit_module(program, HOST)
    assert text.count("alloca [") == {16: 2, 15_000: 1, 40_000: 0}[elements]
    a, b = np.arange(elements, dtype=np.float32), np.zeros(elements, np.float32)
    run_program(program, a, b)
    np.testing.assert_array_equal(b, a + 3)


def test_local_buffer_of_unknown_size() -> None:
    n = Var("n")
    ba, bb = (Buffer(name, (n,), FLOAT32) for name in "AB")
    bt = Buffer("T", (n + 1,), FLOAT32, "local")
    r = Var("r")
    body = For(r, const(3), Alloc(bt, seq([copy_loop(ba, bt, n), copy_loop(bt, bb, n)])))
    a, b = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    run_program(Program("f", (ba, bb, n), body), a, b)
    np.testing.assert_array_equal(b, a + 2)


@pytest.mark.parametrize("where", ["whole", "known", "parallel"])
def test_memory_shortage_is_an_error(where: str) -> None:
    bb, n = buffer("B", 4), Var("n")
    huge = const(1 << 48) if where != "known" else n
    bt = Buffer("T", (huge,), FLOAT32, "local")
    p, k = Var("p"), Var("k")
    # Read back elsewhere: LLVM would remove a buffer whose loads it can see the stores of.
    back = Load(bt, (n - 1 - k,))
    touch = seq(
        [
            Store(bt, (k,), const(1.0)),
            Store(bb, (p if where == "parallel" else const(0),), back),
        ]
    )
    body: Stmt = Alloc(bt, For(k, n, touch))
    if where == "parallel":
        body = For(p, const(2), body, "parallel")
    kernel = kernel_of(Program("f", (bb, n), body))
    with num_threads(2), pytest.raises(RuntimeFailure, match="kernel f failed: a local buffer"):
        kernel(np.zeros(4, np.float32), 1 << 48)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("extent", [1, 2, 5, 100])
def test_parallel_loop_covers_its_range(extent: int, threads: int) -> None:
    ba, bb = buffer("A", extent * 8), buffer("B", extent * 8)
    s, i, j = Var("s", FLOAT32), Var("i"), Var("j")
    index = i * 8 + j
    update = Store(bb, (index,), Load(bb, (index,)) + Load(ba, (index,)) * s)
    body = For(i, const(extent), For(j, const(8), update), "parallel")
    kernel = kernel_of(Program("f", (ba, bb, s), body))
    a, b = np.random.default_rng(0).random((2, extent * 8), np.float32)
    want = b + a * np.float32(3)
    with num_threads(threads):
        kernel(a, b, 3)
    np.testing.assert_allclose(b, want, rtol=1e-6)


def test_parallel_loop_inside_serial_and_parallel_loops() -> None:
    bb = buffer("B", 4 * 4 * 4)
    i, j, k = Var("i"), Var("j"), Var("k")
    index = (i * 4 + j) * 4 + k
    innermost = For(k, const(4), Store(bb, (index,), Load(bb, (index,)) + 1.0), "parallel")
    for outer in ("serial", "parallel"):
        b = np.zeros(64, np.float32)
        body = For(i, const(4), For(j, const(4), innermost, "parallel"), outer)
        run_program(Program("f", (bb,), body), b)
        np.testing.assert_array_equal(b, 1)


def test_local_buffers_inside_parallel_bodies_are_private() -> None:
    bb = buffer("B", 64)
    bt = buffer("T", 30_000, scope="local")
    i, k = Var("i"), Var("k")
    fill = For(k, const(30_000), Store(bt, (k,), i.astype("float32")))
    j = Var("j")
    total = For(j, const(30_000), Store(bb, (i,), Load(bb, (i,)) + Load(bt, (j,))))
    body = For(i, const(64), Alloc(bt, seq([fill, total])), "parallel")
    b = np.zeros(64, np.float32)
    with num_threads(2):
        run_program(Program("f", (bb,), body), b)
    np.testing.assert_array_equal(b, np.arange(64) * 30_000)


def test_local_buffer_shared_by_a_parallel_body() -> None:
    ba, bb, bt = buffer("A", 64), buffer("B", 64), buffer("T", 64, scope="local")
    i = Var("i")
    second = For(i, const(64), Store(bb, (i,), Load(bt, (const(63) - i,))), "parallel")
    body = Alloc(bt, seq([copy_loop(ba, bt, 64), second]))
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run_program(Program("f", (ba, bb), body), a, b)
    np.testing.assert_array_equal(b, a[::-1] + 1)


def test_registers_become_values() -> None:
    ba, bb = buffer("A", 1024), buffer("B", 16)
    br = buffer("R", 16, scope="register")
    k = Var("k")
    zero = Broadcast(const(0.0), 16)
    update = Store(
        br,
        (Ramp(const(0), const(1), 16),),
        vector(br, const(0), 16) + vector(ba, k * 16, 16),
    )
    body = Alloc(
        br,
        seq(
            [
                Store(br, (Ramp(const(0), const(1), 16),), zero),
                For(k, const(64), update),
                Store(bb, (Ramp(const(0), const(1), 16),), vector(br, const(0), 16)),
            ]
        ),
    )
    program = Program("f", (ba, bb), body)
    from tvmlab.codegen.llvm import compile_module

    compiled = compile_module(emit_module(program, HOST), HOST)
    assert "alloca" not in compiled.llvm_text_optimized
    a, b = np.random.default_rng(0).random(1024, np.float32), np.zeros(16, np.float32)
    run_program(program, a, b)
    np.testing.assert_allclose(b, a.reshape(64, 16).sum(0), rtol=1e-5)


def test_masked_register_access_keeps_other_lanes() -> None:
    bb, br, bn = buffer("B", 8), buffer("R", 8, scope="register"), buffer("N", 1, "int64")
    lanes = Ramp(const(0), const(1), 8)
    mask = compare("lt", lanes, Broadcast(Load(bn, (const(0),)), 8))
    body = Alloc(
        br,
        seq(
            [
                Store(br, (lanes,), Broadcast(const(1.0), 8)),
                Store(br, (lanes,), Broadcast(const(2.0), 8), mask),
                Store(bb, (lanes,), Load(br, (lanes,), mask)),
            ]
        ),
    )
    b = np.full(8, 9, np.float32)
    run_program(Program("f", (bb, bn), body), b, np.array([3]))
    np.testing.assert_array_equal(b, [2, 2, 2, 0, 0, 0, 0, 0])


def test_names_that_llvm_would_not_like() -> None:
    bb = buffer("entry", 4)
    i, j = Var("i.outer"), Var("i.outer")
    store = Store(bb, (i * 2 + j,), const(1.0))
    b = np.zeros(4, np.float32)
    run_program(Program("my kernel!", (bb,), For(i, const(2), For(j, const(2), store))), b)
    np.testing.assert_array_equal(b, 1)


@pytest.mark.parametrize("name", ["sin", "sinf", "memset", "free"])
def test_names_that_the_c_library_has(name: str) -> None:
    bb, i = buffer("B", 600), Var("kernel")
    value = Call("sin", (i.astype("float64"),), DType.of("float64")).astype("float32")
    fill = For(i, const(600), Store(bb, (i,), value), "parallel")
    j = Var("j")
    clear = For(j, const(300), Store(bb, (j,), const(0.0)))
    b = np.ones(600, np.float32)
    run_program(Program(name, (bb,), seq([fill, clear])), b)
    want = np.sin(np.arange(600)).astype(np.float32)
    want[:300] = 0
    np.testing.assert_allclose(b, want, rtol=1e-6)


def test_empty_program() -> None:
    run_program(Program("f", (buffer("B", 1),), Seq(())), np.zeros(1, np.float32))


def test_evaluate_reads_for_its_effect() -> None:
    ba = buffer("A", 4)
    run_program(Program("f", (ba,), Evaluate(Load(ba, (const(3),)))), np.zeros(4, np.float32))


@pytest.mark.parametrize("kind", ["vectorized", "unrolled"])
def test_loops_that_were_not_lowered_are_refused(kind: str) -> None:
    bb, i = buffer("B", 4), Var("i")
    body = For(i, const(4), Store(bb, (i,), const(1.0)), kind)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InternalError, match=f"the {kind} loop i was not lowered"):
        emit_module(Program("f", (bb,), body), HOST)


def test_unplaced_buffers_and_blocks_are_refused() -> None:
    bb = buffer("B", 4)
    store = Store(bb, (const(0),), const(1.0))
    with pytest.raises(InternalError, match="intermediate buffers T of f were not placed"):
        emit_module(Program("f", (bb,), store, allocs=(buffer("T", 4),)), HOST)
    block = Block(BlockSymbol("b"), (), (), (), (), store)
    with pytest.raises(InternalError, match="Block statements must be lowered"):
        emit_module(Program("f", (bb,), block), HOST)
    with pytest.raises(InternalError, match="buffer T is used outside its allocation"):
        emit_module(Program("f", (bb,), Store(buffer("T", 4), (const(0),), const(1.0))), HOST)
    with pytest.raises(InternalError, match="variable x is used outside its loop"):
        emit_module(Program("f", (bb,), Store(bb, (Var("x"),), const(1.0))), HOST)


def test_threads_do_not_change_after_a_block() -> None:
    before = get_num_threads()
    with num_threads(before + 1):
        assert get_num_threads() == before + 1
    assert get_num_threads() == before


def test_a_loop_may_be_named_like_a_number() -> None:
    b, i = buffer("B", 5), Var("0")
    got = np.zeros(5, np.float32)
    run_program(Program("f", (b,), For(i, const(5), Store(b, (i,), const(2.0)))), got)
    np.testing.assert_array_equal(got, 2)
