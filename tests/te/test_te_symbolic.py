"""Sizes known only at the call: one kernel for many sizes, with and without a schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from helpers.te_values import fresh, values_of

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.schedule import Schedule
from tvmlab.support import RuntimeFailure, ShapeError
from tvmlab.te import Tensor

RNG = np.random.default_rng(9)
Reference = Callable[[Any], Any] | Callable[[Any, Any], Any]
SIZES = (1, 2, 3, 7, 8, 13, 16, 31, 64, 97)
Case = tuple[Tensor, Callable[[int, int], list[Any]], Reference]


def whole(*shape: int) -> Any:
    return RNG.integers(-4, 5, shape).astype("f")


def _matvec() -> Case:
    m, n = te.var("m"), te.size_var("n")
    a, b = te.placeholder((m, n), name="A"), te.placeholder((n,), name="B")
    k = te.reduce_axis(n, "k")
    c = te.compute((m,), lambda i: te.sum(a[i, k] * b[k], axis=k), name="C")
    return c, lambda m, n: [whole(m, n), whole(n)], lambda x, y: x @ y


def _sums_of_sizes() -> Case:
    m, n = te.var("m"), te.var("n")
    a, b = te.placeholder((m,), name="A"), te.placeholder((n,), name="B")
    c = te.compute((m + n,), lambda i: te.if_then_else(i < m, a[i], b[i - m]), name="C")
    return c, lambda m, n: [whole(m), whole(n)], lambda x, y: np.concatenate([x, y])


def _product_of_sizes() -> Case:
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((m, n), name="A")
    c = te.compute((m * n,), lambda i: a[i // n, i % n] * 2.0, name="C")
    return c, lambda m, n: [whole(m, n)], lambda x: x.ravel() * 2


def _quotient_of_sizes() -> Case:
    m, n = te.var("m"), te.var("n")
    a, b = te.placeholder((m,), name="A"), te.placeholder((n,), name="B")
    c = te.compute(
        (te.ceildiv(m, 2), n),
        lambda i, j: a[i * 2] + te.if_then_else(i * 2 + 1 < m, a[i * 2 + 1], 0.0) * b[j],
        name="C",
    )

    def want(x: Any, y: Any) -> Any:
        second = np.append(x, np.float32(0))[1::2][: len(x[::2])]
        second = np.append(second, np.zeros(len(x[::2]) - len(second), "f"))
        return x[::2][:, None] + second[:, None] * y

    return c, lambda m, n: [whole(m), whole(n)], want


def _stencil() -> Case:
    m, n = te.var("m"), te.var("n")
    a, w = te.placeholder((m + 2,), name="A"), te.placeholder((n,), name="W")
    k = te.reduce_axis(3, "k")
    b = te.compute((m,), lambda i: te.sum(a[i + k], axis=k), name="B")
    c = te.compute((m, n), lambda i, j: b[i] * w[j], name="C")

    def want(x: Any, y: Any) -> Any:
        return np.outer(x[:-2] + x[1:-1] + x[2:], y)

    return c, lambda m, n: [whole(m + 2), whole(n)], want


CASES: dict[str, Callable[[], Case]] = {
    "matrix times vector": _matvec,
    "sum of sizes": _sums_of_sizes,
    "product of sizes": _product_of_sizes,
    "quotient of sizes": _quotient_of_sizes,
    "stencil": _stencil,
}
FIRST = (1, 2, 7, 16, 31)


def _shape(array: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in array.shape)


@pytest.mark.parametrize("name", CASES)
def test_one_kernel_for_many_sizes(name: str) -> None:
    output, inputs, reference = CASES[name]()
    kernel = tl.build(output)
    for m in SIZES:
        for n in FIRST:
            arrays = inputs(m, n)
            want = cast(Any, reference)(*arrays)
            (got,) = fresh([output], [_shape(want)])
            sizes = [m, n] if name in ("stencil", "product of sizes") else []
            kernel(*sizes, *arrays, got)
            np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [(1, 1), (2, 13), (13, 2), (5, 5)])
def test_the_interpreter_agrees(name: str, size: tuple[int, int]) -> None:
    output, inputs, reference = CASES[name]()
    arrays = inputs(*size)
    want = cast(Any, reference)(*arrays)
    (got,) = fresh([output], [_shape(want)])
    interpret(te.create_program(output), [*size, *arrays, got])
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_tails_of_a_vectorized_symbolic_loop() -> None:
    output, inputs, reference = _matvec()
    schedule = Schedule(output)
    i, k = schedule.loops("C")
    outer, inner = schedule.split(i, [None, 8])
    ko, ki = schedule.split(k, [None, 4])
    schedule.reorder(outer, ko, ki, inner)
    schedule.vectorize(inner)
    schedule.unroll(ki)
    schedule.parallel(outer)
    kernel = tl.build(schedule)
    for m in SIZES:
        for n in FIRST:
            arrays = inputs(m, n)
            (got,) = fresh([output], [(m,)])
            kernel(*arrays, got)
            np.testing.assert_allclose(got, cast(Any, reference)(*arrays), rtol=1e-5)


def test_stages_of_symbolic_size_can_be_moved_and_fused() -> None:
    output, inputs, reference = _stencil()
    schedule = Schedule(output)
    i, j = schedule.loops("C")
    outer, inner = schedule.split(i, [None, 4])
    schedule.compute_at("B", outer)
    schedule.fuse(inner, j)
    for size in ((1, 1), (4, 3), (11, 5)):
        arrays = inputs(*size)
        (got,) = fresh([output], [size])
        interpret(schedule.program, [*size, *arrays, got])
        np.testing.assert_allclose(got, cast(Any, reference)(*arrays), rtol=1e-5)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_sizes_of_zero(shape: tuple[int, int]) -> None:
    output, inputs, reference = _matvec()
    arrays = inputs(*shape)
    schedule = Schedule(output)
    i, _ = schedule.loops("C")
    _, inner = schedule.split(i, [None, 8])
    schedule.vectorize(inner)
    for source in (output, schedule):
        (got,) = fresh([output], [(shape[0],)])
        tl.build(source)(*arrays, got)
        np.testing.assert_array_equal(got, cast(Any, reference)(*arrays))


def test_sizes_are_checked_when_the_kernel_is_called() -> None:
    output, _, _ = _matvec()
    kernel = tl.build(output)
    with pytest.raises(ShapeError, match="argument B has shape"):
        kernel(whole(3, 4), whole(5), whole(3))
    with pytest.raises(ShapeError, match="argument C has shape"):
        kernel(whole(3, 4), whole(4), whole(2))


def test_a_size_that_no_array_tells_must_be_given() -> None:
    output, inputs, reference = _stencil()
    kernel = tl.build(output)
    arrays = inputs(5, 3)
    (got,) = fresh([output], [(5, 3)])
    kernel(5, 3, *arrays, got)
    np.testing.assert_allclose(got, cast(Any, reference)(*arrays), rtol=1e-5)
    with pytest.raises((RuntimeFailure, ShapeError)):
        kernel(6, 3, *arrays, got)


def test_argmax_over_a_symbolic_axis() -> None:
    n = te.var("n")
    a = te.placeholder((4, n), name="A")
    k = te.reduce_axis(n, "k")
    top = te.compute((4,), lambda i: te.argmax((k, a[i, k]), axis=k), name="top")
    for size in (1, 2, 17):
        x = RNG.integers(0, 5, (4, size)).astype("f")
        index, value = values_of(top, [x], [(4,), (4,)])
        np.testing.assert_array_equal(index, x.argmax(1))
        np.testing.assert_array_equal(value, x.max(1))


def test_32_bit_size_variables() -> None:
    n = te.var("n", "int32")
    a = te.placeholder((n,), name="A")
    c = te.compute((n,), lambda i: a[i] + n.astype("float32"), name="C")
    x = whole(5)
    kernel = tl.build(c)
    (got,) = fresh([c], [(5,)])
    kernel(x, got)
    np.testing.assert_array_equal(got, x + 5)
    (again,) = values_of(c, [x], [(5,)])
    np.testing.assert_array_equal(again, got)
