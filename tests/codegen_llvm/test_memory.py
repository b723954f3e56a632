"""Vector accesses in all forms: contiguous, strided, gathered, masked, of every element type."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import pytest
from helpers.kernels import buffer, run_program, vector
from numpy.typing import NDArray

from tvmlab.ir import (
    Broadcast,
    Expr,
    For,
    Load,
    Program,
    Ramp,
    Select,
    Store,
    Var,
    binary,
    cast,
    compare,
    const,
    eq,
    logic,
)
from tvmlab.support import DType, InternalError
from tvmlab.target import Target

DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


def numbers(size: int, dtype: str) -> NDArray[Any]:
    return (np.arange(size) % 120 + 1).astype(DType.of(dtype).numpy)


def ramp(base: Expr | int, stride: Expr | int, lanes: int) -> Ramp:
    as_index = [const(e) if isinstance(e, int) else e for e in (base, stride)]
    return Ramp(as_index[0], as_index[1], lanes)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32"])
@pytest.mark.parametrize("stride", [-3, -1, 0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("lanes", [2, 16])
def test_strided_loads(dtype: str, stride: int, lanes: int) -> None:
    # The lanes span the array exactly: reading one element more would be a fault of the code.
    size = abs(stride) * (lanes - 1) + 1
    start = size - 1 if stride < 0 else 0
    a, b = numbers(size, dtype), np.zeros(lanes, DType.of(dtype).numpy)
    ba, bb = buffer("A", size, dtype), buffer("B", lanes, dtype)
    body = Store(bb, (ramp(0, 1, lanes),), Load(ba, (ramp(start, stride, lanes),)))
    run_program(Program("f", (ba, bb), body), at_page_end(a), b)
    np.testing.assert_array_equal(b, a[start + stride * np.arange(lanes)])


@pytest.mark.parametrize("target", ["cpu", "llvm -mcpu=x86-64-v3"])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("stride", [2, 3, 4])
@pytest.mark.parametrize("kept", [1, 5, 11, 15])
def test_strided_loads_of_some_lanes(dtype: str, stride: int, kept: int, target: str) -> None:
    # The lanes that are on span the array exactly, those that are off lie behind its end.
    if target != "cpu" and not Target.host().arch.startswith("x86_64"):
        pytest.skip("needs an x86-64 host")
    lanes, size = 16, stride * (kept - 1) + 1
    a, b = numbers(size, dtype), np.ones(lanes, DType.of(dtype).numpy)
    ba, bb = buffer("A", size, dtype), buffer("B", lanes, dtype)
    mask = compare("lt", ramp(0, 1, lanes), Broadcast(const(kept), lanes))
    body = Store(bb, (ramp(0, 1, lanes),), Load(ba, (ramp(0, stride, lanes),), mask))
    run_program(Program("f", (ba, bb), body), at_page_end(a), b, target=Target.of(target))
    want = np.zeros(lanes, b.dtype)
    want[:kept] = a[::stride]
    np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "float64"])
@pytest.mark.parametrize("stride", [-2, -1, 1, 3])
def test_strided_stores(dtype: str, stride: int) -> None:
    lanes = 8
    size = abs(stride) * (lanes - 1) + 1
    start = size - 1 if stride < 0 else 0
    a, b = numbers(lanes, dtype), np.zeros(size, DType.of(dtype).numpy)
    ba, bb = buffer("A", lanes, dtype), buffer("B", size, dtype)
    body = Store(bb, (ramp(start, stride, lanes),), Load(ba, (ramp(0, 1, lanes),)))
    run_program(Program("f", (ba, bb), body), a, b)
    want = np.zeros_like(b)
    want[start + stride * np.arange(lanes)] = a
    np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("target", ["cpu", "llvm -mcpu=x86-64-v3", "llvm -mcpu=x86-64-v2"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_and_scatter(dtype: str, target: str) -> None:
    if target != "cpu" and not Target.host().arch.startswith("x86_64"):
        pytest.skip("needs an x86-64 host")
    lanes = 16
    rng = np.random.default_rng(1)
    where, to = rng.integers(0, 50, lanes), rng.permutation(lanes)
    a, b = numbers(50, dtype), np.zeros(lanes, DType.of(dtype).numpy)
    ba, bb = buffer("A", 50, dtype), buffer("B", lanes, dtype)
    bi, bj = buffer("I", lanes, "int64"), buffer("J", lanes, "int64")
    body = Store(bb, (vector(bj, const(0), lanes),), Load(ba, (vector(bi, const(0), lanes),)))
    run_program(Program("f", (ba, bb, bi, bj), body), a, b, where, to, target=Target.of(target))
    want = np.zeros_like(b)
    want[to] = a[where]
    np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("target", ["cpu", "llvm -mcpu=x86-64-v3", "llvm -mcpu=x86-64-v2"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "float32", "int64"])
@pytest.mark.parametrize("size", [15, 33])
def test_masked_tail(size: int, dtype: str, target: str) -> None:
    if target != "cpu" and not Target.host().arch.startswith("x86_64"):
        pytest.skip("needs an x86-64 host")
    lanes = 16
    a, out = numbers(size, dtype), np.zeros(size + 5, DType.of(dtype).numpy)
    ba, bb = buffer("A", size, dtype), buffer("B", size + 5, dtype)
    i = Var("i")
    index = ramp(i * lanes, 1, lanes)
    mask = compare("lt", index, Broadcast(const(size), lanes))
    body = For(i, const(-(-size // lanes)), Store(bb, (index,), Load(ba, (index,), mask), mask))
    run_program(Program("f", (ba, bb), body), at_page_end(a), out, target=Target.of(target))
    np.testing.assert_array_equal(out, np.concatenate([a, np.zeros(5, a.dtype)]))


def test_masked_off_lanes_read_as_zero() -> None:
    ba, bb = buffer("A", 4), buffer("B", 8)
    index = ramp(0, 1, 8)
    mask = compare("lt", index, Broadcast(const(4), 8))
    a, b = numbers(4, "float32"), np.full(8, 9, np.float32)
    run_program(Program("f", (ba, bb), Store(bb, (index,), Load(ba, (index,), mask))), a, b)
    np.testing.assert_array_equal(b, [1, 2, 3, 4, 0, 0, 0, 0])


@pytest.mark.parametrize("stride", [-1, 2])
def test_masked_strided_access(stride: int) -> None:
    lanes = 8
    ba, bb = buffer("A", 16), buffer("B", 16)
    index = ramp(7 if stride < 0 else 0, stride, lanes)
    mask = compare("gt", Load(ba, (index,)), Broadcast(const(4.0), lanes))
    a, b = numbers(16, "float32"), np.zeros(16, np.float32)
    run_program(
        Program("f", (ba, bb), Store(bb, (index,), Load(ba, (index,), mask), mask)),
        a,
        b,
    )
    want = np.zeros(16, np.float32)
    chosen = (7 if stride < 0 else 0) + stride * np.arange(lanes)
    want[chosen] = np.where(a[chosen] > 4, a[chosen], 0)
    np.testing.assert_array_equal(b, want)


def test_masked_broadcast_reads_nothing_when_all_lanes_are_off() -> None:
    ba, bb, bn = buffer("A", 4), buffer("B", 8), buffer("N", 1, "int64")
    far = Broadcast(const(1 << 40), 8)
    mask = compare("lt", ramp(0, 1, 8), Broadcast(Load(bn, (const(0),)), 8))
    a, b = numbers(4, "float32"), np.full(8, 9, np.float32)
    run_program(
        Program("f", (ba, bb, bn), Store(bb, (ramp(0, 1, 8),), Load(ba, (far,), mask))),
        a, b, np.zeros(1, np.int64),
    )  # fmt: skip
    np.testing.assert_array_equal(b, np.zeros(8))


def test_masked_scalar_store_and_load() -> None:
    ba, bb = buffer("A", 6), buffer("B", 6)
    i = Var("i")
    small = compare("lt", Load(ba, (i,)), const(4.0))
    far = i + const(1 << 40) * cast(logic("and", small, eq(i, i)), "int64")
    value = Load(ba, (far,), compare("ge", Load(ba, (i,)), const(4.0)))
    a, b = numbers(6, "float32"), np.full(6, 9, np.float32)
    run_program(Program("f", (ba, bb), For(i, const(6), Store(bb, (i,), value, small))), a, b)
    np.testing.assert_array_equal(b, [0, 0, 0, 9, 9, 9])


@pytest.mark.parametrize("lanes", [1, 8])
def test_select_does_not_read_the_branch_not_taken(lanes: int) -> None:
    # out[i] = a[i - 3] if 3 <= i < 11 else 0, with the array between two unreadable pages
    ba, bb = buffer("A", 8), buffer("B", 16)
    i = Var("i")
    index: Expr = i if lanes == 1 else ramp(i * lanes, 1, lanes)
    three, eleven = (wide(n, lanes) for n in (3, 11))
    inside = logic("and", compare("ge", index, three), compare("lt", index, eleven))
    value = Select(inside, Load(ba, (index - three,)), wide(0.0, lanes))
    body = For(i, const(16 // lanes), Store(bb, (index,), value))
    for array in (at_page_start(numbers(8, "float32")), at_page_end(numbers(8, "float32"))):
        b = np.full(16, 9, np.float32)
        run_program(Program("f", (ba, bb), body), array, b)
        np.testing.assert_array_equal(b, np.pad(array, (3, 5)))


def test_nested_vector_select_guards_scalar_reads() -> None:
    ba, bb, bn = buffer("A", 4), buffer("B", 8), buffer("N", 1, "int64")
    lane = ramp(0, 1, 8)
    outer = compare("lt", lane, Broadcast(Load(bn, (const(0),)), 8))
    inner = compare("lt", lane, wide(4, 8))
    far = Broadcast(Load(ba, (const(1 << 40),)), 8)
    value = Select(outer, Select(inner, far, wide(1.0, 8)), wide(2.0, 8))
    a, b = numbers(4, "float32"), np.zeros(8, np.float32)
    body = Store(bb, (lane,), value)
    run_program(Program("f", (ba, bb, bn), body), a, b, np.zeros(1, np.int64))
    np.testing.assert_array_equal(b, np.full(8, 2))


def test_index_sums_of_ramps_are_contiguous() -> None:
    from tvmlab.codegen.llvm import emit_module

    ba, bb = buffer("A", 64), buffer("B", 64)
    i = Var("i")
    index = binary("add", ramp(i * 8, 1, 8), wide(2, 8)) - wide(2, 8)
    program = Program("f", (ba, bb), For(i, const(8), Store(bb, (index,), Load(ba, (index,)))))
    text = emit_module(program, Target.host())
    assert "gather" not in text
    assert "scatter" not in text
    a, b = numbers(64, "float32"), np.zeros(64, np.float32)
    run_program(program, a, b)
    np.testing.assert_array_equal(a, b)


def test_unsigned_and_narrow_indices() -> None:
    ba, bb = buffer("A", 200), buffer("B", 200)
    i = Var("i")
    index = cast(i, "uint8")
    body = For(i, const(200), Store(bb, (index,), Load(ba, (index,))))
    a, b = numbers(200, "float32"), np.zeros(200, np.float32)
    run_program(Program("f", (ba, bb), body), a, b)
    np.testing.assert_array_equal(a, b)


def test_buffers_must_be_flat() -> None:
    from dataclasses import replace

    ba = replace(buffer("A", 4), shape=(const(2), const(2)))
    body = Store(ba, (const(0), const(0)), const(1.0))
    with pytest.raises(InternalError, match="A has 2 dimensions: flatten it first"):
        run_program(Program("f", (ba,), body), np.zeros((2, 2), np.float32))


def wide(value: float, lanes: int) -> Expr:
    return const(value) if lanes == 1 else Broadcast(const(value), lanes)


_PAGES: list[mmap.mmap] = []


def _guarded_page() -> tuple[int, int]:
    """The first and last address of a readable page with unreadable ones on both sides."""
    size = mmap.PAGESIZE
    memory = mmap.mmap(-1, 3 * size)
    _PAGES.append(memory)  # the arrays made from it do not keep it alive
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(start, size, 0) == 0
    assert protect(start + 2 * size, size, 0) == 0
    return start + size, start + 2 * size


def _placed(array: NDArray[Any], address: int) -> NDArray[Any]:
    raw: Any = (ctypes.c_char * array.nbytes).from_address(address)
    result: NDArray[Any] = np.frombuffer(raw, np.uint8).view(array.dtype)
    result[:] = array
    return result


def at_page_end(array: NDArray[Any]) -> NDArray[Any]:
    """A copy whose last byte is the last one that may be read."""
    return _placed(array, _guarded_page()[1] - array.nbytes)


def at_page_start(array: NDArray[Any]) -> NDArray[Any]:
    """A copy whose first byte is the first one that may be read."""
    return _placed(array, _guarded_page()[0])
