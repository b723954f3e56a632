"""Steps that rely on whole sums and domains, after loops were split, skewed, fused and reordered.

Menus offer such chains of steps seldom: here they are drawn on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.random_schedules import references
from helpers.workloads import Workload, random_workload
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.ir import Program, parse
from tvmlab.lower import lower
from tvmlab.schedule import BlockRef, LoopRef, Schedule
from tvmlab.support import UserError
from tvmlab.target import Target

Rng = np.random.Generator
Step = tuple[str, list[Any]]


def _pick(rng: Rng, items: list[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


def _twist(sch: Schedule, chain: list[LoopRef], rng: Rng) -> Step:
    """A step that changes how loops run over iterations."""
    tail = _pick(rng, ["mask", "guard", "peel"])
    drawn = int(rng.integers(5))
    if len(chain) < 2 or drawn == 0:
        return "split", [_pick(rng, chain), [None, _pick(rng, [1, 1, 2, 3, 4, 5])], tail]
    if drawn == 1:
        return "split", [_pick(rng, chain), [_pick(rng, [1, 2, 3]), None], tail]
    at = int(rng.integers(len(chain) - 1))
    if drawn == 2:
        return "skew", [chain[at], chain[at + 1], int(rng.integers(1, 3))]
    if drawn == 3:
        return "fuse", [[chain[at], chain[at + 1]]]
    return "reorder", [[chain[int(n)] for n in rng.permutation(len(chain))[:3]]]


_OF_A_BLOCK = ("cache_write", "compute_inline", "reverse_compute_inline", "compute_root",
               "merge_conditions")  # fmt: skip
_OF_A_LOOP = ("blockize", "partition", "parallel", "vectorize", "unroll", "hoist_condition")


def _rely(sch: Schedule, chain: list[LoopRef], rng: Rng) -> Step:
    """A step whose proof asks which iterations there are, and when a sum is whole."""
    block, loop = _pick(rng, sch.blocks()), _pick(rng, chain)
    anywhere = _pick(rng, [r for r in references(sch) if isinstance(r, LoopRef)])
    choices: list[Step] = [
        ("decompose_reduction", [block, loop]),
        ("decompose_reduction", [block, loop]),
        ("rfactor", [block, loop]),
        ("compute_at", [block, anywhere]),
        ("reverse_compute_at", [block, anywhere]),
        ("peel", [loop, int(rng.integers(3)), int(rng.integers(3))]),
        ("partition", [loop, [int(rng.integers(1, 6))]]),
        (_pick(rng, [*_OF_A_BLOCK]), [block]),
        (_pick(rng, [*_OF_A_LOOP]), [loop]),
    ]
    return _pick(rng, choices)


def _take(sch: Schedule, draw: Callable[..., Step], rng: Rng) -> bool:
    """Draw one step and take it if it is allowed."""
    block: BlockRef = _pick(rng, sch.blocks())
    chain = sch.loops(block)
    if not chain:
        return False
    name, args = draw(sch, chain, rng)
    try:
        allowed = bool(sch.preview(name, *args).verdict)
    except UserError:  # loops of another block than the one drawn, or a factor that is none
        return False
    if allowed:
        sch.apply(name, *args)
    return allowed


def _assert_values(program: Program, workload: Workload, seed: int, text: str) -> None:
    want = [np.asarray(w) for w in workload.reference(*workload.arrays(seed))]
    outputs: list[NDArray[Any]] = [np.full(w.shape, 113, w.dtype) for w in want]
    interpret(program, [*workload.arrays(seed), *outputs])
    for got, expected in zip(outputs, want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=text)


def check_seed(seed: int) -> None:
    """Values after each accepted step, and after lowering."""
    rng = np.random.default_rng(seed)
    workload = random_workload(rng)
    sch = Schedule([*workload.outputs], args=[*workload.inputs, *workload.outputs])
    for _ in range(int(rng.integers(2, 6))):
        _take(sch, _twist, rng)
    for _ in range(8):
        if _take(sch, _rely if rng.integers(3) else _twist, rng):
            text = f"seed {seed}\n{sch.trace.to_python()}\n{sch}"
            _assert_values(sch.program, workload, seed, text)
    lowered = lower(sch.program, Target.host()).program
    _assert_values(lowered, workload, seed, f"seed {seed}, lowered\n{sch}\n{lowered}")


@pytest.mark.parametrize("seed", range(24))
def test_steps_on_twisted_loops_keep_the_values(seed: int) -> None:
    check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_steps_on_many_twisted_loops_keep_the_values(seed: int) -> None:
    check_seed(seed)


DIVIDING = """
def f(A: int64[20], C: int64[20]):
    for j in range(5):
        for m in range(8):
            with block("C", vj=spatial(5, j), vm=spatial(8, m)):
                where(m // (5 - j) < 2)
                C[vj + vm] = A[vj] + C[vj + vm]
"""


@pytest.mark.parametrize("tail", ["mask", "guard", "peel"])
def test_a_condition_that_divides_is_asked_of_iterations_that_exist(tail: str) -> None:
    source = parse(DIVIDING)
    sch = Schedule(source)
    sch.split(sch.loops("C")[0], [None, 3], tail)
    a, want, got = np.arange(20), np.ones(20, "int64"), np.ones(20, "int64")
    interpret(source, [a, want])
    interpret(sch.program, [a, got])
    np.testing.assert_array_equal(got, want)
