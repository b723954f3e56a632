"""Threads around a whole stage, and stages that only some threads store."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.stages import assert_runs_on_device, ramp
from helpers.steps import assert_round_trips

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import For, walk
from tvmlab.schedule import Schedule

STEPS, WIDTH = 5, 12


def scan(reach: int) -> tuple[Any, Any, Any, Any]:
    """A scan whose steps read the element `reach` further on, round and round."""
    x = te.placeholder((STEPS, WIDTH), name="X")
    state = te.placeholder((STEPS, WIDTH), name="state")
    init = te.compute((1, WIDTH), lambda _, i: x[0, i], name="init")
    half = te.compute(
        (STEPS, WIDTH), lambda t, i: state[t - 1, (i + reach) % WIDTH] * 2.0, name="half"
    )
    update = te.compute((STEPS, WIDTH), lambda t, i: half[t, i] + x[t, i], name="update")
    return x, half, update, te.scan(init, update, state, inputs=[x], name="S")


def wanted(x: Any, reach: int) -> Any:
    out = x.copy()
    for t in range(1, STEPS):
        out[t] = np.roll(out[t - 1], -reach) * 2 + x[t]
    return out


def in_threads(reach: int, tags: tuple[str, ...], whole: bool = True) -> tuple[Any, Any, Any]:
    x, half, update, out = scan(reach)
    s = te.create_schedule(out.op)
    axes = [te.thread_axis(tag) for tag in tags]
    for stage in (half, update):
        parts = s[stage].split(stage.op.axis[1], factor=4)
        loops = parts if len(tags) == 2 else (stage.op.axis[1],)
        if len(tags) == 1:
            loops = (s[stage].fuse(*parts),)
        for loop, axis in zip(loops, axes, strict=True):
            s[stage].bind(loop, axis)
    if whole:
        s[out].env_threads(axes)
    return s, x, out


def steps_of(program: Any) -> list[str]:
    return [n.thread or n.kind for n in walk(program.body) if isinstance(n, For)]


def test_threads_around_a_scan_do_its_steps_together() -> None:
    s, x, out = in_threads(0, ("threadIdx.x",))
    data = ramp(STEPS, WIDTH)
    done = assert_runs_on_device(s, [x, out], [data], [wanted(data, 0)])
    assert steps_of(done.program)[-2:] == ["threadIdx.x", "serial"]


def test_groups_of_threads_around_a_scan() -> None:
    s, x, out = in_threads(0, ("blockIdx.x", "threadIdx.x"))
    data = ramp(STEPS, WIDTH)
    done = assert_runs_on_device(s, [x, out], [data], [wanted(data, 0)])
    assert steps_of(done.program)[-3:] == ["blockIdx.x", "threadIdx.x", "serial"]


@pytest.mark.parametrize("tags", [("threadIdx.x",), ("blockIdx.x", "threadIdx.x")])
def test_threads_that_read_each_other_are_refused(tags: tuple[str, ...]) -> None:
    s, x, out = in_threads(1, tags)
    with pytest.raises(tl.UserError, match="env_threads of stage S: cannot start threads"):
        s.replay([x, out])


def test_threads_that_nothing_is_bound_to_change_nothing() -> None:
    x, _, _, out = scan(0)
    s = te.create_schedule(out.op)
    s[out].env_threads(te.thread_axis((0, 8), "threadIdx.x"))
    data = ramp(STEPS, WIDTH)
    assert_runs_on_device(s, [x, out], [data], [wanted(data, 0)])


def test_a_number_of_threads_that_does_not_fit_is_refused() -> None:
    x, _, update, out = scan(0)
    s = te.create_schedule(out.op)
    s[update].bind(update.op.axis[1], te.thread_axis("threadIdx.x"))
    s[out].env_threads(te.thread_axis((0, 8), "threadIdx.x"))
    with pytest.raises(tl.UserError, match="has 12 iterations, but the thread axis has 8"):
        s.replay([x, out])


def test_the_step_on_a_live_schedule_and_its_refusals() -> None:
    x = te.placeholder((4, 6), name="X")
    out = te.compute((4, 6), lambda i, j: x[i, j] + 1.0, name="Y")

    s = Schedule(out)
    before = s.program
    i, j = s.loops("Y")
    with pytest.raises(tl.UserError, match=r"no loop inside it is bound to threadIdx\.x"):
        s.env_threads(i, "threadIdx.x")
    s.bind(j, "threadIdx.x")
    assert [lp.name for lp in s.env_threads(i, "threadIdx.x")] == ["j"]
    assert [lp.name for lp in s.loops("Y")] == ["j", "i"]
    assert_round_trips(out, s)
    result = np.zeros((4, 6), "float32")
    interpret(s.program, [ramp(4, 6), result])
    np.testing.assert_array_equal(result, ramp(4, 6) + 1)
    s.undo()
    s.undo()
    assert s.program is before


def test_threads_of_several_lengths_are_not_started_together() -> None:
    x = te.placeholder((4, 6), name="X")
    y = te.compute((4, 7), lambda i, j: x[i, j % 6] + 1.0, name="Y")
    z = te.compute((4, 3), lambda i, j: y[i, j] + y[i, j + 4], name="Z")
    s = Schedule(z)
    s.compute_at("Y", s.loops("Z")[0])
    s.bind(s.loops("Y")[-1], "threadIdx.x")
    s.bind(s.loops("Z")[-1], "threadIdx.x")
    with pytest.raises(tl.UserError, match="do not all have one length"):
        s.env_threads(s.loops("Z")[0], "threadIdx.x")


def chain_in_threads() -> tuple[Any, tuple[Any, ...], tuple[Any, Any], Any]:
    """Three stages, a local one before a shared one; the last is bound to groups and threads.

    Returns the schedule, the tensors from the input on, the bound axes, and the threads' axis.
    """
    x = te.placeholder((128,), name="X")
    a = te.compute((128,), lambda i: x[i] + 1.0, name="A")
    b = te.compute((128,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((128,), lambda i: b[i] + 3.0, name="C")
    s = te.create_schedule(c.op)
    s[b].set_scope("shared")
    s[a].set_scope("local")
    tx = te.thread_axis("threadIdx.x")
    outer, inner = s[c].split(c.op.axis[0], factor=32)
    s[c].bind(outer, te.thread_axis("blockIdx.x"))
    s[c].bind(inner, tx)
    return s, (x, a, b, c), (outer, inner), tx


def test_a_local_stage_of_a_reader_in_threads_holds_what_one_thread_reads() -> None:
    s, (x, a, b, c), (outer, _), tx = chain_in_threads()
    s[b].compute_at(s[c], outer)
    s[b].bind(b.op.axis[0], tx)
    s[a].compute_at(s[c], outer)
    data = ramp(128)
    done = assert_runs_on_device(s, [x, c], [data], [(data + 1) * 2 + 3])
    extents = [done.ranges[op.axis[0]].extent.value for op in (a.op, b.op)]
    assert extents == [1, 32]


def test_a_local_stage_stays_outside_of_threads_that_are_around_it_already() -> None:
    s, (x, a, b, c), (_, inner), tx = chain_in_threads()
    s[b].compute_at(s[c], inner)
    s[b].bind(s[b].split(b.op.axis[0], nparts=1)[1], tx)
    s[a].compute_at(s[c], inner)
    assert s.replay([x, c]).ranges[b.op.axis[0]].extent.value == 32


# ---------------------------------------------------------------- who stores


def guarded(predicate: Any, *, axis: bool = False) -> tuple[Any, Any, Any]:
    x = te.placeholder((4, 8), name="X")
    k = te.reduce_axis(8, "k")
    out = te.compute((4,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    s = te.create_schedule(out.op)
    tx, ty = te.thread_axis("threadIdx.x"), te.thread_axis("threadIdx.y")
    s[out].bind(out.op.axis[0], ty)
    s[out].bind(k, tx)
    s[out].set_store_predicate(predicate(out.op.axis[0] if axis else ty, tx))
    return s, x, out


@pytest.mark.parametrize("first", [0, 5])
def test_one_of_the_threads_that_share_a_sum_stores_it(first: int) -> None:
    s, x, out = guarded(lambda ty, tx: tx.equal(first))
    data = ramp(4, 8)
    assert_runs_on_device(s, [x, out], [data], [data.sum(1)])


@pytest.mark.parametrize("axis", [False, True])
def test_elements_whose_condition_fails_are_not_stored(axis: bool) -> None:
    s, x, out = guarded(lambda ty, tx: te.all(ty < 3, tx.equal(0)), axis=axis)
    data = ramp(4, 8)
    result = data.sum(1)
    result[3] = 77
    assert_runs_on_device(s, [x, out], [data], [result])


def test_a_condition_that_no_thread_meets_stores_nothing() -> None:
    s, x, out = guarded(lambda ty, tx: tx.equal(9))
    left = np.full(4, 77, "float32")
    interpret(s.replay([x, out]).program, [ramp(4, 8), left])
    assert (left == 77).all()


def test_a_condition_over_threads_that_are_not_there_is_refused() -> None:
    s, x, out = guarded(lambda ty, tx: te.thread_axis("threadIdx.z").equal(0))
    with pytest.raises(tl.UserError, match=r"no loop around the stage is bound to threadIdx\.z"):
        _ = s.replay([x, out]).program
