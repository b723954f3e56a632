"""Start values are set once, before the first round that there is: also where it is not round 0."""

from __future__ import annotations

import numpy as np
import pytest

import tvmlab as tl
from tvmlab.codegen import interpret
from tvmlab.ir import parse
from tvmlab.lower.separate_init import separate_init

SKEWED = """\
def c(A: float32[3, 2, 3], C: float32[3, 2]):
    for y in range(3):
        for x in range(2):
            for o in range(2):
                for f in range(6):
                    with block("C", vy=spatial(3, y), vx=spatial(2, x), vk=reduce(3, f % 3)):
                        where(f + o * 6 >= {low} and f + o * 6 < {low} + 3)
                        with init():
                            C[vy, vx] = 0.0
                        C[vy, vx] = C[vy, vx] + A[vy, vx, vk]
"""


@pytest.mark.parametrize("low", ["x * 9", "x * 3", "x * 6"])
def test_the_first_round_depends_on_the_element(low: str) -> None:
    program = parse(SKEWED.format(low=low))
    values = np.random.default_rng(3).random((3, 2, 3), "f4")
    want = values.sum(axis=2)
    compiled, read, moved = np.full((3, 3, 2), np.nan, "f4")
    tl.build(program)(values, compiled)
    interpret(program, [values, read])
    interpret(separate_init(program), [values, moved])
    for got in (compiled, read, moved):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_guard_of_tails_does_not_keep_start_values_inside() -> None:
    program = parse("""\
def c(A: float32[7, 10], C: float32[7]):
    for io in range(2):
        for ko in range(3):
            for ki in range(4):
                for ii in range(4):
                    with block("C", vi=spatial(7, io * 4 + ii), vk=reduce(10, ko * 4 + ki)):
                        where(io * 4 + ii < 7 and ko * 4 + ki < 10)
                        with init():
                            C[vi] = 0.0
                        C[vi] = C[vi] + A[vi, vk]
""")
    assert "C_init" in str(separate_init(program))


@pytest.mark.parametrize(
    ("loops", "bindings", "apart"),
    [
        ("for f in range(28):", "vk=reduce(14, f % 14)", False),
        ("for f in range(14):", "vk=reduce(2, f // 7), vr=reduce(7, f % 7)", True),
        ("for f in range(28):", "vr=reduce(7, f % 7), vk=reduce(2, f // 7 % 2)", False),
        ("for f in range(14):", "vk=reduce(14, f % 2 * 7 + f // 2)", True),
    ],
)
def test_a_loop_that_does_a_whole_sum_repeatedly_sets_start_values_each_time(
    loops: str, bindings: str, apart: bool
) -> None:
    column = "vk * 7 + vr" if "vr" in bindings else "vk"
    program = parse(f"""\
def c(A: float32[3, 14], C: float32[3]):
    for i in range(3):
        {loops}
            with block("C", vi=spatial(3, i), {bindings}):
                with init():
                    C[vi] = 0.0
                C[vi] = C[vi] + A[vi, {column}]
""")
    values = np.random.default_rng(3).random((3, 14), "f4")
    compiled, moved = np.full((2, 3), np.nan, "f4")
    tl.build(program)(values, compiled)
    separated = separate_init(program)
    interpret(separated, [values, moved])
    assert ("C_init" in str(separated)) == apart
    for got in (compiled, moved):
        np.testing.assert_allclose(got, values.sum(axis=1), rtol=1e-6)
