"""Scans as old programs write them."""

# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import numpy as np

import tvmlab.compat.tvm as tvm
from tvmlab.compat.tvm import te


def test_steps_that_are_never_asked_for_may_read_outside() -> None:
    """The input has a row for each step after the first; its projection is computed before."""
    steps, size = 6, 3
    x = te.placeholder((steps - 1, size), name="X")
    k = te.reduce_axis((0, size), name="k")
    state = te.placeholder((steps, size), name="S")
    first = te.compute((1, size), lambda _, i: 0.0, name="first")
    projected = te.compute((steps, size), lambda t, i: te.sum(x[t - 1, k], axis=k), name="P")
    step = te.compute((steps, size), lambda t, i: state[t - 1, i] + projected[t, i], name="step")
    total = te.scan(first, step, state, inputs=[x])
    s = te.create_schedule(total.op)
    f = tvm.build(s, [x, total], "llvm")
    a = np.arange((steps - 1) * size, dtype="float32").reshape(steps - 1, size)
    out = tvm.nd.array(np.full((steps, size), 7, "float32"))
    f(tvm.nd.array(a), out)
    sums = np.concatenate([[0], a.sum(1).cumsum()])
    np.testing.assert_allclose(out.numpy(), np.repeat(sums[:, None], size, 1))


def test_the_fix_point_names_axes_that_can_leave_the_time() -> None:
    m, n = te.var("m"), te.var("n")
    x = te.placeholder((m, n, n), name="X")
    state = te.placeholder((m, n, n), name="S")
    first = te.compute((1, n, n), lambda _, i, j: x[0, i, j], name="first")
    half = te.compute((m, n, n), lambda t, i, j: state[t - 1, i, j] * 0.5, name="half")
    step = te.compute((m, n, n), lambda t, i, j: half[t, i, 0] + x[t, j, i], name="step")
    scan = te.scan(first, step, state)
    found = te.schedule.ScanFixPointAnalysis(scan.op)
    rows, columns = scan.op.spatial_axis_
    assert (found[rows].value, found[columns].value) == (1, 0)
