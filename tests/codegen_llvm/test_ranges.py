"""Ranges of index expressions, where loops share a variable."""

from __future__ import annotations

import numpy as np
from helpers.kernels import run_program

from tvmlab.codegen.llvm.ranges import Ranges
from tvmlab.ir import Buffer, For, Load, Program, Store, Var, const, seq
from tvmlab.support import DType


def test_a_variable_bound_again_has_its_new_range() -> None:
    ranges, i = Ranges(), Var("i")
    rest = const(2) - i
    ranges.bind_loop(i, const(2))
    assert ranges.of(rest) == (1, 2)
    ranges.bind_loop(i, const(3))
    assert ranges.of(rest) == (0, 2)


def test_copies_of_a_loop_run_as_often_as_each_says() -> None:
    c = Buffer("C", (const(4),), DType.of("int64"))
    outer, inner = Var("j"), Var("i")
    count = Store(c, (outer,), Load(c, (outer,)) + const(1))
    rest = For(inner, const(2) - outer, count)
    body = seq([For(outer, const(2), rest), For(outer, const(3), rest)])
    result = np.zeros(4, "int64")
    run_program(Program("f", (c,), body), result)
    np.testing.assert_array_equal(result, [4, 2, 0, 0])
