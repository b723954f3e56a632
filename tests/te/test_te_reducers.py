"""Several outputs at once, reductions of several values, reducers of one's own and their laws."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from helpers.te_values import scheduled_values, values_of

from tvmlab import te
from tvmlab.arith import law_of
from tvmlab.ir import Block, Expr, walk
from tvmlab.schedule import Schedule
from tvmlab.support import DType, ShapeError, TvmlabError, TypeMismatch
from tvmlab.te import Axis, Reducer, Tensor

RNG = np.random.default_rng(1)


def first_of_equals() -> Reducer:
    """The arg-max of the old tutorials, which keeps the first of equal values."""
    return te.comm_reducer(
        lambda x, y: (
            te.if_then_else(x[1] >= y[1], x[0], y[0]),
            te.if_then_else(x[1] >= y[1], x[1], y[1]),
        ),
        lambda index, value: (te.const(-1, index), te.min_value(value)),
        name="first",
    )


def untyped(value: object) -> Any:
    """A value as it comes from a caller whose types nobody checks."""
    return value


def subtraction() -> Reducer:
    return te.comm_reducer(lambda x, y: x - y, lambda t: te.const(0, t), name="minus")


def test_two_formulas_make_two_tensors_of_one_operation() -> None:
    a = te.placeholder((4, 6), name="A")
    b = te.compute((4, 6), lambda i, j: (a[i, j] + 1.0, a[i, j] > 2.0), name="B")
    assert [(t.name, t.dtype.name, t.value_index) for t in b] == [
        ("B_v0", "float32", 0),
        ("B_v1", "bool", 1),
    ]
    op = b[0].op
    assert (op.num_outputs, op.output(1), op.input_tensors) == (2, b[1], (a,))
    x = RNG.integers(-3, 5, (4, 6)).astype("f")
    plus, large = values_of(b, [x])
    np.testing.assert_array_equal(plus, x + 1)
    np.testing.assert_array_equal(large, x > 2)


def test_a_tuple_output_is_read_by_others() -> None:
    a = te.placeholder((5,), name="A")
    b, c = te.compute((5,), lambda i: (a[i] + 1.0, a[i] * a[4 - i]), name="B")
    d = te.compute((5,), lambda i: b[i] * c[i], name="D")
    x = RNG.integers(-3, 5, 5).astype("f")
    (got,) = values_of(d, [x])
    np.testing.assert_array_equal(got, (x + 1) * x * x[::-1])


@pytest.mark.parametrize("dtype", ["float32", "int32", "int8", "float64"])
def test_argmax_and_argmin_are_those_of_numpy(dtype: str) -> None:
    a = te.placeholder((7, 9), dtype, name="A")
    k = te.reduce_axis(9, "k")
    top = te.compute((7,), lambda i: te.argmax((k, a[i, k]), axis=k), name="top")
    low = te.compute((7,), lambda i: te.argmin((k, a[i, k]), axis=k), name="low")
    x = RNG.integers(-2, 3, (7, 9)).astype(dtype)  # few values: many ties
    got = values_of([*top, *low], [x])
    for array, want in zip(got, [x.argmax(1), x.max(1), x.argmin(1), x.min(1)], strict=True):
        np.testing.assert_array_equal(array, want)


def test_the_old_argmax_keeps_the_first_of_equal_values() -> None:
    a = te.placeholder((6, 8), name="A")
    k = te.reduce_axis(8, "k")
    reducer = first_of_equals()
    top = te.compute((6,), lambda i: reducer((k, a[i, k]), axis=k), name="top")
    x = RNG.integers(0, 3, (6, 8)).astype("f")
    index, value = values_of(top, [x])
    np.testing.assert_array_equal(index, x.argmax(1))
    np.testing.assert_array_equal(value, x.max(1))


def test_different_reductions_over_one_axis_share_a_loop() -> None:
    a = te.placeholder((4, 6), name="A")
    k = te.reduce_axis(6, "k")
    both = te.compute(
        (4,), lambda i: (te.sum(a[i, k], axis=k), te.max(a[i, k], axis=k)), name="both"
    )
    (block,) = [n for n in walk(te.create_program(both).body) if isinstance(n, Block)]
    assert block.combiner is not None
    assert block.combiner.lawful
    x = RNG.integers(-3, 5, (4, 6)).astype("f")
    total, top = values_of(both, [x])
    np.testing.assert_array_equal(total, x.sum(1))
    np.testing.assert_array_equal(top, x.max(1))


def test_a_built_in_reducer_takes_several_values() -> None:
    a = te.placeholder((6,), name="A")
    k = te.reduce_axis(6, "k")
    sums = te.compute((), lambda: te.sum((a[k], a[k] * a[k]), axis=k), name="S")
    x = RNG.integers(-3, 5, 6).astype("f")
    total, squares = values_of(sums, [x])
    assert (total, squares) == (x.sum(), (x * x).sum())


@pytest.mark.parametrize("lawful", [True, False])
def test_where_leaves_points_out_of_a_users_reduction(lawful: bool) -> None:
    a = te.placeholder((5, 5), name="A")
    k = te.reduce_axis(5, "k")
    reducer = (
        te.comm_reducer(lambda x, y: x + y + x * y, lambda t: te.const(0, t), name="r")
        if lawful
        else subtraction()
    )
    c = te.compute((5,), lambda i: reducer(a[i, k], axis=k, where=k <= i), name="C")
    x = RNG.integers(0, 3, (5, 5)).astype("f")
    (got,) = values_of(c, [x])
    part = np.tril(x)
    want = (1 + part).prod(1) - 1 if lawful else -part.sum(1)
    np.testing.assert_array_equal(got, want)


def test_where_keeps_out_reads_that_would_leave_the_tensor() -> None:
    a = te.placeholder((4,), name="A")
    k = te.reduce_axis(4, "k")
    c = te.compute((4,), lambda i: te.sum(a[i + k], axis=k, where=i + k < 4), name="C")
    x = RNG.integers(0, 9, 4).astype("f")
    (got,) = values_of(c, [x])
    np.testing.assert_array_equal(got, [x[i:].sum() for i in range(4)])


def test_init_is_where_a_reduction_starts() -> None:
    a, b = te.placeholder((3, 4), name="A"), te.placeholder((3,), name="B")
    k = te.reduce_axis(4, "k")
    c = te.compute((3,), lambda i: te.sum(a[i, k], axis=k, init=b[i]), name="C")
    x, y = RNG.integers(0, 9, (3, 4)).astype("f"), RNG.integers(0, 9, 3).astype("f")
    (got,) = values_of(c, [x, y])
    np.testing.assert_array_equal(got, x.sum(1) + y)


def test_reducers_combine_single_values_too() -> None:
    a = te.placeholder((4,), name="A")
    c = te.compute((4,), lambda i: te.max(a[i], a[3 - i], 0.0), name="C")
    x = RNG.integers(-5, 5, 4).astype("f")
    (got,) = values_of(c, [x])
    np.testing.assert_array_equal(got, np.maximum(np.maximum(x, x[::-1]), 0))


def test_axis_condition_and_start_may_stand_in_order() -> None:
    a = te.placeholder((4,), name="A")
    k = te.reduce_axis(4, "k")
    c = te.compute((), lambda: te.sum(a[k], k, k > 0, 2.0), name="C")
    x = RNG.integers(-5, 5, 4).astype("f")
    (got,) = values_of(c, [x])
    assert got == x[1:].sum() + 2


Expressions = Callable[[Expr, Expr], Expr]
LAWS: list[tuple[str, Expressions, Callable[[Any], Any], str, str]] = [
    ("sum", lambda x, y: x + y, lambda t: te.const(0, t), "float32", ""),
    ("sum from 1", lambda x, y: x + y, lambda t: te.const(1, t), "float32", "neutral"),
    ("minus", lambda x, y: x - y, lambda t: te.const(0, t), "int32", "commutative"),
    ("average", lambda x, y: (x + y) * 0.5, lambda t: te.const(0, t), "float32", "associative"),
    ("x + y + xy", lambda x, y: x + y + x * y, lambda t: te.const(0, t), "int32", ""),
    ("wrapping product", lambda x, y: y * x, lambda t: te.const(1, t), "int8", ""),
    ("one odd number", lambda x, y: x + y + te.if_then_else(te.eq(x, 12345), 1, 0).astype("int32"),
     lambda t: te.const(0, t), "int32", "commutative"),
    ("saturating sum",
     lambda x, y: te.saturating_cast(x.astype("int32") + y.astype("int32"), "int8"),
     lambda t: te.const(0, t), "int8", "associative"),
    ("log of sum of exponentials",
     lambda x, y: te.max(x, y) + te.log(te.exp(x - te.max(x, y)) + te.exp(y - te.max(x, y))),
     lambda t: -te.infinity(t), "float32", ""),
    ("max of absolute values", lambda x, y: te.max(te.abs(x), te.abs(y)),
     lambda t: te.const(0, t), "float32", ""),
    ("keep the left", lambda x, y: x, lambda t: te.const(0, t), "int32", ""),
    ("exclusive or", lambda x, y: x ^ y, lambda t: te.const(0, t), "uint8", ""),
    ("or of bits", lambda x, y: x | y, lambda t: te.const(0, t), "int16", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("combine", "identity", "dtype", "broken"), [r[1:] for r in LAWS], ids=[r[0] for r in LAWS]
)
def test_laws(
    combine: Expressions, identity: Callable[[str], Any], dtype: str, broken: str
) -> None:
    combiner = te.comm_reducer(combine, identity).combiner([DType.of(dtype)])
    law = law_of(combiner)
    assert law.holds == combiner.lawful == (not broken), law
    assert broken in law.reason
    assert bool(law.counterexample) == bool(broken)


def test_online_softmax_is_lawful() -> None:
    """Maximum and sum of exponentials relative to it, joined as in one-pass softmax."""

    def join(x: tuple[Expr, Expr], y: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        top = te.max(x[0], y[0])
        return top, x[1] * te.exp(x[0] - top) + y[1] * te.exp(y[0] - top)

    softmax = te.comm_reducer(join, lambda a, b: (te.min_value(a), te.const(0, b)))
    assert softmax.combiner([DType.of("float32")] * 2).lawful


def test_a_tie_shows_that_the_order_of_an_argmax_matters() -> None:
    law = law_of(first_of_equals().combiner([DType.of("int64"), DType.of("float32")]))
    assert not law.holds
    assert law.reason == "it is not commutative"
    assert "gives" in law.counterexample
    asserted = te.comm_reducer(
        first_of_equals().combine, lambda a, b: (te.const(-1, a), te.min_value(b)),
        assume_lawful=True,
    )  # fmt: skip
    assert asserted.combiner([DType.of("int64"), DType.of("float32")]).lawful


def test_an_unlawful_reduction_runs_in_its_order() -> None:
    a = te.placeholder((3, 5), name="A")
    k = te.reduce_axis(5, "k")
    c = te.compute((3,), lambda i: subtraction()(a[i, k], axis=k), name="C")
    x = RNG.integers(0, 9, (3, 5)).astype("f")
    (got,) = values_of(c, [x])
    np.testing.assert_array_equal(got, -x.sum(1))
    schedule = Schedule(c)
    i, k_loop = schedule.loops("C")
    assert not schedule.check("reorder", k_loop, i) or scheduled_values(schedule, [c], [x])


def _shapes_of_results(result: Callable[[Tensor, Axis, Axis], Any]) -> Callable[[], object]:
    a = te.placeholder((4, 4), name="A")
    k = te.reduce_axis(4, "k")
    return lambda: te.compute((4,), lambda i: cast(Expr, result(a, i, k)), name="C")


def _partial_argmax() -> object:
    return _shapes_of_results(lambda a, i, k: te.argmax((k, a[i, k]), axis=k)[0])()


def _mixed() -> object:
    return _shapes_of_results(lambda a, i, k: (te.sum(a[i, k], axis=k), a[i, i]))()


REFUSALS: list[tuple[str, Callable[[], object], type[TvmlabError], str]] = [
    ("no formulas", _shapes_of_results(lambda a, i, k: ()), TypeMismatch, "has no formula"),
    ("part of an argmax", _partial_argmax, TypeMismatch,
     "returns 1 of the 2 values that te.argmax computes together"),
    ("a sum beside an element", _mixed, TypeMismatch,
     "are not reductions over the same axes and points"),
    ("one value for two states",
     _shapes_of_results(lambda a, i, k: first_of_equals()(a[i, k], axis=k)), TypeMismatch, ""),
    ("no pair",
     _shapes_of_results(lambda a, i, k: te.argmax(untyped(a[i, k]), axis=k)), TypeMismatch,
     "te.argmax reduces pairs of an index and a value"),
    ("no axis", _shapes_of_results(lambda a, i, k: te.sum(a[i, k])), TypeMismatch,
     "te.sum needs the axes that it runs over"),
    ("start over the axis",
     _shapes_of_results(lambda a, i, k: te.sum(a[i, k], axis=k, init=a[k, i])), TypeMismatch,
     "the start of the reduction of compute C uses k"),
    ("condition", _shapes_of_results(lambda a, i, k: te.sum(a[i, k], axis=k, where=a[i, k])),
     TypeMismatch, "`where` of te.sum must be a condition"),
    ("type of a result", _shapes_of_results(
        lambda a, i, k: te.comm_reducer(lambda x, y: x > y, lambda t: te.const(0, t), "g")(
            a[i, k], axis=k)), TypeMismatch,
     "the combining function of g gives a value of type bool for a state of type float32"),
    ("no such output", lambda: te.placeholder((1,), name="A").op.output(1), ShapeError,
     "A has 1 output(s), none number 1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "error", "text"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refusals(make: Callable[[], object], error: type[TvmlabError], text: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_tags_and_attributes() -> None:
    a = te.placeholder((4,), name="A")
    with te.tag_scope("injective"):
        b = te.compute((4,), lambda i: a[i] + 1.0, name="B", attrs={"layout": "N", "n": (1, 2)})
        own = te.compute((4,), lambda i: a[i], name="C", tag="mine")
    assert (b.op.tag, own.op.tag) == ("injective", "mine")
    assert (b.op.attrs["n"], "n" in own.op.attrs, len(b.op.attrs)) == ((1, 2), False, 2)
    assert json.loads(str(b.op.attrs)) == {"layout": "N", "n": [1, 2]}
    (block,) = [n for n in walk(te.create_program(b).body) if isinstance(n, Block)]
    assert dict(block.annotations) == {"layout": "N", "n": (1, 2)}

    @te.tag_scope("inside")
    def make() -> Tensor:
        return te.compute((4,), lambda i: a[i], name="D")

    assert make().op.tag == make().op.tag == "inside"
    with (
        te.tag_scope("outer"),
        pytest.raises(TypeMismatch, match="stands inside"),
        te.tag_scope("x"),
    ):
        pass
    with pytest.raises(TypeMismatch, match="the attribute x is of type object"):
        te.compute((4,), lambda i: a[i], attrs={"x": untyped(object())})
