"""What `repr` and `print` show: the text of a tree, not its fields."""

from __future__ import annotations

from typing import Any

import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.ir import (
    BlockSymbol,
    Buffer,
    Combiner,
    Evaluate,
    IterVar,
    Load,
    Operand,
    Procedure,
    Region,
    Var,
    const,
    describe,
    parse,
    to_text,
)
from tvmlab.support import DType

i = Var("i")
F32 = DType.of("float32")
A = Buffer("A", (const(8),), F32)
CELL = Load(A, (i,))
PART = Region(A, (i * 4,), (const(4),))

SHOWN: list[tuple[Any, str]] = [
    (i, "i"),
    (CELL + 1.0, "A[i] + 1.0"),
    (A, "<A: float32[8]>"),
    (Buffer("T", (), F32, "local"), "<T: float32[()] in local>"),
    (PART, "A[i * 4:i * 4 + 4]"),
    (Operand(PART, "read"), "read(A[i * 4:i * 4 + 4])"),
    (IterVar(i, const(4), "reduce"), "i=reduce(4)"),
    (BlockSymbol("C"), "<block C>"),
    (Combiner((i,), (Var("j"),), (i,), (const(0),)), "combine(lambda i, j: i, 0)"),
    (Evaluate(CELL), "A[i]"),
    (Procedure((A,), Evaluate(const(1.0))), "def meaning(A: float32[8]):\n    1.0"),
]


@pytest.mark.parametrize(("node", "text"), SHOWN, ids=[text for _, text in SHOWN])
def test_a_node_shows_its_text(node: Any, text: str) -> None:
    assert repr(node) == str(node) == text


def test_a_program_shows_its_text() -> None:
    program = parse("def f(A: float32[4]):\n    for i in range(4):\n        A[i] = 0.0")
    assert str(program) == repr(program) == to_text(program)
    assert repr(program.body) == "for i in range(4):\n    A[i] = 0.0"


def test_a_large_formula_is_described() -> None:
    large: Any = CELL
    for _ in range(40):
        large = large * large + large
    assert repr(large) == "<a float32 formula of 82 parts>"


def test_tensors_and_reductions() -> None:
    x = te.placeholder((4, 8), name="X")
    k = te.reduce_axis(8, "k")
    total = te.sum(x[i, k] * 2.0, axis=k)
    assert repr(total) == "sum(X[i, k] * 2.0, axis=[k])"
    y = te.compute((4,), lambda i: te.sum(x[i, k] * 2.0, axis=k), name="Y")
    assert repr(y) == "<Tensor Y: float32[4]>"
    assert repr(y.op) == "<ComputeOp Y>"
    assert repr(tl.Schedule(y).program).startswith("def y(X: float32[4, 8], Y: float32[4]):")


def test_anything_else_is_shown_as_python_does() -> None:
    thing = object()
    assert describe(thing) == repr(thing)
