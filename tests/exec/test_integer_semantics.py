"""What te's documentation says of integers, through schedules and compiled code."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab import te
from tvmlab.support import ShapeError

Array = NDArray[Any]
TYPES = ["int8", "uint8", "int32", "int64", "uint64"]


def edge_pairs(dtype: str) -> tuple[Array, Array]:
    info = np.iinfo(dtype)
    signed = [-1, -2, -7] if info.min < 0 else [info.max // 2, 5, 9]
    near = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, *signed]
    a, b = np.meshgrid(np.array(near, dtype), np.array(near, dtype))
    size = a.size // 16 * 16
    return a.ravel()[:size].copy(), b.ravel()[:size].copy()


def run(formula: Any, a: Array, b: Array, lanes: int) -> Array:
    dtype = a.dtype.name
    x, y = te.placeholder(a.shape, dtype, name="x"), te.placeholder(a.shape, dtype, name="y")
    sch = tl.Schedule(te.compute(a.shape, lambda i: formula(x[i], y[i]), name="z"))
    if lanes > 1:
        _, inner = sch.split(sch.loops("z")[0], [None, lanes])
        sch.vectorize(inner)
    out = np.zeros_like(a)
    tl.build(sch)(a, b, out)
    return out


def exact(op: str, a: int, b: int, bits: int) -> int:
    if op in ("shl", "shr"):
        inside = 0 <= b < bits
        if op == "shl":
            return a << b if inside else 0
        return a >> (b if inside else bits - 1) if a < 0 or inside else 0
    if b == 0 and op not in ("add", "sub", "mul"):
        return 0
    down = a // b if b else 0
    cut = down + 1 if down < 0 and down * b != a else down
    return {
        "add": a + b, "sub": a - b, "mul": a * b, "floordiv": down, "floormod": a - down * b,
        "truncdiv": cut, "truncmod": a - cut * b,
    }[op]  # fmt: skip


OPERATOR: Any = operator
FORMULAS: dict[str, Any] = {
    "add": OPERATOR.add, "sub": OPERATOR.sub, "mul": OPERATOR.mul,
    "floordiv": OPERATOR.floordiv, "floormod": OPERATOR.mod,
    "truncdiv": te.truncdiv, "truncmod": te.truncmod,
    "shl": OPERATOR.lshift, "shr": OPERATOR.rshift,
}  # fmt: skip


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("op", FORMULAS)
@pytest.mark.parametrize("dtype", TYPES)
def test_edges(dtype: str, op: str, lanes: int) -> None:
    a, b = edge_pairs(dtype)
    bits = 8 * a.dtype.itemsize
    got = run(FORMULAS[op], a, b, lanes)
    for x, y, z in zip(a.tolist(), b.tolist(), got.tolist(), strict=True):
        assert (z - exact(op, x, y, bits)) % (1 << bits) == 0, (op, x, y, z)


@pytest.mark.parametrize("together", [False, True])
def test_unsigned_differences_below_zero_wrap_wherever_they_are_computed(together: bool) -> None:
    a = te.placeholder((16,), "uint32", name="a")
    b = te.placeholder((16,), "uint32", name="b")
    c = te.compute((16,), lambda i: a[i] - b[i], name="c")
    d = te.compute((16,), lambda i: c[i] // te.const(3, "uint32"), name="d")
    sch = tl.Schedule(d)
    if together:
        sch.compute_at("c", sch.loops("d")[0])
    x, y, out = np.arange(16, dtype=np.uint32), np.full(16, 5, np.uint32), np.zeros(16, np.uint32)
    tl.build(sch)(x, y, out)
    np.testing.assert_array_equal(out, (x - y) // 3)


def test_sizes_beyond_32_bits() -> None:
    n = te.var("n")
    a = te.placeholder((n,), "uint8", name="A")
    text = tl.build(te.compute((n,), lambda i: a[i] + te.const(1, "uint8"))).ir_text
    assert "i32 %i" not in text
    big = te.placeholder((70000, 70000), name="B")
    low = te.compute((2, 2), lambda i, j: big[i + 69998, j + 69998], name="C")
    assert "4899929998" in tl.build(low).source("lowered")
    with pytest.raises(ShapeError, match="elements, more than any memory holds"):
        te.placeholder((2**31, 2**31), name="A")
