"""Loops are cut where their conditions change."""

from __future__ import annotations

from textwrap import dedent

import pytest
from helpers.passes import Pass, check, check_unchanged

from tvmlab.ir import Program, parse, structural_equal
from tvmlab.lower.partition_loops import partition_loops


def partition(program: Program) -> Program:
    return partition_loops(program, max_growth=100)


CASES: dict[str, tuple[Pass, str, str]] = {
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
}


@pytest.mark.parametrize("name", CASES)
def test_it_rewrites(name: str) -> None:
    check(*CASES[name])


UNCHANGED: dict[str, tuple[Pass, str]] = {
    "conditions on data give no point to cut at": (
        partition,
        """
        def f(A: int32[8], C: float32[8]):
            for i in range(8):
                if A[i] < 3:
                    C[i] = 0.0
        """,
    ),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_it_leaves_alone(name: str) -> None:
    check_unchanged(*UNCHANGED[name])


def test_partition_stops_at_its_budget() -> None:
    _, before, _ = CASES["a tail is peeled off"]
    program = parse(dedent(before))
    assert partition_loops(program, max_growth=0) is program
    assert not structural_equal(partition_loops(program, max_growth=1), program)
