"""Where intermediates are allocated, and how much of them."""

from __future__ import annotations

import pytest
from helpers.passes import Pass, check

from tvmlab.ir import Program
from tvmlab.lower.compact_buffers import compact_buffers
from tvmlab.lower.place_allocations import place_allocations
from tvmlab.lower.simplify_program import simplify_program


def compact(program: Program) -> Program:
    return simplify_program(compact_buffers(program))


CASES: dict[str, tuple[Pass, str, str]] = {
    "a parallel iteration gets its own buffer": (
        place_allocations,
        """
        def f(A: float32[8, 8], C: float32[8, 8]):
            T = alloc(float32[8])
            for i in parallel(8):
                for j in range(8):
                    T[j] = A[i, j]
                for j in range(8):
                    C[i, j] = T[7 - j]
        """,
        """
        def f(A: float32[8, 8], C: float32[8, 8]):
            for i in parallel(8):
                T = alloc(float32[8])
                for j in range(8):
                    T[j] = A[i, j]
                for j_1 in range(8):
                    C[i, j_1] = T[7 - j_1]
        """,
    ),
    "a sum over a loop stays outside of it": (
        place_allocations,
        """
        def f(A: float32[8, 4], C: float32[8]):
            S = alloc(float32[8], scope="local")
            for i in range(8):
                for k in range(4):
                    with block("S", vi=spatial(8, i), vk=reduce(4, k)):
                        with init():
                            S[vi] = 0.0
                        S[vi] = S[vi] + A[vi, vk]
                C[i] = S[i]
        """,
        """
        def f(A: float32[8, 4], C: float32[8]):
            for i in range(8):
                S = alloc(float32[8], scope="local")
                for k in range(4):
                    with block("S", vi=spatial(8, i), vk=reduce(4, k)):
                        with init():
                            S[vi] = 0.0
                        S[vi] = S[vi] + A[vi, vk]
                C[i] = S[i]
        """,
    ),
    "lanes share their buffer": (
        place_allocations,
        """
        def f(A: float32[8], C: float32[8]):
            T = alloc(float32[8])
            for i in vectorized(8):
                T[i] = A[i]
                C[i] = T[i]
        """,
        """
        def f(A: float32[8], C: float32[8]):
            with alloc(float32[8]) as T:
                for i in vectorized(8):
                    T[i] = A[i]
                    C[i] = T[i]
        """,
    ),
    "values that flow through a parallel loop to its next run stay outside": (
        place_allocations,
        """
        def f(A: float32[4, 8], C: float32[4, 8]):
            S = alloc(float32[8])
            for t in range(4):
                for i in parallel(8):
                    if t == 0:
                        S[i] = 0.0
                    S[i] = S[i] + A[t, i]
                    C[t, i] = S[i]
        """,
        """
        def f(A: float32[4, 8], C: float32[4, 8]):
            with alloc(float32[8]) as S:
                for t in range(4):
                    for i in parallel(8):
                        if t == 0:
                            S[i] = 0.0
                        S[i] = S[i] + A[t, i]
                        C[t, i] = S[i]
        """,
    ),
    "a scan keeps what the next iteration needs": (
        place_allocations,
        """
        def f(A: float32[8], C: float32[8]):
            S = alloc(float32[9])
            unused = alloc(float32[3])
            S[0] = 0.0
            for t in range(8):
                S[t + 1] = S[t] + A[t]
                C[t] = S[t + 1]
        """,
        """
        def f(A: float32[8], C: float32[8]):
            with alloc(float32[9]) as S:
                S[0] = 0.0
                for t in range(8):
                    S[t + 1] = S[t] + A[t]
                    C[t] = S[t + 1]
        """,
    ),
    "what only some iterations write stays outside of them": (
        place_allocations,
        """
        def f(A: float32[8], C: float32[4, 8]):
            S = alloc(float32[8])
            for t in range(4):
                for i in range(8):
                    with block("S", vi=spatial(8, i)):
                        where(t < 1)
                        S[vi] = A[vi]
                for i in range(8):
                    C[t, i] = S[i]
        """,
        """
        def f(A: float32[8], C: float32[4, 8]):
            with alloc(float32[8]) as S:
                for t in range(4):
                    for i in range(8):
                        with block("S", vi=spatial(8, i)):
                            where(t < 1)
                            S[vi] = A[vi]
                    for i_1 in range(8):
                        C[t, i_1] = S[i_1]
        """,
    ),
    "what is read beyond what was written stays outside": (
        place_allocations,
        """
        def f(A: float32[33], C: float32[32]):
            S = alloc(float32[33])
            S[0] = 0.0
            for t in range(4):
                for i in range(8):
                    S[t * 8 + i + 1] = A[t * 8 + i]
                for i in range(8):
                    C[t * 8 + i] = S[t * 8 + i]
        """,
        """
        def f(A: float32[33], C: float32[32]):
            with alloc(float32[33]) as S:
                S[0] = 0.0
                for t in range(4):
                    for i in range(8):
                        S[t * 8 + i + 1] = A[t * 8 + i]
                    for i_1 in range(8):
                        C[t * 8 + i_1] = S[t * 8 + i_1]
        """,
    ),
    "a write with gaps stays outside": (
        place_allocations,
        """
        def f(A: float32[8], C: float32[4, 8]):
            S = alloc(float32[8])
            for t in range(4):
                for i in range(4):
                    S[i * 2] = A[i]
                if t == 0:
                    for i in range(4):
                        S[i * 2 + 1] = A[i + 4]
                for i in range(8):
                    C[t, i] = S[i]
        """,
        """
        def f(A: float32[8], C: float32[4, 8]):
            with alloc(float32[8]) as S:
                for t in range(4):
                    for i in range(4):
                        S[i * 2] = A[i]
                    if t == 0:
                        for i_1 in range(4):
                            S[i_1 * 2 + 1] = A[i_1 + 4]
                    for i_2 in range(8):
                        C[t, i_2] = S[i_2]
        """,
    ),
    "an allocation holds what is touched": (
        compact,
        """
        def f(A: float32[66], C: float32[64]):
            for i in range(8):
                with alloc(float32[66]) as T:
                    for j in range(10):
                        T[i * 8 + j] = A[i * 8 + j]
                    for j in range(8):
                        C[i * 8 + j] = T[i * 8 + j] + T[i * 8 + j + 2]
        """,
        """
        def f(A: float32[66], C: float32[64]):
            for i in range(8):
                T = alloc(float32[10])
                for j in range(10):
                    T[j] = A[i * 8 + j]
                for j_1 in range(8):
                    C[i * 8 + j_1] = T[j_1] + T[j_1 + 2]
        """,
    ),
    "a region that starts below zero is cut": (
        compact,
        """
        def f(A: float32[16], C: float32[8]):
            with alloc(float32[16]) as T:
                for j in range(10):
                    if j >= 1:
                        T[j - 1] = A[j]
                for j in range(8):
                    C[j] = select(j >= 1, T[j - 1], 0.0)
        """,
        """
        def f(A: float32[16], C: float32[8]):
            with alloc(float32[9]) as T:
                for j in range(10):
                    if j >= 1:
                        T[j - 1] = A[j]
                for j_1 in range(8):
                    C[j_1] = select(j_1 >= 1, T[j_1 - 1], 0.0)
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(*CASES[name])
