"""The tensor-expression language: what it makes, and what it refuses with which words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tvmlab import te
from tvmlab.ir import Block, Buffer, Expr, Load, Select, const_int, walk
from tvmlab.support import ShapeError, TvmlabError, TypeMismatch
from tvmlab.te import Tensor


def blocks(outputs: Tensor) -> list[Block]:
    return [n for n in walk(te.create_program(outputs).body) if isinstance(n, Block)]


def matmul(n: int = 4) -> Tensor:
    a = te.placeholder((n, n), name="A")
    b = te.placeholder((n, n), name="B")
    k = te.reduce_axis(n, "k")
    return te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def test_matmul_program_has_one_reduction_block() -> None:
    program = te.create_program(matmul(), name="matmul")
    assert [p.name for p in program.params if isinstance(p, Buffer)] == ["A", "B", "C"]
    (block,) = [n for n in walk(program.body) if isinstance(n, Block)]
    assert [it.kind for it in block.iters] == ["spatial", "spatial", "reduce"]
    assert block.init is not None


def test_programs_hold_no_tensors() -> None:
    for node in walk(te.create_program(matmul()).body):
        if isinstance(node, Load):
            assert type(node.buffer) is Buffer


def test_axis_names_come_from_the_function() -> None:
    a = te.placeholder((4, 4), name="A")
    c = te.compute((4, 4), lambda row, col: a[col, row], name="C")
    assert isinstance(c.op, te.ComputeOp)
    assert [x.name for x in c.op.axis] == ["row", "col"]


def test_varargs_function() -> None:
    a = te.placeholder((2, 3, 4), name="A")

    def element(*i: Expr) -> Expr:
        return a[i] + 1.0

    c = te.compute((2, 3, 4), element, name="C")
    (block,) = blocks(c)
    assert len(block.iters) == 3


def test_zero_dimensional_tensor() -> None:
    a = te.placeholder((5,), name="A")
    k = te.reduce_axis(5, "k")
    s = te.compute((), lambda: te.sum(a[k], axis=k), name="S")
    assert s.shape == ()
    (block,) = blocks(s)
    assert [it.kind for it in block.iters] == ["reduce"]


def test_reduction_axis_with_a_start() -> None:
    a = te.placeholder((10,), name="A")
    k = te.reduce_axis((3, 7), "k")
    s = te.compute((1,), lambda i: te.sum(a[k + i], axis=k), name="S")
    (block,) = blocks(s)
    assert const_int(block.iters[1].extent) == 4


def test_intermediate_becomes_an_allocation() -> None:
    a = te.placeholder((4,), name="A")
    b = te.compute((4,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((4,), lambda i: b[i] + 1.0, name="C")
    program = te.create_program(c)
    assert [x.name for x in program.allocs] == ["B"]


def test_symbolic_size_is_a_scalar_parameter() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    c = te.compute((n,), lambda i: a[i] + 1.0, name="C")
    program = te.create_program(c)
    assert [p.name for p in program.params] == ["n", "A", "C"]


def test_padding_read_is_lazy() -> None:
    a = te.placeholder((4,), name="A")
    p = te.compute((6,), lambda i: te.if_then_else(te.all(i >= 1, i < 5), a[i - 1], 0.0), name="P")
    (block,) = blocks(p)
    assert any(isinstance(n, Select) for n in walk(block.body))


def test_equal_names_are_kept_apart() -> None:
    a = te.placeholder((4,), name="T")
    b = te.compute((4,), lambda i: a[i] * 2.0, name="T")
    program = te.create_program(b)
    assert [x.name for x in program.buffers] == ["T", "T_1"]


def _axis_without_a_sum() -> Tensor:
    a = te.placeholder((4, 4), name="A")
    k = te.reduce_axis(4, "k")
    return te.compute((4,), lambda i: a[i, k], name="C")


def untyped(value: object) -> Any:
    """A value as it comes from a caller whose types nobody checks."""
    return value


def test_numpy_numbers_are_numbers() -> None:
    a = te.placeholder((untyped(np.int64(3)),), name="A")
    c = te.compute(
        (3,), lambda i: a[i] * untyped(np.float32(2)) + a[untyped(np.int64(0))], name="C"
    )
    assert (a.const_shape, c.dtype.name) == ((3,), "float32")


def _read_outside() -> object:
    a = te.placeholder((3,), name="A")
    return te.create_program(te.compute((64,), lambda i: a[i] + 1.0, name="C"))


REFUSALS: list[tuple[str, Callable[[], object], type[TvmlabError], str]] = [
    ("size zero", lambda: te.placeholder((4, 0), name="A"), ShapeError,
     "A has size 0 in dimension 1; sizes must be positive"),
    ("float size", lambda: te.placeholder((4.0,), name="A"), TypeMismatch,
     "a size of A must be an integer, not 4.0"),
    ("type", lambda: te.placeholder((4,), "float31", name="A"), TypeMismatch,
     "'float31' is not an element type"),
    ("rank", lambda: te.placeholder((4, 4), name="A")[0], ShapeError,
     "A has 2 dimension(s) but is indexed with 1"),
    ("negative", lambda: te.placeholder((4,), name="A")[-1], ShapeError,
     "A is indexed with -1 in dimension 0, whose size is 4"),
    ("past the end", lambda: te.placeholder((4,), name="A")[4], ShapeError,
     "A is indexed with 4 in dimension 0, whose size is 4"),
    ("arguments", lambda: te.compute((4, 4), lambda i: 1.0, name="C"), ShapeError,
     "compute C has 2 dimension(s), but its function takes 1"),
    ("no formula", lambda: te.compute((4,), lambda i: untyped("x"), name="C"), TypeMismatch,
     "must return a formula, not str"),
    ("inner reduction", lambda: _inner_reduction(), TypeMismatch,
     "compute C has a reduction inside a larger formula"),
    ("spatial axis", lambda: te.compute((4,), lambda i: te.sum(1.0, axis=i), name="C"),
     TypeMismatch, "te.sum reduces over reduction axes, not over i"),
    ("empty axis", lambda: te.reduce_axis(0, "k"), ShapeError,
     "reduction axis k has no values"),
    ("truth value", lambda: bool(te.var("n") < 3), TypeMismatch, "has no truth value"),
    ("integer division", lambda: te.var("n") / 2, TypeMismatch, "`/` is not defined for int64"),
    ("mixed types", lambda: te.placeholder((4,), name="A")[0] + te.var("n"), TypeMismatch,
     "add of float32 and int64: the operands must have one type"),
    ("integer exp", lambda: te.exp(te.var("n")), TypeMismatch, "te.exp is not defined for int64"),
    ("input as output", lambda: te.create_program(te.placeholder((4,), name="A")), ShapeError,
     "A is an input, not a computed tensor"),
    ("read outside", lambda: _read_outside(), ShapeError,
     "compute C reads A outside its shape: at i=63 the index of dimension 0 is 63"),
    ("python equality", lambda: te.if_then_else(untyped(False), 0.0, 1.0), TypeMismatch,
     "write te.eq(a, b) or te.ne(a, b)"),
    ("axis without a sum", lambda: _axis_without_a_sum(), TypeMismatch,
     "compute C uses k, a reduction axis that nothing in it runs over"),
    ("tensor without an index", lambda: te.exp(untyped(matmul())), TypeMismatch,
     "cannot stand in a formula: it is of type Tensor"),
    ("axis is a number", lambda: te.sum(1.0, axis=untyped(1)), TypeMismatch,
     "te.sum reduces over reduction axes, not over 1"),
    ("sum of nothing", lambda: te.create_program([untyped(None)]), TypeMismatch,
     "NoneType is no tensor to compute"),
    ("no output", lambda: te.create_program([]), ShapeError, "there is nothing to compute"),
    ("missing argument", lambda: te.create_program(matmul(), args=[]), ShapeError,
     "the argument list misses A, B, C"),
]  # fmt: skip


def _inner_reduction() -> Tensor:
    a = te.placeholder((4,), name="A")
    k = te.reduce_axis(4, "k")
    return te.compute((4,), lambda i: te.sum(a[k], axis=k) + 1.0, name="C")


@pytest.mark.parametrize(
    ("make", "error", "text"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refusals(make: Callable[[], object], error: type[TvmlabError], text: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_arguments_that_nothing_reads() -> None:
    a, b = te.placeholder((4,), name="A"), te.placeholder((4,), name="A")
    c = te.compute((4,), lambda i: a[i] + 1.0, name="C")
    d = te.compute((4,), lambda i: a[i] + 2.0, name="D")
    head = str(te.create_program(c, args=[b, a, c])).splitlines()[0]
    assert head == "def c(A_1: float32[4], A: float32[4], C: float32[4]):"
    with pytest.raises(ShapeError, match="holds D, which the program does not compute"):
        te.create_program(c, args=[a, c, d])
