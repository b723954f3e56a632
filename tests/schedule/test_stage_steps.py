"""Steps on the stages of a classical schedule: what is computed stays, as text and as numbers."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from helpers.stages import assert_computes, ramp

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.schedule.stages import AttachType, Fuse, IterType, Singleton, Split


def chain(n: int = 40) -> tuple[Any, Any, Any]:
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    return a, b, te.compute((n,), lambda i: b[i] * 2.0, name="C")


def matmul(m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis(k, "k")
    return a, b, te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


def test_split_by_factor_and_into_parts_with_tails() -> None:
    a, _, c = chain(37)
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=10)
    parts, _ = s[c].split(outer, nparts=2)
    assert s[c].leaf_iter_vars[-1] is inner
    x = ramp(37)
    done = assert_computes(s, [a, c], [x], [(x + 1) * 2])
    assert done.ranges[parts].extent.value == 2


def test_a_factor_larger_than_the_axis_is_cut_down() -> None:
    a, _, c = chain(8)
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=32)
    x = ramp(8)
    done = assert_computes(s, [a, c], [x], [(x + 1) * 2])
    assert (done.ranges[outer].extent.value, done.ranges[inner].extent.value) == (1, 8)


def test_tile_reorder_fuse_and_kinds_of_loops() -> None:
    a, b, c = matmul(20, 24, 9)
    s = te.create_schedule(c.op)
    xo, yo, xi, yi = s[c].tile(*c.op.axis, 8, 8)
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=4)
    s[c].reorder(xo, yo, ko, ki, xi, yi)
    fused = s[c].fuse(xo, yo)
    s[c].parallel(fused)
    s[c].unroll(ki)
    s[c].vectorize(yi)
    x, y = ramp(20, 9), ramp(9, 24)
    done = assert_computes(s, [a, b, c], [x, y], [x @ y])
    assert [lp.kind for lp in done.schedule.loops("C")] == [
        "parallel", "serial", "unrolled", "serial", "vectorized",
    ]  # fmt: skip
    kinds = [type(r) for r in s[c].relations]
    assert kinds == [Split, Split, Split, Fuse]
    assert s[c].iter_var_attrs[yi].iter_type == IterType.VECTORIZED


def test_an_axis_made_from_none() -> None:
    a = te.placeholder((9,), name="A")
    k = te.reduce_axis(9, "k")
    b = te.compute((), lambda: te.sum(a[k], axis=k), name="B")
    s = te.create_schedule(b.op)
    outer, _ = s[b].split(s[b].fuse(), nparts=20)
    assert isinstance(s[b].relations[0], Singleton)
    assert outer in s[b].leaf_iter_vars
    x = ramp(9)
    assert_computes(s, [a, b], [x], [np.array(x.sum(), "float32")])


def test_fusing_an_axis_with_the_reduction() -> None:
    a = te.placeholder((6, 5), name="A")
    k = te.reduce_axis(5, "k")
    b = te.compute((6,), lambda i: te.sum(a[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    s[b].fuse(b.op.axis[0], k)
    x = ramp(6, 5)
    assert_computes(s, [a, b], [x], [x.sum(1)])


def test_compute_at_spans_what_is_needed() -> None:
    a = te.placeholder((34,), name="A")
    b = te.compute((34,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((32,), lambda i: b[i] + b[i + 1] + b[i + 2], name="C")
    s = te.create_schedule(c.op)
    xo, _ = s[c].split(c.op.axis[0], factor=5)
    s[b].compute_at(s[c], xo)
    s[b].vectorize(b.op.axis[0])
    x = ramp(34)
    done = assert_computes(s, [a, c], [x], [(x + 1)[:-2] + (x + 1)[1:-1] + (x + 1)[2:]])
    assert done.ranges[b.op.axis[0]].extent.value == 7


def test_compute_at_an_axis_of_one_iteration() -> None:
    """Nothing runs over it, so the stage goes to the nearest loop around."""
    a = te.placeholder((6, 1, 8), name="A")
    b = te.compute((6, 1, 8), lambda i, j, k: a[i, j, k] + 1.0, name="B")
    c = te.compute((6, 1, 8), lambda i, j, k: b[i, j, k] * 2.0, name="C")
    d = te.compute((6, 1, 8), lambda i, j, k: c[i, j, k] * 3.0, name="D")
    s = te.create_schedule(d.op)
    s[c].compute_at(s[d], d.op.axis[0])
    s[b].compute_at(s[c], c.op.axis[1])
    s[c].reorder(c.op.axis[1], c.op.axis[2])
    x = ramp(6, 1, 8)
    assert_computes(s, [a, d], [x], [(x + 1) * 6])


def test_root_takes_back_attachment_and_inlining() -> None:
    a, b, c = chain()
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], c.op.axis[0])
    assert (s[b].attach_type, s[b].attach_stage) == (AttachType.SCOPE, s[c])
    s[b].compute_root()
    assert s[b].attach_type == AttachType.ROOT
    s[b].compute_inline()
    assert s[b].attach_type == AttachType.INLINE
    x = ramp(40)
    done = assert_computes(s, [a, c], [x], [(x + 1) * 2])
    assert [block.name for block in done.schedule.blocks()] == ["C"]


@pytest.mark.parametrize("place", ["root", "at", "inline"])
def test_an_intermediate_may_be_an_argument(place: str) -> None:
    a, b, c = chain()
    s = te.create_schedule(c.op)
    if place == "at":
        s[b].compute_at(s[c], c.op.axis[0])
    elif place == "inline":
        s[b].compute_inline()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        f = tl.build(s, [a, b, c], target="llvm", name="f")
    assert [str(w.message).partition(":")[0] for w in said] == (
        ["the kernel does not write B, which is among its arguments"] if place == "inline" else []
    )
    assert all(w.filename == __file__ for w in said)
    x, y, z = ramp(40), np.zeros(40, "f"), np.zeros(40, "f")
    f(x, y, z)
    np.testing.assert_array_equal(z, (x + 1) * 2)
    if place != "inline":
        np.testing.assert_array_equal(y, x + 1)


def test_symbolic_sizes_come_from_the_arguments() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    c = te.compute((n,), lambda i: a[i] * 3.0, name="C")
    s = te.create_schedule(c.op)
    xo, xi = s[c].split(c.op.axis[0], factor=16)
    s[c].parallel(xo)
    s[c].vectorize(xi)
    x = ramp(100)
    assert_computes(s, [a, c], [x], [x * 3])
    assert "parallel((n + 15) // 16)" in str(tl.lower(s, [a, c], simple_mode=True))


def test_several_outputs_of_the_schedule() -> None:
    a, b, c = chain()
    s = te.create_schedule([b.op, c.op])
    s[c].split(c.op.axis[0], factor=8)
    x = ramp(40)
    assert_computes(s, [a, b, c], [x], [x + 1, (x + 1) * 2])
    assert [op.name for op in s.outputs] == ["B", "C"]


def test_groups_are_attached_together() -> None:
    a = te.placeholder((8, 12), name="A")
    x = te.compute((8, 12), lambda i, j: a[i, j] + 1.0, name="x")
    y = te.compute((8, 12), lambda i, j: x[i, j] * 2.0, name="y")
    z = te.compute((8, 12), lambda i, j: y[i, j] - 3.0, name="z")
    s = te.create_schedule(z.op)
    group = s.create_group(outputs=y, inputs=x, include_inputs=True)
    group.compute_at(s[z], z.op.axis[0])
    assert s[x].group is group
    assert s[y].group is group
    assert group.num_child_stages == 2
    v = ramp(8, 12)
    done = assert_computes(s, [a, z], [v], [(v + 1) * 2 - 3])
    assert done.ranges[x.op.axis[0]].extent.value == 1


def test_pragmas_by_the_names_of_kinds() -> None:
    a, _, c = chain()
    s = te.create_schedule(c.op)
    _, xi = s[c].split(c.op.axis[0], factor=8)
    s[c].pragma(xi, "vectorize")
    assert s[c].iter_var_attrs[xi].iter_type == IterType.VECTORIZED
    x = ramp(40)
    assert_computes(s, [a, c], [x], [(x + 1) * 2])


def test_memory_steps() -> None:
    a = te.placeholder((8, 12), name="A")
    b = te.compute((8, 12), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((8, 12), lambda i, j: b[i, j] * 2.0, name="C")
    x = ramp(8, 12)

    def schedule(step: Any) -> Any:
        s = te.create_schedule(c.op)
        s[b].compute_at(s[c], c.op.axis[0])
        step(s)
        return assert_computes(s, [a, c], [x], [(x + 1) * 2]).schedule

    schedule(lambda s: s[b].double_buffer())
    schedule(lambda s: s[c].prefetch(a, c.op.axis[0], 2))
    padded = schedule(lambda s: (s[b].compute_root(), s[b].storage_align(b.op.axis[0], 16, 0)))
    assert "storage_align" in str(padded)
    moved = schedule(lambda s: (s[b].compute_root(), s[b].transform_layout(lambda i, j: [j, i])))
    assert "float32[12, 8]" in str(moved)


def test_the_record_names_the_steps() -> None:
    a, b, c = matmul(8, 8, 8)
    s = te.create_schedule(c.op)
    xo, yo, xi, yi = s[c].tile(*c.op.axis, 4, 4)
    s[c].reorder(xo, yo, c.op.reduce_axis[0], xi, yi)
    s[c].vectorize(yi)
    assert s.primitive_record == [
        "vanilla", "split", "split", "reorder", "reorder", "vectorize",
    ]  # fmt: skip
    assert a in s[c].op.input_tensors
    assert b in s[c].op.input_tensors


def test_the_steps_are_a_trace_of_the_eager_schedule() -> None:
    a, b, c = chain()
    s = te.create_schedule(c.op)
    xo, _ = s[c].split(c.op.axis[0], factor=8)
    s[b].compute_at(s[c], xo)
    python = s.replay([a, c]).schedule.trace.to_python()
    assert "split" in python
    assert "compute_at" in python


def test_a_deep_formula() -> None:
    a = te.placeholder((2,), name="A")

    def formula(i: Any) -> Any:
        value = a[i]
        for _ in range(1000):
            value = value + 1.0
        return value

    b = te.compute((2,), formula, name="B")
    s = te.create_schedule(b.op)
    s[b].split(b.op.axis[0], factor=1)
    assert s.replay([a, b]).program.params[1].name == "B"


@pytest.mark.parametrize("both", [False, True])
def test_caches_in_one_loop_are_double_buffered(both: bool) -> None:
    a, b, c = matmul(8, 8, 12)
    s = te.create_schedule(c.op)
    aa, bb = s.cache_read(a, "shared", [c]), s.cache_read(b, "shared", [c])
    al = s.cache_read(aa, "local", [c])
    k_outer, k_inner = s[c].split(c.op.reduce_axis[0], factor=4)
    i, j = c.op.axis
    s[c].reorder(k_outer, i, j, k_inner)
    for cache in (aa, bb, al):
        s[cache].compute_at(s[c], k_outer)
    for cache in (aa, bb, al) if both else (aa, bb):
        s[cache].double_buffer()
    x, y = ramp(8, 12), ramp(12, 8)
    assert_computes(s, [a, b, c], [x, y], [x @ y])


def test_one_of_several_outputs_is_an_argument() -> None:
    a = te.placeholder((5,), name="A")
    b, c = te.compute((5,), lambda i: (a[i] + 1.0, a[i] * 2.0), name="B")
    s = te.create_schedule(b.op)
    s[b].split(b.op.axis[0], factor=2)
    x = ramp(5)
    assert_computes(s, [a, b], [x], [x + 1])
    assert_computes(s, [a, c], [x], [x * 2])
    assert_computes(s, [a, c, b], [x], [x * 2, x + 1])


def test_the_index_of_the_largest_alone() -> None:
    m = te.placeholder((5, 7), name="M")
    b = topi.argmax(m, axis=1)
    x = ramp(5, 7)
    assert_computes(te.create_schedule(b.op), [m, b], [x], [x.argmax(1).astype(b.dtype.name)])
