"""Tensors that outside code writes: Python functions, C functions, statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.te_values import Array, fresh, values_of

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import Block, For, Load, Seq, Store, Var, const, walk
from tvmlab.schedule import Schedule
from tvmlab.support import RuntimeFailure, ShapeError, TvmlabError, TypeMismatch
from tvmlab.te import Tensor

RNG = np.random.default_rng(7)


def untyped(value: object) -> Any:
    """A value as it comes from a caller whose types nobody checks."""
    return value


@tl.register_function("tests.te.sort", override=True)
def _sort(source: Any, result: Any) -> None:
    result[...] = np.sort(source)


def _product(x: Array, y: Array) -> Array:
    return x @ y


def _order_and_sum(x: Array) -> tuple[Array, Any]:
    return np.argsort(x), x.sum(dtype="float64")


def sorted_vector(n: int = 9) -> tuple[Tensor, Tensor]:
    a = te.placeholder((n,), name="A")
    b = te.extern(
        (n,), [a], lambda ins, outs: te.call_packed("tests.te.sort", ins[0], outs[0]), name="B"
    )
    return a, b


def test_a_registered_function_between_computes() -> None:
    a = te.placeholder((9,), name="A")
    doubled = te.compute((9,), lambda i: a[i] * 2.0, name="doubled")
    b = te.extern(
        (9,),
        [doubled],
        lambda ins, outs: te.call_packed("tests.te.sort", ins[0], outs[0]),
        name="B",
    )
    c = te.compute((9,), lambda i: b[i] + a[i], name="C")
    x = RNG.integers(-9, 9, 9).astype("f")
    (got,) = values_of(c, [x])
    np.testing.assert_array_equal(got, np.sort(x * 2) + x)


def test_the_block_reads_and_writes_whole_tensors() -> None:
    (block,) = [n for n in walk(te.create_program(sorted_vector()[1]).body) if isinstance(n, Block)]
    assert (block.name, block.iters) == ("B", ())
    assert [r.buffer.name for r in (*block.reads, *block.writes)] == ["A", "B"]


def test_a_function_over_arrays() -> None:
    a, b = te.placeholder((3, 4), name="A"), te.placeholder((4, 2), name="B")
    c = te.numpy_function((3, 2), [a, b], _product, name="C")
    d = te.compute((3, 2), lambda i, j: c[i, j] * 2.0, name="D")
    x, y = RNG.integers(-4, 5, (3, 4)).astype("f"), RNG.integers(-4, 5, (4, 2)).astype("f")
    (got,) = values_of(d, [x, y])
    np.testing.assert_array_equal(got, (x @ y) * 2)


def test_several_outputs_of_their_own_shapes_and_types() -> None:
    a = te.placeholder((5,), name="A")
    order, total = te.numpy_function(
        [(5,), ()],
        [a],
        _order_and_sum,
        name="both",
        dtype=["int64", "float64"],
    )
    assert (order.op, order.value_index, total.value_index) == (total.op, 0, 1)
    x = RNG.permutation(5).astype("f")
    got = values_of([order, total], [x])
    np.testing.assert_array_equal(got[0], np.argsort(x))
    assert got[1] == x.sum()


def test_a_c_function_of_the_process() -> None:
    """C's memcpy, called with pointers and a number of bytes."""
    a = te.placeholder((6,), name="A")
    b = te.extern(
        (6,),
        [a],
        lambda ins, outs: te.call_extern(
            "int32", "memcpy", outs[0].access_ptr("w"), ins[0].access_ptr("r"), const(24, "uint64")
        ),
        name="B",
    )
    x = RNG.random(6, "f")
    (got,) = values_of(b, [x])
    np.testing.assert_array_equal(got, x)


def test_a_statement_written_by_hand() -> None:
    a = te.placeholder((6,), name="A")

    def prefix(ins: Any, outs: Any) -> Any:
        i = Var("i")
        value = Load(outs[0], (i,)) + Load(ins[0], (i + 1,))
        first = Store(outs[0], (const(0),), Load(ins[0], (const(0),)))
        return Seq((first, For(i, const(5), Store(outs[0], (i + 1,), value))))

    b = te.extern((6,), [a], prefix, name="B")
    x = RNG.integers(-4, 5, 6).astype("f")
    (got,) = values_of(b, [x])
    np.testing.assert_array_equal(got, np.cumsum(x))


def test_a_builder_of_statements() -> None:
    a = te.placeholder((6,), name="A")

    def body(ins: Any, outs: Any) -> Any:
        ib = te.ir_builder.create()
        source, target = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 6, "i") as i:
            target[i] = source[5 - i] + 1.0
        return ib.get()

    b = te.extern((6,), [a], body, name="B")
    x = RNG.integers(-4, 5, 6).astype("f")
    (got,) = values_of(b, [x])
    np.testing.assert_array_equal(got, x[::-1] + 1)


def test_sizes_known_only_at_the_call() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.numpy_function((n,), [a], np.sort, name="B")
    for size in (1, 2, 11):
        x = RNG.random(size, "f")
        (got,) = values_of(b, [x], [(size,)])
        np.testing.assert_array_equal(got, np.sort(x))


def test_what_surrounds_a_call_can_be_scheduled() -> None:
    _, b = sorted_vector(16)
    c = te.compute((16,), lambda i: b[i] * 2.0, name="C")
    schedule = Schedule(c)
    (i,) = schedule.loops("C")
    _, inner = schedule.split(i, [None, 8])
    schedule.vectorize(inner)
    assert not schedule.check("compute_inline", "B")
    x = RNG.random(16, "f")
    (got,) = fresh([c])
    tl.build(schedule)(x, got)
    np.testing.assert_array_equal(got, np.sort(x) * 2)


def test_a_wrong_result_of_a_function_is_told() -> None:
    a = te.placeholder((4,), name="A")
    wrong: list[tuple[Callable[[Array], Any], str]] = [
        (lambda x: x[:2], "returned an array of shape (2,)"),
        (lambda x: (x, x), "returned 2 value(s) for 1 output(s)"),
    ]
    for function, text in wrong:
        program = te.create_program(te.numpy_function((4,), [a], function, name="B"))
        with pytest.raises(RuntimeFailure) as caught:
            interpret(program, [np.ones(4, "f"), np.ones(4, "f")])
        assert text in str(caught.value)


def _extern(body: Callable[[Any, Any], Any], **named: Any) -> Callable[[], object]:
    a = te.placeholder((4,), name="A")
    return lambda: te.extern((4,), named.pop("inputs", [a]), body, name="B", **named)


def _foreign() -> object:
    other = te.placeholder((4,), name="O")
    return _extern(lambda ins, outs: Store(outs[0], (const(0),), other[0]))()


REFUSALS: list[tuple[str, Callable[[], object], type[TvmlabError], str]] = [
    ("no statement", _extern(lambda ins, outs: None), TypeMismatch,
     "the function of extern B returned NoneType, which is no statement"),
    ("writes an input", _extern(lambda ins, outs: Store(ins[0], (const(0),), const(1.0))),
     TypeMismatch, "extern B writes A, which is an input"),
    ("writes nothing", _extern(lambda ins, outs: te.call_packed("f", ins[0])), TypeMismatch,
     "does not write output 0"),
    ("reads another tensor", _foreign, TypeMismatch, "reads the tensor O itself"),
    ("no tensor", _extern(lambda ins, outs: None, inputs=[untyped(3)]), TypeMismatch,
     "the inputs of extern B are tensors, not int"),
    ("no type", _extern(lambda ins, outs: None, inputs=[]), TypeMismatch,
     "the element type of extern B is not clear"),
    ("types", _extern(lambda ins, outs: None, dtype=["int8", "int8"]), TypeMismatch,
     "extern B has 1 output(s), but 2 type(s)"),
    ("buffers", _extern(lambda ins, outs: None, in_buffers=[untyped(1), untyped(2)]), ShapeError,
     "buffers for 2 and 1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "error", "text"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refusals(make: Callable[[], object], error: type[TvmlabError], text: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)
