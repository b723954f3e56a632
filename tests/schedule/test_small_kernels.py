"""Every step that a menu offers on small hand-written kernels in which order matters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.random_loops import arrays_for
from helpers.random_schedules import references
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.ir import Program, parse
from tvmlab.schedule import Schedule

KERNELS = {
    "sum so far": """
def f(A: int64[6], S: int64[1], D: int64[6]):
    for k in range(6):
        with block("S", vk=reduce(6, k)):
            S[0] = S[0] + A[vk]
        with block("D", vk=spatial(6, k)):
            D[vk] = S[0]
""",
    "read ahead": """
def f(A: int64[6], S: int64[7], D: int64[6]):
    for k in range(6):
        with block("S", vk=spatial(6, k)):
            S[vk] = S[vk] + A[vk]
        with block("D", vk=spatial(6, k)):
            D[vk] = S[vk + 1] - S[vk]
""",
    "overwritten input": """
def f(A: int64[7], D: int64[6]):
    T = alloc(int64[6])
    for k in range(6):
        with block("T", vk=spatial(6, k)):
            T[vk] = A[vk + 1] * 2
        with block("A", vk=spatial(6, k)):
            A[vk] = 5
        with block("D", vk=spatial(6, k)):
            D[vk] = T[vk] + A[vk + 1]
""",
    "rounds": """
def f(A: int64[4], C: int64[3, 4]):
    T = alloc(int64[4])
    for t in range(3):
        for p in range(2):
            for i in range(2):
                with block("T", vt=opaque(3, t), vi=opaque(4, i * 2 + p)):
                    T[vi] = select(vt < 1, A[vi], T[vi] * 2)
            for j in range(2):
                with block("C", vt=spatial(3, t), vi=spatial(4, j * 2 + p)):
                    C[vt, vi] = T[vi]
""",
    "stencil in place": """
def f(A: int64[8]):
    for t in range(3):
        for i in range(6):
            with block("A", vt=opaque(3, t), vi=opaque(6, i)):
                A[vi + 1] = A[vi] + A[vi + 1] * 2 - A[vi + 2]
""",
    "two sums": """
def f(A: int64[4, 5], S: int64[4], R: int64[4]):
    for i in range(4):
        for k in range(5):
            with block("S", vi=spatial(4, i), vk=reduce(5, k)):
                with init():
                    S[vi] = 0
                S[vi] = S[vi] + A[vi, vk]
            with block("R", vi=spatial(4, i), vk=reduce(5, k)):
                R[vi] = max(R[vi], S[vi] + vk)
""",
    "triangle": """
def f(A: int64[6, 6], B: int64[6]):
    for i in range(6):
        for j in range(i):
            with block("B", vi=spatial(6, i), vj=reduce(6, j)):
                B[vi] = B[vi] - A[vi, vj] * B[vj]
""",
    "set twice": """
def f(A: int64[8], C: int64[8]):
    T = alloc(int64[8])
    for i in range(8):
        with block("T", vi=spatial(8, i)):
            T[vi] = A[vi]
    for i in range(4):
        with block("F", vi=spatial(4, i)):
            C[vi + 3] = 5
    for i in range(8):
        with block("C", vi=spatial(8, i)):
            C[vi] = T[vi] + 1
""",
    "set and add": """
def f(A: int64[4, 5], C: int64[4]):
    for i in range(4):
        for j in range(5):
            with block("P", vi=spatial(4, i)):
                C[vi] = 0
            with block("S", vi=spatial(4, i), vj=reduce(5, j)):
                C[vi] = C[vi] + A[vi, vj]
""",
    "before the start value": """
def f(A: int64[4, 3], C: int64[4], D: int64[4]):
    for i in range(4):
        with block("P", vi=spatial(4, i)):
            C[vi] = 7
        with block("D", vi=spatial(4, i)):
            D[vi] = C[vi]
        for k in range(3):
            with block("S", vi=spatial(4, i), vk=reduce(3, k)):
                with init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
""",
    "a part of the domain": """
def f(A: int64[8], C: int64[8], D: int64[8]):
    T = alloc(int64[8])
    for i in range(8):
        with block("T", vi=spatial(8, i)):
            T[vi] = A[vi]
    for i in range(5):
        with block("C", vi=spatial(8, i)):
            C[vi] = T[vi] + 1
        with block("D", vi=spatial(8, i)):
            where(i < 3)
            D[vi] = A[vi] * 2
""",
    "a sum over a part": """
def f(A: int64[6, 8], C: int64[6]):
    T = alloc(int64[6])
    for i in range(6):
        for k in range(5):
            with block("T", vi=spatial(6, i), vk=reduce(8, k)):
                with init():
                    T[vi] = 0
                T[vi] = T[vi] + A[vi, vk]
    for i in range(6):
        with block("C", vi=spatial(6, i)):
            C[vi] = T[vi] + 1
""",
    "shorter and shorter sums": """
def f(A: int64[7, 7], C: int64[7]):
    for i in range(7):
        for k in range(7 - i):
            with block("C", vi=spatial(7, i), vk=reduce(7, k)):
                with init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
""",
    "perhaps": """
def f(A: int64[6], N: int64[1], C: int64[6]):
    T = alloc(int64[6])
    if N[0] > 1:
        for i in range(6):
            T[i] = A[i]
    for i in range(6):
        C[i] = T[i] + 1 if N[0] > 1 else 0
""",
    "on and on": """
def f(A: int64[4, 3], S: int64[4], D: int64[3]):
    for r in range(3):
        for i in range(4):
            for k in range(3):
                with block("S", vi=spatial(4, i), vk=reduce(3, k)):
                    S[vi] = S[vi] + A[vi, vk]
        with block("D", vr=spatial(3, r)):
            D[vr] = A[0, vr] + S[vr]
""",
    "old values": """
def f(A: int64[6], B: int64[6], D: int64[6]):
    T = alloc(int64[6])
    for i in range(6):
        T[i] = A[i]
        D[i] = B[i]
    for i in range(6):
        B[i] = T[i] + 1
""",
    "by an index": """
def f(P: int64[6], A: int64[6], C: int64[8], D: int64[6]):
    T = alloc(int64[6])
    for i in range(6):
        T[i] = A[i] * 2
    for i in range(6):
        C[max(min(P[i], 7), 0)] = T[i]
    for i in range(6):
        D[i] = C[i] + T[5 - i]
""",
}
_MOST_CHOICES = 6


def results(program: Program, source: Program) -> list[NDArray[Any]]:
    arrays = arrays_for(source, 3)
    interpret(program, arrays)
    return arrays


def steps(schedule: Schedule) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the menus of all loops and blocks offer, with the first choices of each form."""
    for ref in references(schedule):
        for action in schedule.actions(ref):
            names = [name for name, choices in action.choices.items() if choices]
            options = (action.choices[name] for name in names)
            for chosen in itertools.islice(itertools.product(*options), _MOST_CHOICES):
                values = {name: c.value for name, c in zip(names, chosen, strict=True)}
                yield action.primitive, {**action.args, **values}


def assert_steps_keep_values(schedule: Schedule, want: list[NDArray[Any]], depth: int) -> int:
    """Take each allowed step by itself, and others behind it; returns how many were taken."""
    source, taken = schedule.program, 0
    for primitive, args in steps(schedule):
        if not schedule.preview(primitive, **args).verdict:
            continue
        after = schedule.copy()
        after.apply(primitive, **args)
        text = f"{after.trace.to_python()}\n{after}"
        for got, expected in zip(results(after.program, source), want, strict=True):
            np.testing.assert_array_equal(got, expected, err_msg=text)
        taken += 1
        if depth > 1:
            taken += assert_steps_keep_values(after, want, depth - 1)
    return taken


@pytest.mark.parametrize("name", KERNELS)
def test_each_step_keeps_the_values(name: str) -> None:
    source = parse(KERNELS[name])
    assert assert_steps_keep_values(Schedule(source), results(source, source), 1) > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_each_pair_of_steps_keeps_the_values(name: str) -> None:
    source = parse(KERNELS[name])
    assert assert_steps_keep_values(Schedule(source), results(source, source), 2) > 50


def test_loops_of_no_iterations() -> None:
    source = parse("""
def f(A: int64[4]):
    for i in range(2):
        for j in range(0):
            with block("A", vj=spatial(4, j)):
                A[vj] = 1
""")
    schedule = Schedule(source)
    i, j = schedule.loops("A")
    outer, inner = schedule.split(j, [None, 4])
    assert (outer.extent, inner.extent) == (0, 1)
    fused = schedule.fuse(i, outer)
    assert fused.extent == 0
    assert "%" not in str(schedule)
    schedule.blockize(fused)
    np.testing.assert_array_equal(results(schedule.program, source)[0], arrays_for(source, 3)[0])
