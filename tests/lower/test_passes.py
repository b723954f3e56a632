"""What each pass does to a small program, as text before and after."""
# ruff: noqa: E501  (printed programs have long lines)

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from tvmlab.ir import Program, parse, structural_equal, to_text, verify
from tvmlab.lower import VectorUnit
from tvmlab.lower.accumulate_in_registers import accumulate_in_registers
from tvmlab.lower.compact_buffers import compact_buffers
from tvmlab.lower.dissolve_blocks import dissolve_blocks
from tvmlab.lower.flatten_buffers import flatten_buffers
from tvmlab.lower.hoist_conditions import hoist_conditions
from tvmlab.lower.pad_rows import pad_rows
from tvmlab.lower.partition_loops import partition_loops
from tvmlab.lower.place_allocations import place_allocations
from tvmlab.lower.promote_registers import promote_registers
from tvmlab.lower.separate_init import separate_init
from tvmlab.lower.simplify_program import simplify_program
from tvmlab.lower.unroll_loops import unroll_loops
from tvmlab.lower.vectorize_loops import vectorize_loops
from tvmlab.support import UserError

Run = Callable[[Program], Program]


def vectorize(program: Program) -> Program:
    """Vectors of 4 floats, simplified as the pipeline does."""
    return simplify_program(vectorize_loops(program, VectorUnit(128), max_chunks=4))


def partition(program: Program) -> Program:
    return partition_loops(program, max_growth=100)


def unroll(program: Program) -> Program:
    return unroll_loops(program, max_copies=16)


def promote(program: Program) -> Program:
    return promote_registers(program, max_registers=4)


def compact(program: Program) -> Program:
    return simplify_program(compact_buffers(program))


def check(run: Run, before: str, after: str) -> None:
    program = parse(dedent(before))
    verify(program)
    result = run(program)
    verify(result)
    assert to_text(result) == dedent(after).strip()


def check_unchanged(run: Run, text: str) -> None:
    program = parse(dedent(text))
    assert run(program) is program


CASES: dict[str, tuple[Run, str, str]] = {
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
    "a tail is peeled off": (
        partition,
        """
        def f(A: float32[30], C: float32[30]):
            for i in range(4):
                for j in range(8):
                    if i * 8 + j < 30:
                        C[i * 8 + j] = A[i * 8 + j]
        """,
        """
        def f(A: float32[30], C: float32[30]):
            for i in range(3):
                for j in range(8):
                    C[i * 8 + j] = A[i * 8 + j]
            for j in range(6):
                C[j + 24] = A[j + 24]
        """,
    ),
    "padding leaves an interior without questions": (
        partition,
        """
        def f(A: float32[30], C: float32[32]):
            for i in range(32):
                C[i] = select(i >= 1 and i < 31, A[i - 1], 0.0)
        """,
        """
        def f(A: float32[30], C: float32[32]):
            C[0] = 0.0
            for i in range(30):
                C[i + 1] = A[i]
            C[31] = 0.0
        """,
    ),
    "a parallel loop stays one": (
        partition,
        """
        def f(A: float32[30], C: float32[30]):
            for i in parallel(4):
                for j in range(8):
                    if i * 8 + j < 30:
                        C[i * 8 + j] = A[i * 8 + j]
        """,
        """
        def f(A: float32[30], C: float32[30]):
            for i in parallel(4):
                if i < 3:
                    for j in range(8):
                        C[i * 8 + j] = A[i * 8 + j]
                else:
                    for j in range(6):
                        C[j + 24] = A[j + 24]
        """,
    ),
    "a size known at run time is cut too": (
        partition,
        """
        def f(n: int64, A: float32[n], C: float32[n]):
            for i in range((n + 7) // 8):
                for j in range(8):
                    if i * 8 + j < n:
                        C[i * 8 + j] = A[i * 8 + j]
        """,
        """
        def f(n: int64, A: float32[n], C: float32[n]):
            for i in range(n // 8):
                for j in range(8):
                    C[i * 8 + j] = A[i * 8 + j]
            for i in range((n + 7) // 8 - n // 8):
                for j in range(8):
                    if i * 8 + n // 8 * 8 + j < n:
                        C[i * 8 + n // 8 * 8 + j] = A[i * 8 + n // 8 * 8 + j]
        """,
    ),
    "whole vectors, then a shorter one": (
        vectorize,
        """
        def f(A: float32[4, 10], B: float32[4], C: float32[4, 10]):
            for i in range(4):
                for j in vectorized(10):
                    C[i, j] = A[i, j] * B[i]
        """,
        """
        def f(A: float32[4, 10], B: float32[4], C: float32[4, 10]):
            for i in range(4):
                C[i, ramp(0, 1, 4)] = A[i, ramp(0, 1, 4)] * broadcast(B[i], 4)
                C[i, ramp(4, 1, 4)] = A[i, ramp(4, 1, 4)] * broadcast(B[i], 4)
                C[i, ramp(8, 1, 2)] = A[i, ramp(8, 1, 2)] * broadcast(B[i], 2)
        """,
    ),
    "a rest of three is a masked vector": (
        vectorize,
        """
        def f(A: float32[7], C: float32[7]):
            for j in vectorized(7):
                C[j] = A[j]
        """,
        """
        def f(A: float32[7], C: float32[7]):
            C[ramp(0, 1, 4)] = A[ramp(0, 1, 4)]
            C.masked(ramp(0, 1, 4) < broadcast(3, 4))[ramp(4, 1, 4)] = A.masked(ramp(0, 1, 4) < broadcast(3, 4))[ramp(4, 1, 4)]
        """,
    ),
    "many vectors become a loop": (
        vectorize,
        """
        def f(A: float32[64], C: float32[128]):
            for j in vectorized(64):
                C[j * 2] = A[63 - j]
        """,
        """
        def f(A: float32[64], C: float32[128]):
            for j_vector in range(16):
                C[ramp(j_vector * 8, 2, 4)] = A[ramp(63 - j_vector * 4, -1, 4)]
        """,
    ),
    "loops inside go around the vectors": (
        vectorize,
        """
        def f(A: float32[8, 4], C: float32[4]):
            for j in vectorized(4):
                C[j] = 0.0
                for k in range(8):
                    C[j] = C[j] + A[k, j]
        """,
        """
        def f(A: float32[8, 4], C: float32[4]):
            C[ramp(0, 1, 4)] = broadcast(0.0, 4)
            for k in range(8):
                C[ramp(0, 1, 4)] = C[ramp(0, 1, 4)] + A[k, ramp(0, 1, 4)]
        """,
    ),
    "a condition on the lane is a mask, asked for as a whole first": (
        vectorize,
        """
        def f(n: int64, A: float32[4], C: float32[4]):
            for j in vectorized(4):
                if j < n:
                    C[j] = A[j]
        """,
        """
        def f(n: int64, A: float32[4], C: float32[4]):
            if 0 < n:
                C.masked(ramp(0, 1, 4) < broadcast(n, 4))[ramp(0, 1, 4)] = A.masked(ramp(0, 1, 4) < broadcast(n, 4))[ramp(0, 1, 4)]
        """,
    ),
    "both branches of a condition on the lane": (
        vectorize,
        """
        def f(A: float32[4], C: float32[4]):
            for j in vectorized(4):
                if A[j] > 0.0:
                    C[j] = A[j]
                else:
                    C[j] = 1.0
        """,
        """
        def f(A: float32[4], C: float32[4]):
            C.masked(A[ramp(0, 1, 4)] > broadcast(0.0, 4))[ramp(0, 1, 4)] = A.masked(A[ramp(0, 1, 4)] > broadcast(0.0, 4))[ramp(0, 1, 4)]
            C.masked(not A[ramp(0, 1, 4)] > broadcast(0.0, 4))[ramp(0, 1, 4)] = broadcast(1.0, 4)
        """,
    ),
    "division happens only in lanes that take part": (
        vectorize,
        """
        def f(A: int32[3], B: int32[3], C: int32[3]):
            for j in vectorized(3):
                C[j] = A[j] // B[j]
        """,
        """
        def f(A: int32[3], B: int32[3], C: int32[3]):
            C.masked(ramp(0, 1, 4) < broadcast(3, 4))[ramp(0, 1, 4)] = select(ramp(0, 1, 4) < broadcast(3, 4), A.masked(ramp(0, 1, 4) < broadcast(3, 4))[ramp(0, 1, 4)] // B.masked(ramp(0, 1, 4) < broadcast(3, 4))[ramp(0, 1, 4)], broadcast(int32(0), 4))
        """,
    ),
    "a reduction over lanes stays scalar and says why": (
        vectorize,
        """
        def f(A: float32[8], C: float32[1]):
            for j in vectorized(8):
                C[0] = C[0] + A[j]
        """,
        """
        def f(A: float32[8], C: float32[1]):
            for j in range(8, scalar="all lanes write the same element of C"):
                C[0] = C[0] + A[j]
        """,
    ),
    "of two vectorized loops the outer one is unrolled": (
        vectorize,
        """
        def f(A: float32[2, 4], C: float32[2, 4]):
            for i in vectorized(2):
                for j in vectorized(4):
                    C[i, j] = A[i, j]
        """,
        """
        def f(A: float32[2, 4], C: float32[2, 4]):
            for i in unrolled(2):
                C[i, ramp(0, 1, 4)] = A[i, ramp(0, 1, 4)]
        """,
    ),
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
    "memory has one dimension": (
        flatten_buffers,
        """
        def f(n: int64, A: float32[n, 4, 8], B: float32[()], C: float32[16]):
            with alloc(float32[2, 8]) as T:
                T[1, ramp(0, 1, 4)] = A[2, 3, ramp(4, 1, 4)]
                C[3] = T[1, 2] + B[()]
        """,
        """
        def f(n: int64, A: float32[n * 4 * 8], B: float32[1], C: float32[16]):
            with alloc(float32[16]) as T:
                T[ramp(8, 1, 4)] = A[ramp(92, 1, 4)]
                C[3] = T[10] + B[0]
        """,
    ),
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
    "rows make room for their last vector": (
        pad_rows,
        """
        def f(A: float32[2, 3], n: int64):
            with alloc(float32[2, 3]) as T:
                T.masked(ramp(0, 1, 4) < broadcast(3, 4))[1, ramp(0, 1, 4)] = broadcast(0.0, 4)
                with alloc(float32[2, 3]) as S:
                    S[n, 2] = T[0, n]
        """,
        """
        def f(A: float32[2, 3], n: int64):
            with alloc(float32[2, 4]) as T:
                T.masked(ramp(0, 1, 4) < broadcast(3, 4))[1, ramp(0, 1, 4)] = broadcast(0.0, 4)
                S = alloc(float32[2, 3])
                S[n, 2] = T[0, n]
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
def test_pass(name: str) -> None:
    run, before, after = CASES[name]
    check(run, before, after)


UNCHANGED: dict[str, tuple[Run, str]] = {
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
    "conditions on data give no point to cut at": (
        partition,
        """
        def f(A: int32[8], C: float32[8]):
            for i in range(8):
                if A[i] < 3:
                    C[i] = 0.0
        """,
    ),
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
def test_pass_leaves_it(name: str) -> None:
    check_unchanged(*UNCHANGED[name])


SCALAR = {
    "its extent is known only at run time": """
        def f(n: int64, A: float32[n]):
            for j in vectorized(n):
                A[j] = 0.0
        """,
    "the extent of k differs from lane to lane": """
        def f(A: float32[4]):
            for j in vectorized(4):
                for k in range(j):
                    A[j] = A[j] + 1.0
        """,
    "T is allocated inside it": """
        def f(A: float32[4]):
            for j in vectorized(4):
                with alloc(float32[1]) as T:
                    T[0] = A[j]
                    A[j] = T[0]
        """,
    "a condition reads what is written under it": """
        def f(A: float32[4], C: float32[4]):
            for j in vectorized(4):
                if A[j] > 0.0:
                    A[j] = 0.0
                    C[j] = 1.0
        """,
    "a call inside it is made for its effect": """
        def f(A: float32[4]):
            for j in vectorized(4):
                exp(A[j])
        """,
}


@pytest.mark.parametrize("reason", SCALAR)
def test_what_cannot_be_vectorized_says_why(reason: str) -> None:
    result = vectorize_loops(parse(dedent(SCALAR[reason])), VectorUnit(128), 4)
    assert f'scalar="{reason}"' in to_text(result)


def test_unroll_needs_a_known_extent() -> None:
    program = parse(
        "def f(n: int64, A: float32[n]):\n    for i in unrolled(n):\n        A[i] = 0.0"
    )
    with pytest.raises(
        UserError, match="cannot unroll i: its extent is known only at run time"
    ) as e:
        unroll(program)
    assert e.value.hint == "split i by a constant factor and unroll the inner loop"


def test_unroll_is_bounded() -> None:
    program = parse("def f(A: float32[99]):\n    for i in unrolled(99):\n        A[i] = 0.0")
    with pytest.raises(UserError, match=r"99 statements would be written out.*limit of 16") as e:
        unroll(program)
    assert e.value.hint is not None
    assert "split i first" in e.value.hint


def test_partition_stops_at_its_budget() -> None:
    _, before, _ = CASES["a tail is peeled off"]
    program = parse(dedent(before))
    assert partition_loops(program, max_growth=0) is program
    assert not structural_equal(partition_loops(program, max_growth=1), program)


def test_without_vector_registers_lanes_are_scalars() -> None:
    program = parse("def f(A: float32[2]):\n    for i in vectorized(2):\n        A[i] = 0.0")
    text = to_text(vectorize_loops(program, VectorUnit(0), 4))
    assert text.splitlines()[1:] == ["    A[0] = 0.0", "    A[1] = 0.0"]


def test_without_masks_the_rest_is_done_by_powers_of_two() -> None:
    program = parse("def f(A: float32[7]):\n    for i in vectorized(7):\n        A[i] = 0.0")
    text = to_text(simplify_program(vectorize_loops(program, VectorUnit(128, masked_bits=0), 4)))
    assert text.splitlines()[1:] == [
        "    A[ramp(0, 1, 4)] = broadcast(0.0, 4)",
        "    A[ramp(4, 1, 2)] = broadcast(0.0, 2)",
        "    A[6] = 0.0",
    ]
