"""Random steps on the stages of small programs: what is accepted computes the same."""

# Written like programs for the old te, which have no types.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.random_programs import QUICK
from helpers.stages import Array, ramp
from hypothesis import given
from hypothesis import strategies as st

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import verify
from tvmlab.schedule import Stage, TeSchedule
from tvmlab.support import ScheduleError

Case = tuple[list[Any], list[Array], Array]


def blurred() -> Case:
    a = te.placeholder((11, 9), name="A")
    rows = te.compute((9, 9), lambda i, j: a[i, j] + a[i + 1, j] + a[i + 2, j], name="R")
    both = te.compute((9, 7), lambda i, j: rows[i, j] + rows[i, j + 1] * rows[i, j + 2], name="B")
    x = ramp(11, 9)
    r = x[:-2] + x[1:-1] + x[2:]
    return [a, both], [x], r[:, :-2] + r[:, 1:-1] * r[:, 2:]


def product() -> Case:
    a, b = te.placeholder((7, 10), name="A"), te.placeholder((10, 6), name="B")
    k = te.reduce_axis(10, "k")
    scaled = te.compute((7, 10), lambda i, j: a[i, j] * 2.0, name="S")
    c = te.compute((7, 6), lambda i, j: te.sum(scaled[i, k] * b[k, j], axis=k), name="C")
    d = te.compute((7, 6), lambda i, j: te.maximum(c[i, j], te.const(0.0, "float32")), name="D")
    x, y = ramp(7, 10), ramp(10, 6)
    return [a, b, d], [x, y], np.maximum(2 * x @ y, 0)


def reshape_stage(data: st.DataObject, s: TeSchedule, stage: Stage) -> None:
    """Some splits, fusions, reorderings and kinds of loops."""
    del s
    for _ in range(data.draw(st.integers(0, 4))):
        leaves = stage.leaf_iter_vars
        if not leaves:
            return
        axis = data.draw(st.sampled_from(leaves))
        step = data.draw(st.sampled_from(["split", "parts", "fuse", "reorder", "kind"]))
        if step == "split":
            stage.split(axis, factor=data.draw(st.integers(1, 12)))
        elif step == "parts":
            stage.split(axis, nparts=data.draw(st.integers(1, 12)))
        elif step == "fuse":
            at = leaves.index(axis)
            stage.fuse(*leaves[at : at + 2])
        elif step == "reorder":
            stage.reorder(*data.draw(st.permutations(leaves)))
        elif axis.kind == "reduce":
            stage.unroll(axis)
        else:
            kind = data.draw(st.sampled_from(["unroll", "vectorize", "parallel"]))
            getattr(stage, kind)(axis)


def stage_dataflow(data: st.DataObject, s: TeSchedule, args: list[Any]) -> None:
    """Perhaps a cache on either side, and partial results of the reduction."""
    out = args[-1]
    if data.draw(st.booleans()):
        reader = next(st_ for st_ in s.stages if args[0] in st_.op.input_tensors)
        s.cache_read(args[0], data.draw(st.sampled_from(["local", "global"])), reader.op)
    if data.draw(st.booleans()):
        s.cache_write(out, "local")
    for stage in list(s.stages):
        sums = getattr(stage.op, "reduce_axis", ())
        if sums and data.draw(st.booleans()):
            _, inner = stage.split(sums[0], factor=data.draw(st.integers(2, 5)))
            s.rfactor(stage.op.output(0), inner, data.draw(st.integers(0, 2)))


def place_stage(data: st.DataObject, s: TeSchedule, stage: Stage) -> None:
    readers = [r for r in s.stages if any(t.op is stage.op for t in r.op.input_tensors)]
    if stage.is_output or not readers:
        return
    place = data.draw(st.sampled_from(["root", "inline", "at", "at"]))
    if place == "inline" and not getattr(stage.op, "reduce_axis", ()):
        stage.compute_inline()
    elif place == "at" and readers[0].leaf_iter_vars:
        stage.compute_at(readers[0], data.draw(st.sampled_from(readers[0].leaf_iter_vars)))


@QUICK
@given(st.data(), st.sampled_from([blurred, product]))
def test_accepted_steps_keep_the_values(data: st.DataObject, make: Any) -> None:
    args, inputs, want = make()
    s = te.create_schedule(args[-1].op)
    stage_dataflow(data, s, args)
    computed = [stage for stage in s.stages if stage.op.input_tensors]
    for stage in reversed(computed):
        reshape_stage(data, s, stage)
        place_stage(data, s, stage)
    try:
        program = s.replay(args).program
    except ScheduleError as refusal:
        assert "of stage" in refusal.message or "axis" in refusal.message  # noqa: PT017
        return
    verify(program)
    got = np.full_like(want, 77)
    interpret(program, [*inputs, got])
    np.testing.assert_allclose(
        got, want, rtol=1e-5, atol=1e-5, err_msg=str(s.replay(args).schedule)
    )
