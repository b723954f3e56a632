"""Loops over lanes become explicit vectors, or say why not."""
# ruff: noqa: E501  (printed programs have long lines)

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest
from helpers.passes import Pass, check

from tvmlab.codegen import interpret
from tvmlab.ir import Program, parse, to_text
from tvmlab.lower import VectorUnit, lower
from tvmlab.lower.simplify_program import simplify_program
from tvmlab.lower.vectorize_loops import vectorize_loops
from tvmlab.target import Target


def vectorize(program: Program) -> Program:
    """Vectors of 4 floats, simplified as the pipeline does."""
    return simplify_program(vectorize_loops(program, VectorUnit(128), max_chunks=4))


CASES: dict[str, tuple[Pass, str, str]] = {
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
    "lanes of a sum are joined, vectors first": (
        vectorize,
        """
        def f(A: float32[3, 10], C: float32[3]):
            for i in range(3):
                for k in vectorized(10):
                    C[i] = C[i] + A[i, k]
        """,
        """
        def f(A: float32[3, 10], C: float32[3]):
            for i in range(3):
                C[i] = C[i] + lanes_add(A[i, ramp(0, 1, 4)] + A[i, ramp(4, 1, 4)]) + lanes_add(A[i, ramp(8, 1, 2)])
        """,
    ),
    "lanes that take no part in a maximum are neutral": (
        vectorize,
        """
        def f(A: float32[7], C: float32[()]):
            for k in vectorized(7):
                C[()] = max(A[k], C[()])
        """,
        """
        def f(A: float32[7], C: float32[()]):
            C[()] = max(C[()], lanes_max(max(A[ramp(0, 1, 4)], select(ramp(0, 1, 4) < broadcast(3, 4), A.masked(ramp(0, 1, 4) < broadcast(3, 4))[ramp(4, 1, 4)], broadcast(float32("-inf"), 4)))))
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
    "an update whose order matters stays scalar and says why": (
        vectorize,
        """
        def f(A: float32[8], C: float32[1]):
            for j in vectorized(8):
                C[0] = C[0] / A[j]
        """,
        """
        def f(A: float32[8], C: float32[1]):
            for j in range(8, scalar="all lanes write the same element of C"):
                C[0] = C[0] / A[j]
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
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(*CASES[name])


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


def test_lanes_that_also_set_the_start_value_run_one_after_the_other() -> None:
    """The init cannot leave the loop that runs over elements and over the sum at once."""
    program = parse("""\
def c(A: float32[6, 7], B: float32[9, 7], C: float32[6, 9]):
    for i in range(6):
        for jk in range(18):
            for k_1 in vectorized(2):
                for k_2 in range(2):
                    with block("C", vi=spatial(6, i), vj=spatial(9, jk // 2),
                               vk=reduce(7, jk % 2 * 4 + k_1 * 2 + k_2)):
                        where(jk % 2 * 4 + k_1 * 2 + k_2 < 7)
                        with init():
                            C[vi, vj] = 0.0
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
""")
    rng = np.random.default_rng(5)
    a, b = rng.random((6, 7), "f4"), rng.random((9, 7), "f4")
    stages = [record.after for record in lower(program, Target.of("cpu")).record]
    for stage in stages:
        if len(stage.buffers[0].shape) == 1:
            break  # memory has one dimension from here
        result = np.full((6, 9), np.nan, "f4")
        interpret(stage, [a, b, result])
        np.testing.assert_allclose(result, a @ b.T, rtol=1e-5)
