"""What a whole program allows to leave out."""

from __future__ import annotations

import pytest
from helpers.passes import check, check_unchanged

from tvmlab.lower.simplify_program import simplify_program

CASES = {
    "an element is not stored where it came from": (
        """
        def f(A: float32[4], S: float32[()]):
            for i in vectorized(4):
                S[()] = S[()] + A[i]
                S[()] = S[()]
        """,
        """
        def f(A: float32[4], S: float32[()]):
            for i in vectorized(4):
                S[()] = S[()] + A[i]
        """,
    ),
    "memory that nobody uses is not asked for": (
        """
        def f(A: float32[4]):
            with alloc(float32[4]) as T:
                T[0] = T[0]
            A[0] = A[1]
        """,
        """
        def f(A: float32[4]):
            A[0] = A[1]
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(simplify_program, *CASES[name])


def test_a_store_to_another_place_stays() -> None:
    check_unchanged(
        simplify_program,
        """
        def f(n: int64, A: float32[n], B: float32[n]):
            A[0] = B[0]
            A[1] = A[0]
        """,
    )
