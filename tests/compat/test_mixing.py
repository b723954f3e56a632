"""Numbers, indices and tensors of different types, converted as old programs expect."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmlab.compat.tvm as tvm
from tvmlab import te as own_te
from tvmlab import topi as own_topi
from tvmlab.compat.tvm import te, tir, topi
from tvmlab.support import TypeMismatch

RNG = np.random.default_rng(1)
INPUTS = {
    "int8": RNG.integers(-128, 128, 9).astype("int8"),
    "uint8": RNG.integers(0, 256, 9).astype("uint8"),
    "int32": RNG.integers(-99, 99, 9).astype("int32"),
    "uint32": RNG.integers(0, 99, 9).astype("uint32"),
    "float32": RNG.random(9).astype("float32"),
}


def result(dtype: str, formula: Any) -> Any:
    """What the old te makes of a formula of a tensor's element and its index."""
    a = te.placeholder((9,), dtype, "A")
    return computed(a, te.compute((9,), lambda i: formula(a[i], i), name="B"))


def computed(a: Any, b: Any) -> Any:
    out = tvm.nd.array(np.zeros(tuple(int(size) for size in b.shape), b.dtype.name))
    tvm.build(te.create_schedule(b.op), [a, b])(tvm.nd.array(INPUTS[a.dtype.name]), out)
    return out.numpy()


I32 = np.int32
CASES: list[tuple[str, Any, Any]] = [
    ("int8", lambda x, i: x * 2, lambda x, i: x.astype(I32) * 2),
    ("int8", lambda x, i: 200 - x, lambda x, i: 200 - x.astype(I32)),
    ("uint8", lambda x, i: x + 300, lambda x, i: x.astype(I32) + 300),
    ("uint8", lambda x, i: x - 1, lambda x, i: x.astype(I32) - 1),
    ("int8", lambda x, i: tir.Select(x < 200, 1, 0), lambda x, i: np.ones(9, I32)),
    ("int32", lambda x, i: te.if_then_else(x > 0, 1, 0), lambda x, i: (x > 0).astype(I32)),
    (
        "int32",
        lambda x, i: te.if_then_else(x > 0, i, 0) + 1,
        lambda x, i: np.where(x > 0, i, 0) + 1,
    ),
    (
        "uint8",
        lambda x, i: te.if_then_else(i > 3, x, 300),
        lambda x, i: np.where(i > 3, x, I32(300)),
    ),
    ("uint32", lambda x, i: x * tir.const(3), lambda x, i: x * np.uint32(3)),
    ("uint32", lambda x, i: x * 3, lambda x, i: x * np.uint32(3)),
    ("int32", lambda x, i: x * 0.5, lambda x, i: (x * 0.5).astype("float32")),
    ("float32", lambda x, i: x * 2 + i, lambda x, i: x * 2 + i.astype("float32")),
    ("float32", lambda x, i: 1, lambda x, i: np.ones(9, I32)),
    ("float32", lambda x, i: i * 2 + 1, lambda x, i: i * 2 + 1),
    ("int32", lambda x, i: tir.const(3) * 2 + x, lambda x, i: x + 6),
]


@pytest.mark.parametrize(("dtype", "formula", "wanted"), CASES)
def test_values_and_types(dtype: str, formula: Any, wanted: Any) -> None:
    got = result(dtype, formula)
    want = wanted(INPUTS[dtype], np.arange(9, dtype="int32"))
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_number_too_large_for_its_type_is_refused_where_it_is_written() -> None:
    with pytest.raises(TypeMismatch, match="1099511627776 does not fit in int32") as refusal:
        result("int32", lambda x, i: x + 2**40)
    assert "tvm.tir.const" in (refusal.value.hint or "")
    with pytest.raises(TypeMismatch, match="does not fit in int32"):
        result("int8", lambda x, i: x < 2**40)


def test_reductions_of_indices() -> None:
    a = te.placeholder((9,), name="A")
    k = te.reduce_axis((0, 5), "k")
    indices = [
        (te.compute((3,), lambda i: te.sum(k, axis=k)), [10] * 3),
        (te.compute((3,), lambda i: te.sum(1, axis=k)), [5] * 3),
        (te.compute((3,), lambda i: te.max(k * 2 - i, axis=[k])), [8, 7, 6]),
        (te.compute((3,), lambda i: tir.min(k + i, k)), [0, 1, 2]),
        (te.compute((3,), lambda i: te.max(i, 1)), [1, 1, 2]),
    ]
    for b, want in indices:
        assert b.dtype == "int32"
        assert computed(a, te.compute((3,), lambda i, b=b: b[i])).tolist() == want


def test_ranges_by_their_ends() -> None:
    a = te.placeholder((9,), name="A")
    n = te.var("n")
    for given, low, extent in (
        (tvm.ir.Range(2, 5), 2, 3),
        (tvm.ir.Range(5), 0, 5),
        (tvm.ir.Range.from_min_extent(2, 5), 2, 5),
        (tvm.ir.Range(n + 2, n + 5), None, 3),
        (te.Range(begin=1, end=4), 1, 3),
    ):
        assert isinstance(given, tvm.ir.Range)
        assert low is None or given.min == low
        assert given.extent == extent
    k = te.reduce_axis(tvm.ir.Range(2, 5), "k")
    b = te.compute((1,), lambda i: te.sum(a[k], axis=k))
    np.testing.assert_allclose(computed(a, b), [INPUTS["float32"][2:5].sum()], rtol=1e-6)
    assert te.thread_axis(tvm.ir.Range(0, 32), "threadIdx.x").extent == 32


def test_a_fraction_and_a_tensor_of_whole_numbers() -> None:
    a = te.placeholder((9,), "int32", "A")
    x = INPUTS["int32"]
    np.testing.assert_allclose(computed(a, topi.multiply(a, 0.5)), x * 0.5)
    np.testing.assert_allclose(computed(a, topi.divide(a, 0.5)), x / 0.5)
    np.testing.assert_allclose(computed(a, topi.floor_divide(a, 0.5)), x // 0.5)
    np.testing.assert_array_equal(computed(a, topi.less(a, 0.5)), x < 0.5)
    np.testing.assert_array_equal(computed(a, topi.maximum(a, 3)), np.maximum(x, 3))
    np.testing.assert_array_equal(computed(a, a * 2 - 1), x * 2 - 1)
    narrow = te.placeholder((9,), "int8", "N")
    np.testing.assert_array_equal(computed(narrow, narrow * 2), INPUTS["int8"].astype("int32") * 2)
    np.testing.assert_allclose(computed(a, 0.5 - a), 0.5 - x)
    f = te.placeholder((9,), name="F")
    np.testing.assert_allclose(computed(f, topi.power(f, 2)), INPUTS["float32"] ** 2, rtol=1e-6)


def test_without_conversions_a_fraction_is_refused() -> None:
    a = own_te.placeholder((9,), "int32", name="A")
    with pytest.raises(TypeMismatch, match="it would lose its fraction") as refusal:
        own_topi.multiply(a, 0.5)
    assert 'topi.cast(A, "float32")' in (refusal.value.hint or "")
    assert own_topi.multiply(a, 2.0).dtype == "int32"
