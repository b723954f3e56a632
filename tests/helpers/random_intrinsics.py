"""Small intrinsics for random schedules to tensorize by: copies, sums and products of a few."""

from __future__ import annotations

from functools import cache

from tvmlab import te

DTYPES = ("float32", "int32")
LENGTHS = (2, 3, 4)
PREFIX = "random_"


@cache
def random_intrinsics() -> dict[str, list[str]]:
    """Their names by length, in an order that does not depend on what else is declared."""
    return {
        str(length): [make(dtype, length) for dtype in DTYPES for make in (_copy, _sum, _dot)]
        for length in LENGTHS
    }


def _copy(dtype: str, length: int) -> str:
    name = f"{PREFIX}copy_{dtype}_{length}"
    x = te.placeholder((length,), dtype, name="x")
    code = f"""
def copy(x: {dtype}[{length}], y: {dtype}[{length}]):
    for i in range({length}):
        y[i] = x[i]
"""
    te.tensor_intrin(name, te.compute((length,), lambda i: x[i], name="y"), code)
    return name


def _sum(dtype: str, length: int) -> str:
    name = f"{PREFIX}sum_{dtype}_{length}"
    x, k = te.placeholder((length,), dtype, name="x"), te.reduce_axis(length, "k")
    total = te.compute((1,), lambda _: te.sum(x[k], axis=k), name="z")
    _declare(name, total, f"x: {dtype}[{length}]", "x[k]", dtype, length)
    return name


def _dot(dtype: str, length: int) -> str:
    name = f"{PREFIX}dot_{dtype}_{length}"
    x, y = (te.placeholder((length,), dtype, name=n) for n in "xy")
    k = te.reduce_axis(length, "k")
    total = te.compute((1,), lambda _: te.sum(x[k] * y[k], axis=k), name="z")
    operands = f"x: {dtype}[{length}], y: {dtype}[{length}]"
    _declare(name, total, operands, "x[k] * y[k]", dtype, length)
    return name


def _declare(
    name: str, total: te.Tensor, operands: str, value: str, dtype: str, length: int
) -> None:
    zero = "0.0" if dtype.startswith("float") else "0"
    head = f"def f({operands}, z: {dtype}[1]):\n"
    start = f"    z[0] = {zero}\n"
    loop = f"    for k in range({length}):\n        z[0] = z[0] + {value}\n"
    te.tensor_intrin(name, total, head + start + loop, reset=head + start, update=head + loop)
