"""The generic space: deterministic, legal, right for any program, and its points are plain data."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from helpers.tune_programs import convolution, matmul
from helpers.workloads import WORKLOADS, Workload

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import structural_equal, verify
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, UnsupportedOp
from tvmlab.tune import generic_space, partial_space, random_schedule

Make = Callable[[np.random.Generator], Workload]


@pytest.mark.parametrize("make", WORKLOADS, ids=lambda make: make.__name__)
def test_random_schedules_compute_the_same(make: Make) -> None:
    rng = np.random.default_rng(7)
    workload = make(rng)
    arrays = workload.arrays(seed=1)
    expected = workload.reference(*arrays)
    space = generic_space(list(workload.outputs))
    for _ in range(6):
        schedule = space.random_schedule(rng)
        verify(schedule.program)
        outputs = [np.zeros_like(e) for e in expected]
        interpret(schedule.program, [*arrays, *outputs])
        for got, right in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)


def test_compiled_schedules_compute_the_same() -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal((50, 37)).astype(np.float32)
    b = rng.standard_normal((37, 70)).astype(np.float32)
    space = generic_space(matmul(50, m=70, k=37))
    for _ in range(4):
        c = np.full((50, 70), np.nan, np.float32)
        build(space.random_schedule(rng), cache=False)(a, b, c)
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
    space = generic_space(convolution(8, 14, 16))
    rng = np.random.default_rng(0)
    seen: set[str] = set()
    for _ in range(40):
        seen |= {step.primitive for step in space.random_schedule(rng).trace.steps}
    assert seen >= {
        *("split", "reorder", "fuse", "parallel", "vectorize", "unroll", "cache_write"),
        *("cache_read", "compute_at", "reverse_compute_at", "decompose_reduction"),
        "compute_inline",
    }


def test_a_mutation_changes_one_knob() -> None:
    space = generic_space(matmul(64))
    rng = np.random.default_rng(1)
    points = space.sample(200, rng)
    assert ((space.mutate(points, rng) != points).sum(axis=1) == 1).all()


def test_children_have_the_knobs_of_their_parents() -> None:
    space = generic_space(matmul(64))
    rng = np.random.default_rng(1)
    first, second = space.sample(100, rng), space.sample(100, rng)
    child = space.cross(first, second, rng)
    assert ((child == first) | (child == second)).all()
    assert (child != first).any()


def test_points_and_values_go_both_ways() -> None:
    space = generic_space(matmul(64))
    for point in space.sample(20, np.random.default_rng(2)):
        values = json.loads(json.dumps(space.plain_values(point)))
        assert (space.point(values) == point).all()
    values = space.plain_values(space.sample(1, np.random.default_rng(0))[0])
    with pytest.raises(OptionError, match="differs in order"):
        space.point({k: v for k, v in values.items() if k != "order"})
    with pytest.raises(OptionError, match="has no option 'sideways'"):
        space.point({**values, "order": "sideways"})


def test_points_are_counted() -> None:
    space = generic_space(matmul(8))
    places = [0, 1, space.size // 2, space.size - 1]
    points = space.numbered(places)
    assert len({tuple(p) for p in points.tolist()}) == 4
    assert (points[-1] == [len(knob) - 1 for knob in space.knobs.values()]).all()


def test_a_space_prints_as_a_table() -> None:
    text = str(generic_space(matmul(64)))
    assert text.splitlines()[0].split() == ["knob", "kind", "options", "such", "as"]
    assert "points" in text.splitlines()[-1]
    assert "none, sum, tile" in text


def test_what_remains_of_a_schedule_becomes_a_space() -> None:
    schedule = Schedule(matmul(64))
    i, j, k = schedule.loops("C")
    io, ii = schedule.split(i, [None, 16])
    schedule.parallel(io)
    before = len(schedule.trace)
    space = partial_space(schedule)
    made = space.random_schedule(np.random.default_rng(0))
    assert len(schedule.trace) == before
    assert made.loops("C")[0].kind == "parallel"
    assert [s.primitive for s in made.trace.steps[:2]] == ["split", "parallel"]
    for loop in (ii, j, k):
        schedule.unroll(loop) if loop is not k else schedule.vectorize(loop)
    with pytest.raises(UnsupportedOp, match="no serial loop left"):
        partial_space(schedule)


def test_sizes_must_be_known() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    c = te.compute((n,), lambda i: a[i] * 2.0, name="C")
    with pytest.raises(UnsupportedOp, match="block C has a size known only at run time"):
        generic_space(c)


def test_elementwise_computations_have_a_space_too() -> None:
    a = te.placeholder((1000,), name="A")
    c = te.compute((1000,), lambda i: a[i] * 2.0, name="C")
    data = np.arange(1000, dtype=np.float32)
    space = generic_space(c)
    for seed in range(6):
        out = np.zeros(1000, np.float32)
        interpret(space.random_schedule(np.random.default_rng(seed)).program, [data, out])
        assert (out == data * 2).all()
