"""Iterations of blocks as points: their order, tails, and which of them need each other."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.inspect import IterationsReport, iterations_report
from tvmlab.inspect.dependences import Touch, pairs_of
from tvmlab.schedule import Schedule, index_of
from tvmlab.support import UserError


def product(n: int = 8, m: int = 6, depth: int = 5) -> Schedule:
    a, b = te.placeholder((n, depth), name="A"), te.placeholder((depth, m), name="B")
    k = te.reduce_axis(depth, "k")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return tl.Schedule(c)


def report(schedule: Schedule, **options: str) -> IterationsReport:
    block = next(iter(index_of(schedule.program).blocks.values()))
    return iterations_report(schedule.program, block, "B0", **options)  # pyright: ignore[reportArgumentType]


def test_points_come_in_the_order_of_the_loops() -> None:
    schedule = product()
    i, j, k = schedule.loops("C")
    schedule.reorder(k, j, i)
    found = report(schedule, x="vk", y="vi")
    points = list(zip(found.xs, found.ys, strict=True))
    assert points == [(k, i) for k in range(5) for i in range(8)]
    assert all(found.runs)
    assert found.still == "vj = 0"


def test_tiles_and_what_lies_beyond_the_domain() -> None:
    schedule = product(n=10)
    i, _, _ = schedule.loops("C")
    schedule.split(i, [None, 4])
    found = report(schedule, x="vj", y="vi")
    assert (found.y.tiles, found.y.extent, found.y.count) == ((4,), 10, 12)
    beyond = {y for y, runs in zip(found.ys, found.runs, strict=True) if not runs}
    assert beyond == {10, 11}


def test_long_variables_are_shown_at_either_end() -> None:
    schedule = product(n=100)
    i, _, _ = schedule.loops("C")
    schedule.split(i, [None, 12])
    assert (report(schedule, x="vj", y="vi").y.first, max(report(schedule).ys)) == (0, 31)
    end = report(schedule, x="vj", y="vi", part="end")
    assert (end.y.first, end.y.count, max(end.ys)) == (76, 32, 107)


def test_a_sum_needs_its_iterations_one_after_another() -> None:
    found = report(product())
    flow = next(d for d in found.dependences if d.kind == "flow")
    assert (found.x.name, flow.buffer, flow.dx, flow.dy) == ("vk", "C", 1, 0)
    assert flow.pairs == 8 * 4
    assert "reads what the other wrote in C" in flow.words


def test_a_stencil_in_place_has_both_directions() -> None:
    text = te.placeholder((6, 6), name="A")
    state = te.placeholder((6, 6), name="S")
    first = te.compute((1, 6), lambda _, i: text[0, i], name="first")
    step = te.compute((6, 6), lambda t, i: state[t - 1, i] + text[t, i], name="step")
    scan = te.scan(first, step, state, inputs=[text], name="scan")
    schedule = tl.Schedule(scan)
    block = next(b for b in index_of(schedule.program).blocks.values() if "step" in b.symbol.name)
    found = iterations_report(schedule.program, block, "B1")
    assert {(d.dx, d.dy) for d in found.dependences if d.kind == "flow"} in ({(1, 0)}, {(0, 1)})


def test_independent_iterations_say_so() -> None:
    a = te.placeholder((6, 7), name="A")
    b = te.compute((6, 7), lambda i, j: a[i, j] + 1.0, name="B")
    assert report(tl.Schedule(b)).dependences == ()


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_those_of_the_definition(seed: int) -> None:
    """Against all pairs of accesses, with nothing written in between."""
    rng = random.Random(seed)
    log = [(at, rng.randrange(6), rng.random() < 0.4) for at in range(12) for _ in range(2)]
    log.sort(key=lambda entry: (entry[0], entry[2]))  # an iteration reads before it writes
    wanted: set[tuple[str, str, int, int]] = set()
    for place, (sink, element, writes) in enumerate(log):
        for back in range(place - 1, -1, -1):
            source, other, wrote = log[back]
            if other != element:
                continue
            if source != sink and (wrote or writes):
                kind = "flow" if not writes else "output" if wrote else "anti"
                wanted.add((kind, "X", source, sink))
            if wrote:
                break
    touches = [
        Touch(
            "X",
            np.array([e for _, e, w in log if w is write], np.int64),
            np.array([at for at, _, w in log if w is write], np.int64),
            write,
        )
        for write in (False, True)
    ]
    assert set(pairs_of(touches)) == wanted


def test_refusals() -> None:
    with pytest.raises(UserError, match="no iteration variable 'q'"):
        report(product(), x="q")
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    symbolic = tl.Schedule(te.compute((n,), lambda i: a[i] * 2.0, name="B"))
    with pytest.raises(UserError, match=re.escape("known only at run time")):
        report(symbolic)
