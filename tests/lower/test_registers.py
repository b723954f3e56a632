"""Small buffers and elements that a loop updates become registers."""

from __future__ import annotations

import pytest
from helpers.passes import Pass, check, check_unchanged

from tvmlab.ir import Program
from tvmlab.lower.accumulate_in_registers import accumulate_in_registers
from tvmlab.lower.promote_registers import promote_registers


def promote(program: Program) -> Program:
    return promote_registers(program, max_registers=4)


CASES: dict[str, tuple[Pass, str, str]] = {
    "known parts become registers": (
        promote,
        """
        def f(A: float32[8], C: float32[8]):
            with alloc(float32[5], scope="local") as T:
                T[ramp(0, 1, 4)] = A[ramp(4, 1, 4)]
                T[4] = A[0]
                C[ramp(0, 1, 4)] = T[ramp(0, 1, 4)]
                C[4] = T[4]
        """,
        """
        def f(A: float32[8], C: float32[8]):
            with alloc(float32[4], scope="register") as T_0:
                T_4 = alloc(float32[1], scope="register")
                T_0[ramp(0, 1, 4)] = A[ramp(4, 1, 4)]
                T_4[0] = A[0]
                C[ramp(0, 1, 4)] = T_0[ramp(0, 1, 4)]
                C[4] = T_4[0]
        """,
    ),
    "a loop updates registers": (
        accumulate_in_registers,
        """
        def f(A: float32[64], C: float32[8]):
            for i in range(8):
                for k in range(8):
                    C[i] = C[i] + A[i * 8 + k]
        """,
        """
        def f(A: float32[64], C: float32[8]):
            for i in range(8):
                C_sum = alloc(float32[1], scope="register")
                C_sum[0] = C[i]
                for k in range(8):
                    C_sum[0] = C_sum[0] + A[i * 8 + k]
                C[i] = C_sum[0]
        """,
    ),
    "elements of a loop that may not run are left alone if it does not": (
        accumulate_in_registers,
        """
        def f(n: int64, A: float32[n], C: float32[1]):
            for k in range(n):
                C[0] = C[0] + A[k]
        """,
        """
        def f(n: int64, A: float32[n], C: float32[1]):
            if n > 0:
                C_sum = alloc(float32[1], scope="register")
                C_sum[0] = C[0]
                for k in range(n):
                    C_sum[0] = C_sum[0] + A[k]
                C[0] = C_sum[0]
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(*CASES[name])


UNCHANGED: dict[str, tuple[Pass, str]] = {
    "parts that overlap stay memory": (
        promote,
        """
        def f(A: float32[8], C: float32[8]):
            with alloc(float32[8]) as T:
                T[ramp(0, 1, 4)] = A[ramp(0, 1, 4)]
                C[0] = T[2]
        """,
    ),
    "an index known at run time stays memory": (
        promote,
        """
        def f(n: int64, A: float32[8], C: float32[8]):
            with alloc(float32[8]) as T:
                T[n] = A[0]
                C[0] = T[n]
        """,
    ),
    "more parts than registers stay memory": (
        promote,
        """
        def f(A: float32[8], C: float32[8]):
            with alloc(float32[8]) as T:
                T[0] = A[0]
                T[1] = A[0]
                T[2] = A[0]
                T[3] = A[0]
                T[4] = A[0]
        """,
    ),
    "threads share memory, not registers": (
        promote,
        """
        def f(A: float32[8], C: float32[8]):
            with alloc(float32[8]) as T:
                T[0] = A[0]
                for i in parallel(8):
                    C[i] = T[0]
        """,
    ),
    "an address that the loop changes is no register": (
        accumulate_in_registers,
        """
        def f(A: float32[9], C: float32[9]):
            for k in range(8):
                C[k + 1] = C[k] + A[k]
        """,
    ),
    "an update under a condition is no register": (
        accumulate_in_registers,
        """
        def f(A: float32[8], C: float32[1]):
            for k in range(8):
                if A[k] > 0.0:
                    C[0] = C[0] + A[k]
        """,
    ),
    "places that may be the same are no registers": (
        accumulate_in_registers,
        """
        def f(n: int64, A: float32[8], C: float32[8]):
            for k in range(8):
                C[0] = C[0] + A[k]
                C[n] = C[n] + A[k]
        """,
    ),
    "a padded read is not made unconditional": (
        accumulate_in_registers,
        """
        def f(n: int64, A: float32[8], C: float32[8]):
            for k in range(8):
                C[0] = A[k] + select(n < 8, C[n], 0.0)
        """,
    ),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_it_leaves_alone(name: str) -> None:
    check_unchanged(*UNCHANGED[name])
