"""C functions of numbers in formulas: their values, vectors of them, their text, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret, with_code
from tvmlab.ir import Program, parse, structural_equal, to_text
from tvmlab.lower import lower
from tvmlab.schedule import Schedule
from tvmlab.support import ParseError, TypeMismatch, UserError
from tvmlab.target import Target

CODE = """
define float @twice_plus(float %x, i32 %n) {
  %n.f = sitofp i32 %n to float
  %t = fmul float %x, 2.0
  %r = fadd float %t, %n.f
  ret float %r
}
define signext i8 @low(i8 signext %x) {
  %r = sub i8 0, %x
  ret i8 %r
}
"""


def outside(vectors: bool) -> Schedule:
    a = te.placeholder((13,), name="A")
    b = te.compute(
        (13,),
        lambda i: te.call_pure_extern("float32", "twice_plus", a[i], i.astype("int32")) + 1.0,
        name="B",
    )
    s = Schedule(b)
    if vectors:
        (i,) = s.loops("B")
        s.vectorize(s.split(i, [None, 4])[1])
    return s


def interpreted(program: Program) -> Callable[..., None]:
    def run(*arrays: NDArray[Any]) -> None:
        interpret(program, list(arrays))

    return run


@pytest.mark.parametrize("vectors", [False, True])
def test_values_of_a_c_function(vectors: bool) -> None:
    program = with_code(outside(vectors).program, CODE)
    x = np.arange(13, dtype="float32") / 4
    for run in (
        interpreted(program),
        interpreted(lower(program, Target.host()).program),
        tl.build(program),
    ):
        out = np.zeros(13, "float32")
        run(x, out)
        np.testing.assert_array_equal(out, 2 * x + np.arange(13) + 1)


def test_small_integers_and_functions_of_the_process() -> None:
    a = te.placeholder((5,), "int8", name="A")
    b = te.compute((5,), lambda i: te.call_pure_extern("int8", "low", a[i]), name="B")
    program = with_code(te.create_program(b), CODE)
    c = te.placeholder((5,), "float64", name="C")
    d = te.compute((5,), lambda i: te.call_pure_extern("float64", "cbrt", c[i]), name="D")
    x, y = np.array([1, -128, 127, 0, -3], "int8"), np.array([8.0, -1.0, 0.0, 27.0, 64.0])
    for run in (interpreted(program), tl.build(program)):
        out = np.zeros(5, "int8")
        run(x, out)
        np.testing.assert_array_equal(out, -x)
    out = np.zeros(5)
    tl.build(te.create_program(d))(y, out)
    np.testing.assert_allclose(out, [2, -1, 0, 3, 4])


def test_the_text_of_a_call() -> None:
    program = outside(True).program
    assert 'symbol("twice_plus", A[' in to_text(program)
    assert structural_equal(parse(to_text(program)), program)
    lowered = lower(program, Target.host()).program
    assert structural_equal(parse(to_text(lowered)), lowered)


def test_what_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="takes 1 argument"):
        te.call_pure_extern("float32", "zero")
    with pytest.raises(UserError, match="calls the C function twice_plus, which is neither"):
        tl.build(outside(False).program)
    text = to_text(outside(False).program).replace(', dtype="float32")', ")")
    with pytest.raises(ParseError, match="a C function is written"):
        parse(text)
