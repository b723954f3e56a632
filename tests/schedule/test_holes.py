"""Buffers with elements that nobody writes, and steps that would read them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.steps import ramp

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.schedule import RefusedError, Schedule


def with_gaps(i: te.Expr) -> list[te.Expr]:
    """Each sixth place is left out."""
    return [i // 5 * 6 + i % 5]


def spread() -> Schedule:
    """A copy whose layout leaves every sixth element out, itself staged around the holes."""
    source = te.placeholder((36,), name="A")
    stage = te.compute((36,), lambda i: source[i] * source[i], name="B")
    sch = Schedule(te.compute((12,), lambda i: stage[i * 3 + 2] + stage[i // 2 * 3], name="C"))
    last = sch.cache_read("C", "B", "local")
    (each,) = sch.loops(last)
    first = sch.cache_read(last, "B", "local")
    sch.compute_at(first, each)
    sch.transform_layout(last, "B_local_1", with_gaps)
    sch.cache_write(first, "local")
    sch.compute_at(last, sch.loops("C")[0])
    return sch


def test_a_copy_around_holes_is_not_laid_out_over_them() -> None:
    sch = spread()
    (i,) = sch.loops("C")
    assert sch.check("compute_at", "B_local_1_write", i).rule == "compute_at.holes"
    with pytest.raises(RefusedError, match=r"leaves parts of B_local_1\w* unwritten, and"):
        sch.compute_at("B_local_1_write", i)
    a, c = ramp(36), np.empty(12, "float32")
    interpret(sch.program, [a, c])
    at, squares = np.arange(12), a * a
    np.testing.assert_allclose(c, squares[at * 3 + 2] + squares[at // 2 * 3])


def test_a_skewed_round_does_not_finish_a_whole_row() -> None:
    """Each round of the skewed loop computes one element of the row, not the box around all."""
    a = te.placeholder((1, 5), name="A")
    sch = Schedule(te.compute((1, 5), lambda i, j: a[i, j] * 2.0, name="C"))
    i, j = sch.loops("C")
    sch.reorder(j, i)
    skewed = sch.skew(j, i, 2)
    sch.reorder(skewed, j)
    sch.cache_write("C", "local")
    assert sch.check("reverse_compute_at", "C_write", skewed).rule.endswith("not-tiles")
    x, c = ramp(1, 5), np.empty((1, 5), "float32")
    interpret(sch.program, [x, c])
    np.testing.assert_allclose(c, x * 2)
