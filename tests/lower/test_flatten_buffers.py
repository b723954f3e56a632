"""Memory gets one dimension, and rows the room that vectors want."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.passes import Pass, check
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.ir import Expr, to_text
from tvmlab.lower import lower
from tvmlab.lower.flatten_buffers import flatten_buffers
from tvmlab.lower.pad_rows import pad_rows
from tvmlab.schedule import Schedule
from tvmlab.target import Target

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


@pytest.mark.parametrize("shape", [(7, 11), (5, 3, 7), (4, 33)])
def test_digits_of_a_fused_vector_are_put_together_again(shape: tuple[int, ...]) -> None:
    a = te.placeholder(shape, name="A")

    def value(*at: Any) -> Expr:
        return a[at] * 2.0

    c = te.compute(shape, value, name="C")

    def steps(s: Schedule) -> None:
        s.vectorize(s.split(s.fuse(*s.loops("C")), [None, 4])[1])

    sch = after_steps(c, steps, [ramp(*shape)])
    text = to_text(lower(sch.program, Target.host()).program)
    assert "//" not in text
    assert "%" not in text


def test_digits_in_another_order_stay_apart() -> None:
    a = te.placeholder((6, 4), name="A")
    c = te.compute((4, 6), lambda i, j: a[j, i] * 2.0, name="C")

    def steps(s: Schedule) -> None:
        s.vectorize(s.split(s.fuse(*s.loops("C")), [None, 4])[1])

    sch = after_steps(c, steps, [ramp(6, 4)])
    assert "//" in to_text(lower(sch.program, Target.host()).program)
