"""Gradients: against NumPy's formulas, against finite differences, and of the expected form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.random_tensors import random_tensors
from helpers.te_values import Array, fresh, values_of

from tvmlab import te
from tvmlab.driver import build
from tvmlab.ir import Block, Select, const_int, walk
from tvmlab.support import ShapeError, TvmlabError, TypeMismatch, UnsupportedOp
from tvmlab.te import Tensor

RNG = np.random.default_rng(5)


def blocks(outputs: Sequence[Tensor]) -> dict[str, Block]:
    program = te.create_program(list(outputs))
    return {n.name: n for n in walk(program.body) if isinstance(n, Block)}


def run(outputs: Sequence[Tensor], arrays: dict[str, Array]) -> list[Array]:
    """Values by the names of the inputs."""
    program = te.create_program(list(outputs))
    inputs = [p.name for p in program.params][: len(program.params) - len(set(outputs))]
    return values_of(list(outputs), [arrays[name] for name in inputs])


def placeholder(name: str, *shape: int) -> Tensor:
    return te.placeholder(shape, "float64", name=name)


def real(*shape: int) -> Array:
    return RNG.normal(size=shape)


def assert_finite_differences(
    output: Tensor, inputs: Sequence[Tensor], arrays: dict[str, Array], step: float = 1e-6
) -> None:
    """The Jacobians are what small changes of the inputs do to the output."""
    jacobians = te.gradient(output, inputs)
    found = run(jacobians, arrays)
    program = te.create_program(output)
    names = [p.name for p in program.params[:-1]]
    kernel = build(program)
    for tensor, jacobian in zip(inputs, found, strict=True):
        want = np.zeros_like(jacobian)
        for place in np.ndindex(arrays[tensor.name].shape):
            ends: list[Array] = []
            for sign in (1, -1):
                moved = {name: a.copy() for name, a in arrays.items()}
                moved[tensor.name][place] += sign * step
                ends += fresh([output])
                kernel(*(moved[name] for name in names), ends[-1])
            want[(..., *place)] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(jacobian, want, rtol=1e-4, atol=1e-5, err_msg=tensor.name)


def matmul() -> tuple[Tensor, Tensor, Tensor]:
    a, b = placeholder("A", 4, 5), placeholder("B", 5, 6)
    k = te.reduce_axis(5, "k")
    return a, b, te.compute((4, 6), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def test_the_gradient_of_a_matrix_product_is_one() -> None:
    a, b, c = matmul()
    head = placeholder("H", 4, 6)
    grads = te.gradient(c, [a, b], head)
    for block in blocks(grads).values():
        assert [it.kind for it in block.iters] == ["spatial", "spatial", "reduce"]
        assert not any(isinstance(n, Select) for n in walk(block))
    x = {"A": real(4, 5), "B": real(5, 6), "H": real(4, 6)}
    da, db = run(grads, x)
    np.testing.assert_allclose(da, x["H"] @ x["B"].T)
    np.testing.assert_allclose(db, x["A"].T @ x["H"])


def test_jacobians_of_a_matrix_product_have_no_sum() -> None:
    a, b, c = matmul()
    jacobians = te.gradient(c, [a, b])
    assert [t.const_shape for t in jacobians] == [(4, 6, 4, 5), (4, 6, 5, 6)]
    for block in blocks(jacobians).values():
        assert all(it.kind == "spatial" for it in block.iters)
    assert_finite_differences(c, [a, b], {"A": real(4, 5), "B": real(5, 6)})


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_padded_convolution(stride: int) -> None:
    x, w = placeholder("X", 2, 6, 5), placeholder("W", 2, 2, 3, 3)
    padded = te.compute(
        (2, 8, 7),
        lambda c, i, j: te.if_then_else(
            te.all(i >= 1, i < 7, j >= 1, j < 6), x[c, i - 1, j - 1], te.const(0, "float64")
        ),
        name="P",
    )
    rc, ry, rx = te.reduce_axis(2, "rc"), te.reduce_axis(3, "ry"), te.reduce_axis(3, "rx")
    y = te.compute(
        (2, 5 // stride + 1, 4 // stride + 1),
        lambda f, i, j: te.sum(
            padded[rc, i * stride + ry, j * stride + rx] * w[f, rc, ry, rx], axis=[rc, ry, rx]
        ),
        name="Y",
    )
    assert_finite_differences(y, [x, w], {"X": real(2, 6, 5), "W": real(2, 2, 3, 3)})
    head = te.placeholder(y.shape, "float64", name="H")
    found = blocks(te.gradient(y, [w], head))["W_grad"]
    assert [const_int(it.extent) for it in found.iters if it.kind == "reduce"] == [
        5 // stride + 1,
        4 // stride + 1,
    ]


Unary = Callable[[Any], Any]
UNARY: dict[str, tuple[Unary, Array]] = {
    "exp": (te.exp, real(4)), "exp2": (te.exp2, real(4)), "exp10": (te.exp10, real(4)),
    "expm1": (te.expm1, real(4)), "log": (te.log, real(4) ** 2 + 0.1),
    "log2": (te.log2, real(4) ** 2 + 0.1), "log10": (te.log10, real(4) ** 2 + 0.1),
    "log1p": (te.log1p, real(4) ** 2), "sqrt": (te.sqrt, real(4) ** 2 + 0.1),
    "rsqrt": (te.rsqrt, real(4) ** 2 + 0.1), "sin": (te.sin, real(4)), "cos": (te.cos, real(4)),
    "tan": (te.tan, real(4) / 4), "asin": (te.asin, np.linspace(-0.8, 0.7, 4)),
    "acos": (te.acos, np.linspace(-0.8, 0.7, 4)), "atan": (te.atan, real(4)),
    "sinh": (te.sinh, real(4)), "cosh": (te.cosh, real(4)), "tanh": (te.tanh, real(4)),
    "asinh": (te.asinh, real(4)), "acosh": (te.acosh, 1.5 + real(4) ** 2),
    "atanh": (te.atanh, np.linspace(-0.8, 0.7, 4)), "erf": (te.erf, real(4)),
    "abs": (te.abs, real(4)), "sigmoid": (te.sigmoid, real(4)), "floor": (te.floor, real(4)),
    "square": (lambda x: x**2, real(4)), "power": (lambda x: te.power(x, 2.5), real(4) ** 2 + 0.1),
    "exponent": (lambda x: te.power(te.const(2.5, "float64"), x), real(4)),
    "quotient": (lambda x: (x + 1.0) / (x * x + 2.0), real(4)),
    "minimum": (lambda x: te.minimum(x, 0.3), real(4)),
    "relu": (lambda x: te.maximum(x, 0.0), real(4)),
    "choice": (lambda x: te.if_then_else(x > 0, x * 3.0, x * x), real(4)),
    "hypot": (lambda x: te.hypot(x, x + 1.0), real(4)),
    "atan2": (lambda x: te.atan2(x, x * x + 1.0), real(4)),
    "fmod": (lambda x: te.fmod(x * 5.0, x * x + 1.0), np.linspace(0.2, 0.6, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_functions(name: str) -> None:
    function, x = UNARY[name]
    a = placeholder("A", 4)
    c = te.compute((4,), lambda i: function(a[i]), name="C")
    assert_finite_differences(c, [a], {"A": x})


Make = Callable[[Tensor], Tensor]


def _softmax(a: Tensor) -> Tensor:
    k, l = te.reduce_axis(5, "k"), te.reduce_axis(5, "l")
    top = te.compute((4,), lambda i: te.max(a[i, k], axis=k), name="top")
    e = te.compute((4, 5), lambda i, j: te.exp(a[i, j] - top[i]), name="E")
    total = te.compute((4,), lambda i: te.sum(e[i, l], axis=l), name="total")
    return te.compute((4, 5), lambda i, j: e[i, j] / total[i], name="softmax")


def _reduce(reducer: Callable[..., Any]) -> Make:
    def make(a: Tensor) -> Tensor:
        k = te.reduce_axis(5, "k")
        return te.compute((4,), lambda i: reducer(a[i, k] * a[i, k], axis=k), name="C")

    return make


def _argmax(a: Tensor) -> Tensor:
    k = te.reduce_axis(5, "k")
    _, top = te.compute((4,), lambda i: te.argmax((k, a[i, k] * 2.0), axis=k), name="top")
    return te.compute((4,), lambda i: top[i] * top[i], name="C")


def _two_outputs(a: Tensor) -> Tensor:
    x, y = te.compute((4, 5), lambda i, j: (a[i, j] * 2.0, te.exp(a[i, j])), name="T")
    return te.compute((4, 5), lambda i, j: x[i, j] * y[i, 4 - j], name="C")


def _sum_and_max(a: Tensor) -> Tensor:
    k = te.reduce_axis(5, "k")
    total, top = te.compute(
        (4,), lambda i: (te.sum(a[i, k], axis=k), te.max(a[i, k], axis=k)), name="T"
    )
    return te.compute((4,), lambda i: total[i] * top[i], name="C")


def _where(a: Tensor) -> Tensor:
    k = te.reduce_axis((1, 5), "k")
    return te.compute((4,), lambda i: te.sum(a[i, k] * a[i, 0], axis=k, where=k <= i), name="C")


def _started(a: Tensor) -> Tensor:
    k = te.reduce_axis(5, "k")
    return te.compute((4,), lambda i: te.sum(a[i, k], axis=k, init=a[i, 0] * a[i, 1]), name="C")


def _gather(a: Tensor) -> Tensor:
    rows = te.compute((6,), lambda i: (i * 7 % 4).astype("int32"), name="rows")
    return te.compute((6, 5), lambda i, j: a[rows[i], j] * a[0, j], name="C")


PROGRAMS: dict[str, Make] = {
    "softmax": _softmax,
    "sum of squares": _reduce(te.sum),
    "largest square": _reduce(te.max),
    "smallest square": _reduce(te.min),
    "product of squares": _reduce(te.prod),
    "argmax": _argmax,
    "two outputs": _two_outputs,
    "sum and maximum": _sum_and_max,
    "where": _where,
    "start": _started,
    "gather": _gather,
    "transposed": lambda a: te.compute((5, 4), lambda i, j: a[j, i] * a[j, 4 - i], name="C"),
    "flattened": lambda a: te.compute((20,), lambda i: a[i // 5, i % 5] * 2.0, name="C"),
    "split up": lambda a: te.compute((2, 2, 5), lambda i, j, k: a[i * 2 + j, k] ** 2, name="C"),
    "enlarged": lambda a: te.compute((8, 15), lambda i, j: a[i // 2, j // 3], name="C"),
    "repeated": lambda a: te.compute((8, 11), lambda i, j: a[i % 4, j % 5], name="C"),
    "strided": lambda a: te.compute((2, 3), lambda i, j: a[i * 2 + 1, 2 * j] ** 2, name="C"),
    "diagonal": lambda a: te.compute((4,), lambda i: a[i, i] * a[3 - i, i + 1], name="C"),
    "window": lambda a: te.compute((4, 3), lambda i, j: a[i, j] * a[i, j + 2], name="C"),
    "corner": lambda a: te.compute((3,), lambda i: a[2, 3] * te.cast(i, "float64"), name="C"),
    "reversed blocks": lambda a: te.compute((20,), lambda i: a[3 - i // 5, 4 - i % 5], name="C"),
    "min of indices": lambda a: te.compute((6,), lambda i: a[te.min(i, 3), 0], name="C"),
    "mixed precision": lambda a: te.compute(
        (4, 5), lambda i, j: a[i, j].astype("float32").astype("float64") * 2.0, name="C"
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    a = placeholder("A", 4, 5)
    step = 1e-3 if name == "mixed precision" else 1e-6
    assert_finite_differences(PROGRAMS[name](a), [a], {"A": real(4, 5)}, step)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs, output = random_tensors(rng, dtype="float64", smooth=True)
    arrays = {t.name: rng.normal(size=t.const_shape) for t in inputs}
    used = [t for t in inputs if t in te.topological_order([output])]
    assert_finite_differences(output, used, arrays)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 220))
def test_many_random_programs(seed: int) -> None:
    test_random_programs(seed)


def test_equal_largest_elements_share() -> None:
    a = placeholder("A", 4)
    k = te.reduce_axis(4, "k")
    top = te.compute((), lambda: te.max(a[k], axis=k), name="top")
    (found,) = run(te.gradient(top, [a]), {"A": np.array([1.0, 3.0, 3.0, 2.0])})
    np.testing.assert_allclose(found, [0, 0.5, 0.5, 0])


def test_a_product_with_a_zero() -> None:
    a = placeholder("A", 4)
    k = te.reduce_axis(4, "k")
    product = te.compute((), lambda: te.prod(a[k], axis=k), name="product")
    (found,) = run(te.gradient(product, [a]), {"A": np.array([2.0, 0.0, 3.0, 5.0])})
    np.testing.assert_allclose(found, [0, 30, 0, 0])


def test_several_ways_add_up() -> None:
    a = placeholder("A", 3)
    b = te.compute((3,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((3,), lambda i: a[i] * b[i] + b[2 - i], name="C")
    assert_finite_differences(c, [a], {"A": real(3)})


def test_by_an_intermediate_and_by_what_is_not_used() -> None:
    a, unused = placeholder("A", 3), placeholder("U", 2)
    b = te.compute((3,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((3,), lambda i: b[i] * b[i], name="C")
    head = placeholder("H", 3)
    x = {"A": real(3), "H": real(3)}
    by_b, by_u, value = run([*te.gradient(c, [b, unused], head), c], x)
    np.testing.assert_allclose(by_b, 4 * x["A"] * x["H"])
    np.testing.assert_allclose(by_u, np.zeros(2))
    np.testing.assert_allclose(value, 4 * x["A"] ** 2)
    (itself,) = run(te.gradient(c, c), x)
    np.testing.assert_allclose(itself, np.eye(3))


def test_sizes_known_only_at_the_call() -> None:
    m, n = te.var("m"), te.var("n")
    a, b = te.placeholder((m, n), name="A"), te.placeholder((n,), name="B")
    k = te.reduce_axis(n, "k")
    c = te.compute((m,), lambda i: te.sum(a[i, k] * b[k], axis=k), name="C")
    head = te.placeholder((m,), name="H")
    grads = te.gradient(c, [a, b], head)
    for rows, columns in ((1, 1), (3, 7), (5, 2)):
        x, y, h = (RNG.random(s, "f") for s in ((rows, columns), (columns,), (rows,)))
        program = te.create_program(grads)
        named = {"A": x, "B": y, "H": h}
        order = [named[p.name] for p in program.params if p.name in named]
        da, db = values_of(grads, order, [(rows, columns), (columns,)])
        np.testing.assert_allclose(da, np.outer(h, y), rtol=1e-5)
        np.testing.assert_allclose(db, x.T @ h, rtol=1e-5)


def _user_reduction() -> object:
    a = placeholder("A", 3)
    k = te.reduce_axis(3, "k")
    odd = te.comm_reducer(lambda x, y: x + y + x * y, lambda t: te.const(0, t), "odd")
    return te.gradient(te.compute((), lambda: odd(a[k], axis=k), name="C"), a)


def _scan() -> object:
    state, first = placeholder("S", 4), placeholder("F", 1)
    step = te.compute((4,), lambda t: state[t - 1] * 2.0, name="step")
    return te.gradient(te.scan(first, step, state), first)


def _unknown_function() -> object:
    a = placeholder("A", 3)
    c = te.compute((3,), lambda i: te.nextafter(a[i], 1.0), name="C")
    return te.gradient(c, a)


REFUSALS: list[tuple[str, Callable[[], object], type[TvmlabError], str]] = [
    ("user's reduction", _user_reduction, UnsupportedOp, "a reduction by odd"),
    ("scan", _scan, UnsupportedOp, "te.gradient does not go through scan"),
    ("function", _unknown_function, UnsupportedOp, "derivative of te.nextafter"),
    ("head", lambda: te.gradient(matmul()[2], [], placeholder("H", 4, 7)), ShapeError,
     "does not end in the shape of"),
    ("integers", lambda: te.gradient(te.placeholder((1,), "int32", name="I"), []), TypeMismatch,
     "I holds int32: there is no derivative"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "error", "text"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refusals(make: Callable[[], object], error: type[TvmlabError], text: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)
