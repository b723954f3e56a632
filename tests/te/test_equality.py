"""`==` and `!=` of formulas: conditions of the program, and still the identity of its objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.support import TypeMismatch


def values(formula: Callable[[Any, Any], Any], dtype: str = "float32") -> list[Any]:
    a = te.placeholder((6,), "int32", name="A")
    b = te.compute((6,), lambda i: formula(a, i), name="B")
    out = np.empty(6, dtype)
    tl.build(tl.Schedule(b, args=[a, b]))(np.array([0, 1, 2, 2, 1, 0], "int32"), out)
    return out.tolist()


def test_equalities_are_conditions() -> None:
    assert values(lambda a, i: te.if_then_else(i % 2 == 0, 1.0, 0.0)) == [1, 0, 1, 0, 1, 0]
    assert values(lambda a, i: te.if_then_else(a[i] != a[5 - i], 1.0, 0.0)) == [0] * 6
    assert values(lambda a, i: te.if_then_else(a[i] == 2, 1.0, 0.0)) == [0, 0, 1, 1, 0, 0]
    assert values(lambda a, i: a[i] == 1, "bool") == [False, True, False, False, True, False]


def test_equalities_join_with_other_conditions() -> None:
    both = [0, 1, 0, 0, 0, 0]
    assert values(lambda a, i: te.if_then_else(te.all(i == 1, a[i] == 1), 1.0, 0.0)) == both
    assert values(lambda a, i: te.if_then_else((i == 1) & (a[i] == 1), 1.0, 0.0)) == both
    assert values(lambda a, i: te.if_then_else((i < 2) & (a[i] == 1), 1.0, 0.0)) == both
    assert values(lambda a, i: te.if_then_else(~((i != 1) | (a[i] != 1)), 1.0, 0.0)) == both
    assert values(lambda a, i: (i == 1).astype("float32")) == both
    assert values(lambda a, i: te.if_then_else(te.logical_not(i != 1), 1.0, 0.0)) == both


def test_equalities_where_a_reduction_counts() -> None:
    a = te.placeholder((6,), name="A")
    k = te.reduce_axis(6, "k")
    b = te.compute((1,), lambda _: te.sum(a[k], axis=k, where=k % 3 == 0), name="B")
    out = np.empty(1, "float32")
    tl.build(tl.Schedule(b))(np.arange(6, dtype="float32"), out)
    assert out[0] == 3


def test_objects_are_still_told_apart() -> None:
    i, j = te.var("i"), te.var("j")
    assert i in (j, i)
    assert i not in (j,)
    assert {i: 1}.get(j) is None
    assert [bool(v == i) for v in (i, j)] == [True, False]
    assert [bool(v != i) for v in (i, j)] == [False, True]
    assert str(i == j) == "i == j"


def test_whether_a_number_is_met_is_not_known_yet() -> None:
    with pytest.raises(TypeMismatch, match="equals a number is not known") as failed:
        bool(te.var("i") == 0)
    assert "te.if_then_else(i == 0, a, b)" in (failed.value.hint or "")


def test_literals_are_known() -> None:
    a = te.placeholder((16, te.var("n")), name="A")
    assert a.shape[0] == 16
    assert a.shape[0] != 4
    with pytest.raises(TypeMismatch, match="is not known"):
        bool(a.shape[1] == 16)


def test_literals_are_numbers_for_python_too() -> None:
    a = te.placeholder((16, 8), name="A")
    b = te.placeholder((8, te.var("n")), name="B")
    assert a.shape[1] == b.shape[0]
    assert a.shape[0] != b.shape[0]
    assert int(a.shape[0]) == 16
    assert list(range(b.shape[0])) == list(range(8))
    assert max(b.shape[0], 3) == 8
    assert 1.0 if a.shape[0] > 3 else False
    assert float(te.const(2.5, "float32")) == 2.5
    assert f"{a.shape[0]:3d}|{a.shape[0]}" == " 16|16"
    with pytest.raises(TypeMismatch, match="Python's int needs a number"):
        int(b.shape[1])
    with pytest.raises(TypeMismatch, match="a whole number is needed here"):
        range(te.const(2.5, "float32"))


def test_types_are_checked_as_in_other_comparisons() -> None:
    a = te.placeholder((6,), name="A")
    with pytest.raises(TypeMismatch, match="operands must have one type"):
        te.compute((6,), lambda i: te.if_then_else(a[i] == i, 1.0, 0.0))
