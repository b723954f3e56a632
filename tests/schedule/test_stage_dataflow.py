"""Caches and partial results in classical schedules."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.stages import assert_computes, ramp

from tvmlab import te
from tvmlab.support import ScheduleError


def row_sums(m: int = 10, n: int = 129) -> tuple[Any, Any, Any]:
    a = te.placeholder((m, n), name="A")
    k = te.reduce_axis(n, "k")
    return a, k, te.compute((m,), lambda i: te.sum(a[i, k], axis=k), name="B")


def test_cache_write_of_a_matrix_product_with_packing() -> None:
    m, n, depth, bn = 32, 48, 20, 16
    a, b = te.placeholder((m, depth), name="A"), te.placeholder((depth, n), name="B")
    packed = te.compute((n // bn, depth, bn), lambda o, k, i: b[k, o * bn + i], name="packed")
    k = te.reduce_axis(depth, "k")
    c = te.compute(
        (m, n), lambda i, j: te.sum(a[i, k] * packed[j // bn, k, j % bn], axis=k), name="C"
    )
    s = te.create_schedule(c.op)
    cache = s.cache_write(c, "global")
    mo, no, _, _ = s[c].tile(*c.op.axis, bn, bn)
    s[cache].compute_at(s[c], no)
    mc, nc = s[cache].op.axis
    ko, ki = s[cache].split(s[cache].op.reduce_axis[0], factor=4)
    s[cache].reorder(ko, mc, ki, nc)
    s[cache].vectorize(nc)
    s[cache].unroll(ki)
    s[c].parallel(mo)
    s[packed].parallel(s[packed].op.axis[0])
    x, y = ramp(m, depth), ramp(depth, n)
    done = assert_computes(s, [a, b, c], [x, y], [x @ y])
    assert done.ranges[mc].extent.value == bn


def test_cache_write_takes_the_layout_of_the_steps_before() -> None:
    a = te.placeholder((12, 10), name="A")
    c = te.compute((12, 10), lambda i, j: a[i, j] * 2.0, name="C")
    s = te.create_schedule(c.op)
    xo, xi = s[c].split(c.op.axis[0], factor=5)
    s[c].reorder(xo, c.op.axis[1], xi)
    cache = s.cache_write(c, "global")
    assert [size.value for size in cache.shape] == [3, 10, 5]
    x = ramp(12, 10)
    assert_computes(s, [a, c], [x], [x * 2])


def test_cache_write_of_a_reduction_whose_axis_was_split() -> None:
    a, k, b = row_sums()
    s = te.create_schedule(b.op)
    s[b].split(b.op.axis[0], factor=4)
    cache = s.cache_write(b, "local")
    assert s[cache].op.reduce_axis == (k,)
    x = ramp(10, 129)
    assert_computes(s, [a, b], [x], [x.sum(1)])


def test_cache_read_at_a_loop_of_its_reader() -> None:
    a, k, b = row_sums(12, 20)
    s = te.create_schedule(b.op)
    cache = s.cache_read(a, "local", [b])
    s[b].split(k, factor=8)
    s[cache].compute_at(s[b], b.op.axis[0])
    x = ramp(12, 20)
    done = assert_computes(s, [a, b], [x], [x.sum(1)])
    assert done.program.allocs[0].scope == "local"
    assert done.ranges[cache.op.axis[0]].extent.value == 1


def test_caches_of_caches_at_different_loops() -> None:
    """Length 96 split by 48, then 32: the guards of the inner tail stay for each cache."""
    a = te.placeholder((96,), name="A")
    c = te.compute((96,), lambda i: a[i] + 1.0, name="C")
    s = te.create_schedule(c.op)
    read = s.cache_read(a, "local", [c])
    write = s.cache_write(c, "local")
    xo, xi = s[c].split(c.op.axis[0], factor=48)
    xio, _ = s[c].split(xi, factor=32)
    s[read].compute_at(s[c], xo)
    s[write].compute_at(s[c], xio)
    x = ramp(96)
    assert_computes(s, [a, c], [x], [x + 1])


def test_one_cache_for_a_chain_of_readers() -> None:
    a = te.placeholder((16,), name="A")
    stages = [te.compute((16,), lambda i: a[i] + 1.0, name="S0")]
    for n in range(1, 4):
        last = stages[-1]
        stages.append(te.compute((16,), lambda i, last=last: last[i] * a[i], name=f"S{n}"))
    s = te.create_schedule(stages[-1].op)
    s.cache_read(a, "local", stages)
    x = ramp(16)
    assert_computes(s, [a, stages[-1]], [x], [(x + 1) * x * x * x])


def test_rfactor_twice_with_tails() -> None:
    a, k, b = row_sums()
    s = te.create_schedule(b.op)
    _, ki = s[b].split(k, factor=8)
    first = s.rfactor(b, ki)
    _, inner = s[first].split(s[first].op.reduce_axis[0], factor=2)
    second = s.rfactor(first, inner)
    assert [t.ndim for t in (first, second)] == [2, 3]
    x = ramp(10, 129)
    assert_computes(s, [a, b], [x], [x.sum(1)])


@pytest.mark.parametrize("place", [0, 1, -1])
def test_rfactor_puts_its_axis_where_it_is_asked_to(place: int) -> None:
    a, k, b = row_sums(6, 30)
    s = te.create_schedule(b.op)
    ko, _ = s[b].split(k, nparts=4)
    partial = s.rfactor(b, ko, place)
    assert partial.shape[place].value == 4
    s[partial].parallel(partial.op.axis[place])
    x = ramp(6, 30)
    assert_computes(s, [a, b], [x], [x.sum(1)])


def test_rfactor_of_the_whole_axis_leaves_no_reduction_inside() -> None:
    a, k, b = row_sums(4, 8)
    s = te.create_schedule(b.op)
    partial = s.rfactor(b, k)
    assert partial.op.reduce_axis == ()
    s[partial].compute_at(s[b], s[b].op.reduce_axis[0])
    x = ramp(4, 8)
    assert_computes(s, [a, b], [x], [x.sum(1)])


def test_rfactor_of_an_axis_that_starts_late() -> None:
    a = te.placeholder((4, 9), name="A")
    k = te.reduce_axis((2, 9), "k")
    b = te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    s.rfactor(b, k)
    x = ramp(4, 9)
    assert_computes(s, [a, b], [x], [x[:, 2:].sum(1)])
    _, inner = (s := te.create_schedule(b.op))[b].split(k, factor=4)
    s.rfactor(b, inner)
    assert_computes(s, [a, b], [x], [x[:, 2:].sum(1)])


def test_rfactor_of_an_operation_that_depends_on_the_order() -> None:
    a = te.placeholder((4, 9), name="A")
    k = te.reduce_axis(9, "k")
    less = te.comm_reducer(lambda x, y: x - y, lambda t: te.const(0, t), name="less")
    b = te.compute((4,), lambda i: less(a[i, k], axis=k), name="B")
    with pytest.raises(ScheduleError, match="only if the operation is associative"):
        te.create_schedule(b.op).rfactor(b, k)


def test_a_reduction_of_pairs_is_cached_and_inlined_into() -> None:
    a = te.placeholder((6, 9), name="A")
    b = te.compute((6, 9), lambda i, j: a[i, j] * 2.0, name="B")
    k = te.reduce_axis(9, "k")
    index, top = te.compute((6,), lambda i: te.argmax((k, b[i, k]), axis=k), name="T")
    s = te.create_schedule(index.op)
    s[b].compute_inline()
    x = np.random.default_rng(0).permutation(54).reshape(6, 9).astype("float32")
    assert_computes(s, [a, index, top], [x], [x.argmax(1), x.max(1) * 2])


def test_both_results_of_an_operation_are_cached_together() -> None:
    a = te.placeholder((7, 8), name="A")
    p, q = te.compute((7, 8), lambda i, j: (a[i, j] + 1.0, a[i, j] * 2.0), name="P")
    s = te.create_schedule(p.op)
    first, second = s.cache_write([p, q], "local")
    assert first.op is second.op
    x = ramp(7, 8)
    assert_computes(s, [a, p, q], [x], [x + 1, x * 2])


def test_an_old_stage_is_found_by_its_first_tensor() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: b[i] * 2.0, name="C")
    s = te.create_schedule(c.op)
    stage = s[c]
    s.cache_read(a, "local", [b])
    assert s[c] is stage
    assert s[c].op is not stage.origin_op
