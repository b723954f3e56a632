"""Steps that a classical schedule refuses, and what it says."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.support import ScheduleError


def parts() -> tuple[Any, Any, Any, Any]:
    a = te.placeholder((16, 8), name="A")
    b = te.compute((16, 8), lambda i, j: a[i, j] + 1.0, name="B")
    k = te.reduce_axis(8, "k")
    c = te.compute((16,), lambda i: te.sum(b[i, k], axis=k), name="C")
    return a, b, k, c


def at_itself(s: Any, b: Any, c: Any) -> None:
    s[b].compute_at(s[b], b.op.axis[0])


def in_a_circle(s: Any, b: Any, c: Any) -> None:
    s2 = te.create_schedule(c.op)
    d = s2.cache_write(c, "local")
    s2[b].compute_at(s2[d], d.op.axis[0])
    s2[d].compute_at(s2[b], b.op.axis[0])


def of_another_schedule(s: Any, b: Any, c: Any) -> None:
    s[b].compute_at(te.create_schedule(c.op)[c], c.op.axis[0])


CASES: list[tuple[Callable[[Any, Any, Any], object], str]] = [
    (at_itself, "cannot compute B at i of B: a stage cannot be computed inside itself"),
    (in_a_circle, "B inside C_local already, so each would wait for the other"),
    (of_another_schedule, "C is a stage of another schedule"),
    (lambda s, b, c: s[b].compute_at(s[c], b.op.axis[0]), "i is no axis of C"),
    (lambda s, b, c: s[c].compute_inline(), "C is an output of the schedule"),
    (lambda s, b, c: s[c].compute_at(s[b], b.op.axis[0]), "C is an output of the schedule"),
    (lambda s, b, c: s[b].split(b.op.axis[0]), "give either factor or nparts"),
    (lambda s, b, c: s[b].split(b.op.axis[0], factor=0), "must be a positive constant, not 0"),
    (lambda s, b, c: s[b].split(b.op.axis[0], factor=te.var("f")), "known only at run time"),
    (lambda s, b, c: s[b].fuse(b.op.axis[1], b.op.axis[0]), "must be next to each other"),
    (lambda s, b, c: s[b].reorder(b.op.axis[0], b.op.axis[0]), "it is named twice"),
    (lambda s, b, c: s[c].vectorize(c.op.reduce_axis[0]), "k of stage C: it is reduced over"),
    (
        lambda s, b, c: s[c].parallel(c.op.reduce_axis[0]),
        "cannot parallelize k of stage C: it is reduced over",
    ),
    (lambda s, b, c: s[c].vectorize(b.op.axis[0]), "the axes of C are i, k"),
    (lambda s, b, c: s[c].bind(c.op.axis[0], "threadIdx.x"), "is no thread axis"),
    (lambda s, b, c: s[b].set_scope("cache"), "there is no memory 'cache'"),
    (lambda s, b, c: s[c].set_scope("local"), "C is an output, which is global"),
    (lambda s, b, c: s.rfactor(b, b.op.axis[0]), "B is no reduction"),
    (lambda s, b, c: s.rfactor(c, c.op.axis[0]), "no leaf axis of the reduction"),
    (lambda s, b, c: s.cache_read(c, "local", [b]), "B does not read it"),
    (lambda s, b, c: s.cache_read(b, "cache", [c]), "there is no memory 'cache'"),
    (lambda s, b, c: s[te.placeholder((3,), name="Z")], "Z has no stage in this schedule"),
    (lambda s, b, c: s["C"], "str is neither a tensor nor an operation"),
    (lambda s, b, c: te.create_schedule(te.placeholder((3,), name="Z").op), "it is an input"),
    (lambda s, b, c: te.thread_axis(), "a thread axis needs a tag"),
]


@pytest.mark.parametrize(("step", "text"), CASES, ids=[text for _, text in CASES])
def test_refused_at_the_call(step: Callable[[Any, Any, Any], object], text: str) -> None:
    _, b, _, c = parts()
    s = te.create_schedule(c.op)
    with pytest.raises(tl.UserError) as refusal:
        step(s, b, c)
    assert text in refusal.value.message


def test_a_split_axis_names_its_parts() -> None:
    _, b, _, c = parts()
    s = te.create_schedule(c.op)
    s[b].split(b.op.axis[0], factor=4)
    with pytest.raises(ScheduleError, match="was split into i_outer and i_inner") as refusal:
        s[b].vectorize(b.op.axis[0])
    assert refusal.value.span is not None
    fused = s[b].fuse(*s[b].leaf_iter_vars[1:])
    with pytest.raises(ScheduleError, match=f"it was fused into {fused.name}"):
        s[b].unroll(b.op.axis[1])


def test_inlining_a_reduction() -> None:
    a = te.placeholder((8, 8), name="A")
    k = te.reduce_axis(8, "k")
    b = te.compute((8,), lambda i: te.sum(a[i, k], axis=k), name="B")
    c = te.compute((8,), lambda i: b[i] + 1.0, name="C")
    s = te.create_schedule(c.op)
    with pytest.raises(ScheduleError, match="B is a reduction") as refusal:
        s[b].compute_inline()
    assert "compute_at" in str(refusal.value)


def test_what_only_the_engine_knows_names_stage_and_axis_and_line() -> None:
    a, b, k, c = parts()
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], k)
    s[c].vectorize(c.op.axis[0])
    s[c].reorder(k, c.op.axis[0])
    s[b].compute_at(s[c], c.op.axis[0])
    with pytest.raises(ScheduleError, match="compute_at i of stage B") as refusal:
        tl.lower(s, [a, c])
    assert refusal.value.span is not None
    assert "compute_at" in refusal.value.span.text


def test_an_axis_that_was_split_after_something_was_attached_to_it() -> None:
    a, b, _, c = parts()
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], c.op.axis[0])
    s[c].split(c.op.axis[0], factor=4)
    with pytest.raises(ScheduleError, match="the axis was split or fused after that call"):
        tl.lower(s, [a, c])


def test_outside_a_group() -> None:
    a = te.placeholder((8, 4), name="A")
    x = te.compute((8, 4), lambda i, j: a[i, j] + 1.0, name="x")
    y = te.compute((8, 4), lambda i, j: x[i, j] * 2.0, name="y")
    z = te.compute((8, 4), lambda i, j: y[i, j] - 3.0, name="z")
    s = te.create_schedule(z.op)
    s.create_group(outputs=y, inputs=x, include_inputs=True)
    with pytest.raises(ScheduleError, match="belongs to the group of x, y, and z is outside it"):
        s[x].compute_at(s[z], z.op.axis[0])


def chain(count: int) -> list[Any]:
    made: list[Any] = [te.placeholder((8,), name="A")]
    for name in "BCDEFG"[:count]:
        made.append(te.compute((8,), lambda i, x=made[-1]: x[i] + 1.0, name=name))
    return made


def test_a_group_inside_what_it_holds() -> None:
    a, _, c, d, e = chain(4)
    s = te.create_schedule(e.op)
    group = s.create_group(outputs=c, inputs=a)
    with pytest.raises(ScheduleError, match="C inside group of B, C already") as refusal:
        group.compute_at(s[c], c.op.axis[0])
    assert "attach the group to a stage outside of it" in (refusal.value.hint or "")
    s[d].compute_at(s[c], c.op.axis[0])
    with pytest.raises(ScheduleError, match="D inside C inside group of B, C already"):
        group.compute_at(s[d], d.op.axis[0])


def test_arguments_that_are_none() -> None:
    _, _, _, c = parts()
    with pytest.raises(ScheduleError, match="'C' is no argument of a kernel"):
        tl.lower(te.create_schedule(c.op), ["C"])


def test_a_name_for_what_has_one() -> None:
    _, _, _, c = parts()
    with pytest.raises(tl.UserError, match="has its arguments and its name already"):
        tl.build(tl.Schedule(c), name="f")
