"""`and` and `or` decide from the left, so that the right side may stand on what the left says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import parse
from tvmlab.schedule import Schedule

SIZE = 21


def plain(s: Schedule) -> None:
    del s


def threads(s: Schedule) -> None:
    s.parallel(s.loops("B")[0])


def vectors(s: Schedule) -> None:
    s.vectorize(s.split(s.loops("B")[0], [None, 8])[1])


def written_out(s: Schedule) -> None:
    s.unroll(s.split(s.loops("B")[0], [None, 4])[1])


def of_neighbor(i: te.Var, a: te.Tensor) -> te.Expr:
    return te.all(i >= 2, a[i - 2] > 0.5)


def of_neighbor_or_none(i: te.Var, a: te.Tensor) -> te.Expr:
    return te.any(i < 2, a[i - 2] > 0.5)


def of_three(i: te.Var, a: te.Tensor) -> te.Expr:
    return te.all(i >= 1, i < SIZE - 1, a[i - 1] < a[i + 1])


def expected(name: str, a: np.ndarray) -> np.ndarray:
    before = np.concatenate([[0, 0], a[:-2]]) > 0.5
    inside = np.arange(SIZE) >= 2
    if name == "of_neighbor":
        return before & inside
    if name == "of_neighbor_or_none":
        return before | ~inside
    result = np.zeros(SIZE, bool)
    result[1:-1] = a[:-2] < a[2:]
    return result


@pytest.mark.parametrize("steps", [plain, threads, vectors, written_out])
@pytest.mark.parametrize("condition", [of_neighbor, of_neighbor_or_none, of_three])
def test_the_right_side_reads_only_where_the_left_allows(
    condition: Callable[[te.Var, te.Tensor], te.Expr], steps: Callable[[Schedule], None]
) -> None:
    a = te.placeholder((SIZE,), name="A")
    b = te.compute((SIZE,), lambda i: te.if_then_else(condition(i, a), 1.0, 0.0), name="B")
    schedule = Schedule(b)
    steps(schedule)
    data = np.random.default_rng(7).random(SIZE, "f4")
    compiled, read = np.empty(SIZE, "f4"), np.empty(SIZE, "f4")
    tl.build(schedule)(data, compiled)
    interpret(schedule.program, [data, read])
    want = expected(condition.__name__, data).astype("f4")
    assert compiled.tolist() == read.tolist() == want.tolist()


@pytest.mark.parametrize("found", [-1, -(10**12), 3])
def test_what_the_left_side_tells_may_simplify_the_right_one(found: int) -> None:
    program = parse("""\
def f(A: float32[8], F: int64[1], B: float32[8]):
    for j in range(8):
        if F[0] < 0 or A[j] > A[max(F[0], 0)]:
            B[j] = 1.0
""")
    data = np.random.default_rng(1).random(8, "f4")
    place = np.array([found])
    compiled, read = np.zeros(8, "f4"), np.zeros(8, "f4")
    tl.build(program)(data, place, compiled)
    interpret(program, [data, place, read])
    want = np.ones(8) if found < 0 else data > data[found]
    assert compiled.tolist() == read.tolist() == want.astype("f4").tolist()


def test_a_right_side_that_nothing_guards_is_still_told() -> None:
    a = te.placeholder((8,), "float32", name="A")
    n = te.placeholder((8,), "int64", name="N")
    b = te.compute((8,), lambda i: te.all(i >= 2, a[n[i]] > 0.5).astype("int32"), name="B")
    exe = tl.build(Schedule(b))
    places = np.array([99, 99, 1, 2, 3, 4, 5, 6])
    result = np.empty(8, "i4")
    data = np.linspace(0, 1, 8, dtype="f4")
    exe(data, places, result)
    assert result.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    places[5] = 8
    with pytest.raises(tl.TvmlabError, match=r"A\[N\[vi\]\] is read outside its shape"):
        exe(data, places, result)
