"""Blocks dissolve into loops and conditions, their inits first."""
# ruff: noqa: E501  (printed programs have long lines)

from __future__ import annotations

import pytest
from helpers.passes import Pass, check, check_unchanged

from tvmlab.lower.dissolve_blocks import dissolve_blocks
from tvmlab.lower.separate_init import separate_init

CASES: dict[str, tuple[Pass, str, str]] = {
    "init is set before the reduction loop": (
        separate_init,
        """
        def f(A: float32[8, 4], C: float32[8]):
            for k in range(4):
                for i in vectorized(8):
                    with block("C", vi=spatial(8, i), vk=reduce(4, k)):
                        with init():
                            C[vi] = 0.0
                        C[vi] = C[vi] + A[vi, vk]
        """,
        """
        def f(A: float32[8, 4], C: float32[8]):
            for i_init in vectorized(8):
                with block("C_init", vi=spatial(8, i_init)):
                    C[vi] = 0.0
            for k in range(4):
                for i in vectorized(8):
                    with block("C", vi=spatial(8, i), vk=reduce(4, k)):
                        C[vi] = C[vi] + A[vi, vk]
        """,
    ),
    "init keeps the guards of its elements and drops those of the reduction": (
        separate_init,
        """
        def f(A: float32[7, 10], C: float32[7]):
            for i_outer in range(2):
                for k_outer in range(3):
                    for i_inner in range(4):
                        for k_inner in range(4):
                            with block("C", vi=spatial(7, i_outer * 4 + i_inner), vk=reduce(10, k_outer * 4 + k_inner)):
                                where(i_outer * 4 + i_inner < 7 and k_outer * 4 + k_inner < 10)
                                with init():
                                    C[vi] = 0.0
                                C[vi] = C[vi] + A[vi, vk]
        """,
        """
        def f(A: float32[7, 10], C: float32[7]):
            for i_outer in range(2):
                for i_inner_init in range(4):
                    with block("C_init", vi=spatial(7, i_outer * 4 + i_inner_init)):
                        where(i_outer * 4 + i_inner_init < 7)
                        C[vi] = 0.0
                for k_outer in range(3):
                    for i_inner in range(4):
                        for k_inner in range(4):
                            with block("C", vi=spatial(7, i_outer * 4 + i_inner), vk=reduce(10, k_outer * 4 + k_inner)):
                                where(i_outer * 4 + i_inner < 7 and k_outer * 4 + k_inner < 10)
                                C[vi] = C[vi] + A[vi, vk]
        """,
    ),
    "blocks become conditions and stores": (
        dissolve_blocks,
        """
        def f(A: float32[8, 4], C: float32[7]):
            for i in range(8):
                for k in range(4):
                    with block("C", vi=spatial(7, i), vk=reduce(4, k)):
                        where(i < 7)
                        with init():
                            C[vi] = 0.0
                        C[vi] = C[vi] + A[vi, vk]
        """,
        """
        def f(A: float32[8, 4], C: float32[7]):
            for i in range(8):
                for k in range(4):
                    if i < 7:
                        if k == 0:
                            C[i] = 0.0
                        C[i] = C[i] + A[i, k]
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(*CASES[name])


UNCHANGED: dict[str, tuple[Pass, str]] = {
    "loops over elements and the reduction at once keep their init": (
        separate_init,
        """
        def f(A: float32[8, 4], C: float32[8]):
            for f in range(32):
                with block("C", vi=spatial(8, f // 4), vk=reduce(4, f % 4)):
                    with init():
                        C[vi] = 0.0
                    C[vi] = C[vi] + A[vi, vk]
        """,
    ),
    "another block reads the sum so far": (
        separate_init,
        """
        def f(A: float32[8], C: float32[1], D: float32[8]):
            for k in range(8):
                with block("C", vk=reduce(8, k)):
                    with init():
                        C[0] = 0.0
                    C[0] = C[0] + A[vk]
                with block("D", vi=spatial(8, k)):
                    D[vi] = C[0]
        """,
    ),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_it_leaves_alone(name: str) -> None:
    check_unchanged(*UNCHANGED[name])
