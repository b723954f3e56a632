"""Programs that no tensor expression states, written as functions: values, and steps on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab.codegen import interpret
from tvmlab.ir import Program, to_text
from tvmlab.support import ParseError

N = 13
THIRD = np.float32(1 / 3)

# pyright: reportUndefinedVariable=false, reportInvalidTypeForm=false, reportUnusedVariable=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# ruff: noqa: F821, N803, B007 - functions in the text form, whose names Python does not know


@tl.kernel
def prefix(A: float32[N], S: float32[N]):
    """Each element plus all before it."""
    S[0] = A[0]
    for i in range(1, N):
        S[i] = S[i - 1] + A[i]


@tl.kernel
def stencil(A: float32[N]):
    for t in range(3):
        for i in range(1, N - 1):
            A[i] = (A[i - 1] + A[i] + A[i + 1]) * THIRD


@tl.kernel
def backwards(A: float32[N, N], B: float32[N], X: float32[N]):
    """Solve A X = B for an upper triangle."""
    for i in range(N - 1, -1, -1):
        X[i] = B[i]
        for j in range(i + 1, N):
            X[i] -= A[i, j] * X[j]
        X[i] = X[i] / A[i, i]


@tl.kernel
def lower_rows(A: float32[N, N], B: float32[N, N], C: float32[N]):
    for i in range(N):
        for j in range(i + 1):
            B[i, j] = A[i, j] * 2.0
    for i in range(N):
        C[i] = 0.0
        for j in range(i + 1):
            C[i] += B[i, j]


@tl.kernel
def every_third(A: float32[N], B: float32[N]):
    for i in range(1, N, 3):
        twice = A[i] + A[i]
        at = N - 1 - i
        if twice > 1.0:
            B[at] = twice
        elif i == 1:
            B[at] = 0.0


def expected(program: Program, a: list[NDArray[Any]]) -> list[NDArray[Any]]:
    if program is prefix:
        return [a[0], np.cumsum(a[0])]
    if program is stencil:
        (x,) = a
        for _ in range(3):
            for i in range(1, N - 1):
                x[i] = (x[i - 1] + x[i] + x[i + 1]) * THIRD
        return [x]
    if program is backwards:
        return [a[0], a[1], np.linalg.solve(np.triu(a[0].astype("f8")), a[1])]
    if program is lower_rows:
        b = np.where(np.tri(N) > 0, a[0] * 2, a[1])
        return [a[0], b, np.tril(b).sum(1)]
    for i in range(1, N, 3):
        if 2 * a[0][i] > 1:
            a[1][N - 1 - i] = 2 * a[0][i]
        elif i == 1:
            a[1][N - 1 - i] = 0
    return a


KERNELS = [prefix, stencil, backwards, lower_rows, every_third]


def arrays(program: Program) -> list[NDArray[Any]]:
    rng = np.random.default_rng(0)
    shapes = [b.const_shape or () for b in program.buffers]
    made = [rng.random(shape).astype("f4") for shape in shapes]
    if program is backwards:
        made[0] += 4 * np.eye(N, dtype="f4")
    return made


def agrees(program: Program, schedule: tl.Schedule | None = None) -> None:
    source = program if schedule is None else schedule.program
    compiled, plain, wanted = arrays(program), arrays(program), expected(program, arrays(program))
    tl.build(source)(*compiled)
    interpret(source, plain)
    for one, two, three in zip(compiled, plain, wanted, strict=True):
        np.testing.assert_allclose(one, three, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(two, three, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("program", KERNELS, ids=lambda p: p.name)
def test_values_as_written_and_as_a_schedule(program: Program) -> None:
    agrees(program)
    agrees(program, tl.Schedule(program))


def test_loops_start_at_zero_in_text() -> None:
    text = to_text(stencil)
    assert "for i in range(11):" in text
    assert "A[i + 1] = (A[i + 1 - 1] + A[i + 1] + A[i + 1 + 1])" in text
    assert "for i in range(4):" in to_text(every_third)


def test_a_prefix_sum_keeps_its_order() -> None:
    sch = tl.Schedule(prefix)
    block = next(b for b in sch.blocks() if sch.loops(b))
    (i,) = sch.loops(block)
    assert not sch.check("parallel", i)
    assert not sch.check("vectorize", i)
    outer, _ = sch.split(i, [None, 4])
    assert not sch.check("parallel", outer)
    agrees(prefix, sch)


def test_a_stencil_in_place_is_skewed_before_its_loops_change_places() -> None:
    sch = tl.Schedule(stencil)
    t, i = sch.loops("A")
    assert not sch.check("reorder", i, t)
    assert not sch.check("parallel", i)
    sch.skew(t, i, 2)
    agrees(stencil, sch)


def test_rows_of_a_triangle_in_parallel() -> None:
    sch = tl.Schedule(lower_rows)
    i, _ = sch.loops("B")
    sch.parallel(i)
    agrees(lower_rows, sch)


def test_the_loops_of_a_triangle_change_places() -> None:
    sch = tl.Schedule(lower_rows)
    i, j = sch.loops("B")
    sch.reorder(j, i)
    agrees(lower_rows, sch)


def test_the_first_row_of_a_triangle_on_its_own() -> None:
    sch = tl.Schedule(backwards)
    (i,) = sch.loops("X")
    sch.partition(i, [1])
    agrees(backwards, sch)


WRONG = '''
import tvmlab as tl
def make(n):
    @tl.kernel
    def f(A: "float32[n]"):
        """Adds up."""
        total = 0.0
        for i in range(n):
            total = total + A[i]
    return f
'''


def test_a_mistake_is_shown_where_the_user_made_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(WRONG)
    space: dict[str, Any] = {}
    exec(compile(WRONG, str(file), "exec"), space)
    with pytest.raises(ParseError) as caught:
        space["make"](4)
    error = caught.value
    assert error.span is not None
    assert (Path(error.span.file).name, error.span.line) == ("mine.py", 9)
    assert "total already has a value here" in error.message
    assert "alloc(float32[()])" in (error.hint or "")
