"""Unrolled loops are written out, within bounds."""

from __future__ import annotations

import pytest
from helpers.passes import Pass, check

from tvmlab.ir import Program, parse
from tvmlab.lower.unroll_loops import unroll_loops
from tvmlab.support import UserError


def unroll(program: Program) -> Program:
    return unroll_loops(program, max_copies=16)


CASES: dict[str, tuple[Pass, str, str]] = {
    "copies decide their conditions": (
        unroll,
        """
        def f(n: int64, A: float32[4], C: float32[4]):
            for i in unrolled(3):
                with alloc(float32[1]) as T:
                    if i < 2:
                        T[0] = A[i]
                        C[i] = T[0]
        """,
        """
        def f(n: int64, A: float32[4], C: float32[4]):
            with alloc(float32[1]) as T:
                T[0] = A[0]
                C[0] = T[0]
            T_1 = alloc(float32[1])
            T_1[0] = A[1]
            C[1] = T_1[0]
        """,
    ),
    "what would become too long stays a loop and says so": (
        unroll,
        """
        def f(A: float32[9, 2]):
            for i in unrolled(9):
                for j in unrolled(2):
                    A[i, j] = 0.0
        """,
        """
        def f(A: float32[9, 2]):
            for i in range(9, not_unrolled="18 statements, more than max_unroll=16"):
                A[i, 0] = 0.0
                A[i, 1] = 0.0
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(*CASES[name])


def test_unroll_needs_a_known_extent() -> None:
    program = parse(
        "def f(n: int64, A: float32[n]):\n    for i in unrolled(n):\n        A[i] = 0.0"
    )
    with pytest.raises(
        UserError, match="cannot unroll i: its extent is known only at run time"
    ) as e:
        unroll(program)
    assert e.value.hint == "split i by a constant factor and unroll the inner loop"
