"""Conditions leave loops; what is known to hold is not asked."""
# ruff: noqa: E501  (printed programs have long lines)

from __future__ import annotations

import pytest
from helpers.passes import Pass, check, check_unchanged

from tvmlab.lower.hoist_conditions import hoist_conditions
from tvmlab.lower.simplify_program import simplify_program

CASES: dict[str, tuple[Pass, str, str]] = {
    "single iterations, dead branches and unused buffers go": (
        simplify_program,
        """
        def f(A: float32[8], C: float32[8]):
            with alloc(float32[8]) as T:
                for i in parallel(1):
                    for j in range(8):
                        if i * 8 + j < 8:
                            C[i * 8 + j] = A[j + i - i]
                        else:
                            C[0] = 1.0
        """,
        """
        def f(A: float32[8], C: float32[8]):
            for j in range(8):
                C[j] = A[j]
        """,
    ),
    "what holds in all lanes is not asked": (
        simplify_program,
        """
        def f(n: int64, A: float32[8], C: float32[8]):
            for i in range(4):
                C.masked(ramp(i, 1, 4) < broadcast(8, 4) and ramp(0, 1, 4) < broadcast(n, 4))[ramp(0, 1, 4)] = A[ramp(i, 1, 4)]
        """,
        """
        def f(n: int64, A: float32[8], C: float32[8]):
            for i in range(4):
                C.masked(ramp(0, 1, 4) < broadcast(n, 4))[ramp(0, 1, 4)] = A[ramp(i, 1, 4)]
        """,
    ),
    "invariant conditions leave loops and meet": (
        hoist_conditions,
        """
        def f(n: int64, A: float32[64], C: float32[64]):
            for i in range(8):
                for j in range(8):
                    if i < n and j < 5:
                        C[i * 8 + j] = 0.0
                for j in range(8):
                    if i < n:
                        C[i * 8 + j] = A[j]
        """,
        """
        def f(n: int64, A: float32[64], C: float32[64]):
            for i in range(8):
                if i < n:
                    for j in range(8):
                        if j < 5:
                            C[i * 8 + j] = 0.0
                    for j_1 in range(8):
                        C[i * 8 + j_1] = A[j_1]
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(*CASES[name])


UNCHANGED: dict[str, tuple[Pass, str]] = {
    "a condition that reads memory stays": (
        hoist_conditions,
        """
        def f(A: float32[8], C: float32[8]):
            for i in range(8):
                if A[0] > 0.0:
                    C[i] = 0.0
        """,
    ),
    "a condition that may divide by zero stays": (
        hoist_conditions,
        """
        def f(n: int64, m: int64, C: float32[8]):
            for i in range(n):
                if 8 // m > 2:
                    C[i] = 0.0
        """,
    ),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_it_leaves_alone(name: str) -> None:
    check_unchanged(*UNCHANGED[name])
