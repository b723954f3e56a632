"""The generic space: deterministic, always legal, always right, and its decisions survive JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from helpers.tune_programs import matmul
from helpers.workloads import WORKLOADS, Workload

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import structural_equal, verify
from tvmlab.schedule import Schedule
from tvmlab.support import ParseError, UnsupportedOp
from tvmlab.topi import conv2d_nchw
from tvmlab.tune import Decisions, ScheduleSpace, random_schedule

Make = Callable[[np.random.Generator], Workload]


@pytest.mark.parametrize("make", WORKLOADS, ids=lambda make: make.__name__)
def test_random_schedules_compute_the_same(make: Make) -> None:
    rng = np.random.default_rng(7)
    workload = make(rng)
    arrays = workload.arrays(seed=1)
    expected = workload.reference(*arrays)
    space = ScheduleSpace(list(workload.outputs))
    for _ in range(6):
        schedule = space.build(space.draw(rng))
        verify(schedule.program)
        outputs = [np.zeros_like(e) for e in expected]
        interpret(schedule.program, [*arrays, *outputs])
        for got, right in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)


def test_compiled_schedules_compute_the_same() -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal((50, 37)).astype(np.float32)
    b = rng.standard_normal((37, 70)).astype(np.float32)
    space = ScheduleSpace(matmul(50, m=70, k=37))
    for _ in range(4):
        c = np.full((50, 70), np.nan, np.float32)
        build(space.build(space.draw(rng)), cache=False)(a, b, c)
        np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_the_seed_decides() -> None:
    def draw(seed: int) -> Schedule:
        return random_schedule(matmul(64), np.random.default_rng(seed))

    assert structural_equal(draw(5).program, draw(5).program)
    assert not structural_equal(draw(5).program, draw(6).program)


def test_schedules_are_ordinary_traces() -> None:
    c = matmul(64)
    schedule = random_schedule(c, np.random.default_rng(2))
    replayed = Schedule.replay(c, schedule.trace.to_json())
    assert structural_equal(replayed.program, schedule.program)


def test_the_space_uses_every_kind_of_step() -> None:
    space = ScheduleSpace(conv2d_nchw(1, 8, 14, 14, 16, 3, padding=1)[2])
    rng = np.random.default_rng(0)
    seen: set[str] = set()
    for _ in range(16):
        seen |= {step.primitive for step in space.build(space.draw(rng)).trace.steps}
    assert seen >= {
        *("split", "reorder", "fuse", "parallel", "vectorize", "unroll", "cache_write"),
        *("cache_read", "compute_at", "reverse_compute_at", "decompose_reduction"),
        "compute_inline",
    }


def test_refused_choices_are_left_out_and_noted() -> None:
    space = ScheduleSpace(matmul(60, m=52))
    rng = np.random.default_rng(0)
    rules = {rule for _ in range(30) for rule in space.build_noting(space.draw(rng))[1]}
    assert rules
    assert all("." in rule or rule == "arguments" for rule in rules)


def test_a_mutation_changes_little() -> None:
    space = ScheduleSpace(matmul(64))
    rng = np.random.default_rng(1)
    start = space.draw(rng)
    fields = start.to_json().keys()
    neighbours = [space.mutate(start, rng) for _ in range(60)]
    changed = [sum(getattr(n, f) != getattr(start, f) for f in fields) for n in neighbours]
    assert max(changed) <= 2
    assert sum(n != start for n in neighbours) > 30
    for neighbour in neighbours[:10]:
        verify(space.build(neighbour).program)


def test_decisions_survive_json() -> None:
    space = ScheduleSpace(matmul(64))
    decisions = space.draw(np.random.default_rng(4))
    assert Decisions.from_json(json.loads(json.dumps(decisions.to_json()))) == decisions
    others: list[object] = [[], {}, {**decisions.to_json(), "more": 1}]
    for data in others:
        with pytest.raises(ParseError, match="decisions"):
            Decisions.from_json(data)


def test_sizes_must_be_known() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    c = te.compute((n,), lambda i: a[i] * 2.0, name="C")
    with pytest.raises(UnsupportedOp, match="block C has a size known only at run time"):
        ScheduleSpace(c)


def test_elementwise_computations_have_a_space_too() -> None:
    a = te.placeholder((1000,), name="A")
    c = te.compute((1000,), lambda i: a[i] * 2.0, name="C")
    data = np.arange(1000, dtype=np.float32)
    space = ScheduleSpace(c)
    for seed in range(6):
        out = np.zeros(1000, np.float32)
        interpret(space.build(space.draw(np.random.default_rng(seed))).program, [data, out])
        assert (out == data * 2).all()
