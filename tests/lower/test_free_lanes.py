"""Registers keep what they like in lanes that no statement looks at; others keep their masks."""

from __future__ import annotations

import pytest
from helpers.passes import Pass, check

from tvmlab.lower.free_lanes import free_lanes

ON = "masked(ramp(0, 1, 8) < broadcast(5, 8))"
CASES: dict[str, tuple[Pass, str, str]] = {
    "all uses under one mask": (
        free_lanes,
        f"""
        def f(A: float32[40], C: float32[8]):
            with alloc(float32[8], scope="register") as R:
                R.{ON}[ramp(0, 1, 8)] = broadcast(0.0, 8)
                for i in range(5):
                    R.{ON}[ramp(0, 1, 8)] = R.{ON}[ramp(0, 1, 8)] + A.{ON}[ramp(i * 8, 1, 8)]
                C.{ON}[ramp(0, 1, 8)] = R.{ON}[ramp(0, 1, 8)]
        """,
        f"""
        def f(A: float32[40], C: float32[8]):
            with alloc(float32[8], scope="register") as R:
                R[ramp(0, 1, 8)] = broadcast(0.0, 8)
                for i in range(5):
                    R[ramp(0, 1, 8)] = R[ramp(0, 1, 8)] + A.{ON}[ramp(i * 8, 1, 8)]
                C.{ON}[ramp(0, 1, 8)] = R[ramp(0, 1, 8)]
        """,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    run, before, after = CASES[case]
    check(run, before, after)


@pytest.mark.parametrize(
    "use",
    [
        "C[ramp(0, 1, 8)] = R[ramp(0, 1, 8)]",
        f"C[ramp(0, 1, 8)] = R.{ON}[ramp(0, 1, 8)]",
        "C.masked(ramp(0, 1, 8) < broadcast(6, 8))[ramp(0, 1, 8)] = R[ramp(0, 1, 8)]",
        "C[0] = R[3]",
        "C[0] = lanes_add(R[ramp(0, 1, 8)])",
        f"C.{ON}[ramp(0, 1, 8)] = R[ramp(7, -1, 8)]",
    ],
)
def test_a_use_of_other_lanes_keeps_the_masks(use: str) -> None:
    text = f"""
        def f(A: float32[40], C: float32[8]):
            with alloc(float32[8], scope="register") as R:
                R[ramp(0, 1, 8)] = broadcast(0.0, 8)
                R.{ON}[ramp(0, 1, 8)] = R.{ON}[ramp(0, 1, 8)] + A.{ON}[ramp(8, 1, 8)]
                {use}
        """
    check(free_lanes, text, text)
