"""What beginners write: it works where it can mean one thing, else it is refused in plain words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from helpers.te_values import values_of

from tvmlab import te
from tvmlab.ir import Expr
from tvmlab.support import TvmlabError


def untyped(value: object) -> Any:
    """A value as it comes from a caller whose types nobody checks."""
    return value


def element(make: Callable[[Any, Any], Any], dtype: str = "float32") -> te.Tensor:
    """A compute over a vector and its index."""
    a = te.placeholder((6,), dtype, name="A")
    return te.compute((6,), lambda i: cast(Expr, make(a, i)), name="C")


WORKS: list[tuple[str, str, Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = [
    ("square", "float32", lambda a, i: a[i] ** 2, lambda x, i: x**2),
    ("cube of ints", "int32", lambda a, i: a[i] ** 3, lambda x, i: x**3),
    ("fourth power", "float32", lambda a, i: a[i] ** 4, lambda x, i: x**4),
    ("root", "float64", lambda a, i: abs(a[i]) ** 0.5, lambda x, i: np.abs(x) ** 0.5),
    ("power of two", "float64", lambda a, i: 2.0 ** a[i], lambda x, i: 2.0**x),
    ("absolute", "int32", lambda a, i: abs(a[i]), lambda x, i: np.abs(x)),
    ("plus sign", "int32", lambda a, i: +a[i], lambda x, i: x),
    ("shifted one", "int32", lambda a, i: (1 << i).astype("int32") + a[i] * 0, lambda x, i: 1 << i),
    ("bits of a number", "int32", lambda a, i: 5 & a[i], lambda x, i: 5 & x),
    ("bits either", "int32", lambda a, i: 8 | a[i], lambda x, i: 8 | x),
    ("bits apart", "int32", lambda a, i: 3 ^ a[i], lambda x, i: 3 ^ x),
    ("shift down", "int32", lambda a, i: (100 >> i).astype("int32") + a[i] * 0,
     lambda x, i: 100 >> i),
    ("call instead of index", "float32", lambda a, i: a(i), lambda x, i: x),
    ("conditions joined", "int32",
     lambda a, i: te.if_then_else((a[i] > 0) & (i < 4) | (a[i] < -2), a[i], 0),
     lambda x, i: np.where((x > 0) & (i < 4) | (x < -2), x, 0)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "make", "want"), [r[1:] for r in WORKS], ids=[r[0] for r in WORKS]
)
def test_it_works(
    dtype: str, make: Callable[[Any, Any], Any], want: Callable[[Any, Any], Any]
) -> None:
    x = np.array([-3, 2, 0, 1, 3, -1], dtype)
    (got,) = values_of(element(make, dtype), [x])
    np.testing.assert_allclose(got, want(x, np.arange(6)), rtol=1e-6)


def _other_axis() -> object:
    k = te.reduce_axis(6, "k")
    a = te.placeholder((6,), name="A")
    te.compute((), lambda: te.sum(a[k], axis=k), name="first")
    return te.compute((6,), lambda i: a[k], name="second")


def _no_function() -> object:
    formula: te.Formula = untyped(3.0)
    return te.compute((6,), formula, name="C")


MISTAKES: list[tuple[str, Callable[[], object], str]] = [
    ("one-element range", lambda: te.reduce_axis(untyped((3,)), "k"),
     "the range of reduction axis k has 1 part(s)"),
    ("range of texts", lambda: te.reduce_axis(untyped("n"), "k"), "must be an integer or"),
    ("float index", lambda: element(lambda a, i: a[1.5]), "index 0 of A must be an integer"),
    ("float formula as index", lambda: element(lambda a, i: a[a[i]]),
     "index 0 of A must be an integer, not a value of type float32"),
    ("too many indices", lambda: element(lambda a, i: a[i, i]),
     "A has 1 dimension(s) but is indexed with 2"),
    ("slice", lambda: element(lambda a, i: a[0:3]), "index 0 of A must be an integer"),
    ("indexing an element", lambda: element(lambda a, i: a[i][0]), "has no parts to index"),
    ("tensor as an element", lambda: element(lambda a, i: a), "returns the tensor A, not"),
    ("tensor in arithmetic", lambda: element(lambda a, i: a[i] + a),
     "cannot stand in a formula: it is of type Tensor"),
    ("tensor times a number", lambda: element(lambda a, i: a * 2), "A is a whole tensor"),
    ("number times a tensor", lambda: element(lambda a, i: 2.0 * a), "A is a whole tensor"),
    ("minus a tensor", lambda: element(lambda a, i: -a), "A is a whole tensor"),
    ("tensor compared", lambda: element(lambda a, i: te.if_then_else(a > 0, 1.0, 0.0)),
     "A is a whole tensor"),
    ("tensor in a function", lambda: element(lambda a, i: te.exp(a)), "of type Tensor"),
    ("chained comparison", lambda: element(lambda a, i: te.if_then_else(0 <= i < 3, 1.0, 0.0)),
     "has no truth value"),
    ("python if", lambda: element(lambda a, i: 1.0 if a[i] > 0 else 0.0), "has no truth value"),
    ("python if on equality", lambda: element(lambda a, i: 1.0 if i == 0 else 0.0),
     "equals a number is not known"),
    ("number as condition", lambda: element(lambda a, i: te.if_then_else(a[i], 1.0, 0.0)),
     "te.if_then_else needs a condition, not a value of type float32"),
    ("int()", lambda: element(lambda a, i: int(a[i])), "Python's int needs a number"),
    ("float()", lambda: element(lambda a, i: float(i)), "Python's float needs a number"),
    ("round()", lambda: element(lambda a, i: round(a[i])), "Python's round needs a number"),
    ("range()", lambda: element(lambda a, i: sum(a[j] for j in range(i))), "Python's index needs"),
    ("bits of floats", lambda: element(lambda a, i: a[i] & 1), "works on the bits of integers"),
    ("sum of conditions", lambda: element(lambda a, i: (a[i] > 0) + (a[i] < 1)),
     "add works on numbers, not on a condition"),
    ("shift of a float", lambda: element(lambda a, i: te.shift_left(a[i], 1)),
     "te.shift_left is for integers, not for float32"),
    ("truncdiv of floats", lambda: element(lambda a, i: te.truncdiv(a[i], 2.0)),
     "te.truncdiv is for integers"),
    ("None", lambda: element(lambda a, i: None), "must return a formula, not NoneType"),
    ("array in a formula", lambda: element(lambda a, i: a[i] + np.ones(6)),
     "cannot stand in a formula: it is of type ndarray"),
    ("axis of another compute", _other_axis, "uses k, a reduction axis that nothing"),
    ("no function", _no_function, "compute C needs a function"),
    ("shape as a list of texts", lambda: te.placeholder((untyped("n"),), name="A"),
     "must be an integer"),
    ("tensor as a shape", lambda: te.placeholder(untyped(te.placeholder((1,), name="A")), name="B"),
     "a size of B must be an integer"),
    ("axis as a shape", lambda: te.compute(te.reduce_axis(3, "k"), lambda i: 1.0, name="C"),
     "a size of C is the reduction axis k"),
    ("power of different types", lambda: element(lambda a, i: i ** a[i]), "one type"),
    ("infinity of integers", lambda: te.infinity("int32"), "exists for types of floats"),
    ("float size", lambda: te.size_var("n", "float32"), "the size n must be an integer"),
    ("fractional bits", lambda: element(lambda a, i: te.popcount(a[i])), "te.popcount works on"),
    ("different types", lambda: element(lambda a, i: te.power(a[i], i)), "arguments of one type"),
    ("fixed point", lambda: element(lambda a, i: te.q_multiply_shift(i, i, 31, 0)), "int32"),
    ("to bool", lambda: element(lambda a, i: te.saturating_cast(a[i], "bool")), "not to bool"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "text"), [r[1:] for r in MISTAKES], ids=[r[0] for r in MISTAKES])
def test_mistakes_are_told_in_plain_words(make: Callable[[], object], text: str) -> None:
    with pytest.raises(TvmlabError) as caught:
        make()
    assert text in str(caught.value)
