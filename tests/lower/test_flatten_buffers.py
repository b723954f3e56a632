"""Memory gets one dimension, and rows the room that vectors want."""

from __future__ import annotations

import pytest
from helpers.passes import Pass, check

from tvmlab.lower.flatten_buffers import flatten_buffers
from tvmlab.lower.pad_rows import pad_rows

CASES: dict[str, tuple[Pass, str, str]] = {
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
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(*CASES[name])
