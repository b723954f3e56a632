"""pad: iterations up to a multiple; copies, neutral values, tails that vanish, refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.driver import build
from tvmlab.ir import Expr
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.te import Tensor


def product(m: int = 13, n: int = 18, k: int = 30, dtype: str = "float32") -> Tensor:
    a = te.placeholder((m, k), dtype, name="A")
    b = te.placeholder((k, n), dtype, name="B")
    r = te.reduce_axis(k, "k")
    return te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


def chain(n: int = 13) -> Tensor:
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[n - 1 - i] * 2.0, name="B")
    return te.compute((n,), lambda i: b[i] + 1.0, name="C")


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_a_product_in_whole_tiles(dtype: str) -> None:
    def steps(s: Schedule) -> None:
        copies = s.pad("C", [8, 16, 4])
        assert [c.name for c in copies] == ["C_write", "A_global", "B_global"]
        i, j, _ = s.loops("C")
        s.split(i, [None, 8], disable_predication=True)
        _, inner = s.split(j, [None, 16], disable_predication=True)
        s.vectorize(inner)

    sch = after_steps(
        product(dtype=dtype), steps, [ramp(13, 30, dtype=dtype), ramp(30, 18, dtype=dtype)]
    )
    assert "where" not in str(sch)
    assert "select(vax0 < 13 and vax1 < 30, A[vax0, vax1]" in str(sch)


def test_tails_of_loops_that_are_split_already_vanish() -> None:
    def steps(s: Schedule) -> None:
        i, _, k = s.loops("C")
        s.split(i, [None, 8])
        s.split(k, [None, 4])
        assert "where" in str(s)
        s.pad("C", [8, 1, 4])

    assert "where" not in str(after_steps(product(), steps, [ramp(13, 30), ramp(30, 18)]))


@pytest.mark.parametrize("op", [te.max, te.min, te.prod, te.sum])
def test_each_operation_pads_with_what_changes_nothing(op: Callable[..., Expr]) -> None:
    a = te.placeholder((5, 11), name="A")
    k = te.reduce_axis(11, "k")
    c = te.compute((5,), lambda i: op(a[i, k], axis=k), name="C")
    after_steps(c, lambda s: s.pad("C", [4, 8]), [np.sign(ramp(5, 11)) * 2])


def test_a_factor_that_is_not_padded_is_kept_out_of_the_sum() -> None:
    """Zero times infinity is no number, so padding alone would not do."""
    a = te.placeholder((4, 11), name="A")
    b = te.placeholder((4,), name="B")
    k = te.reduce_axis(11, "k")
    c = te.compute((4,), lambda i: te.sum(a[i, k] * b[i], axis=k), name="C")
    sch = Schedule(c)
    sch.pad("C", [1, 8])
    assert "select(vk < 11" in str(sch)
    out = np.empty(4, "float32")
    build(sch)(np.ones((4, 11), "float32"), np.array([1, np.inf, 2, 3], "float32"), out)
    np.testing.assert_array_equal(out, [11, np.inf, 22, 33])


def test_real_values_beyond_the_sum_are_not_added() -> None:
    """k stops at 9 of 16 columns: the added iterations stay inside A, and must add nothing."""
    a = te.placeholder((3, 16), name="A")
    k = te.reduce_axis(9, "k")
    c = te.compute((3,), lambda i: te.sum(a[i, k], axis=k), name="C")
    sch = after_steps(c, lambda s: s.pad("C", [1, 8]), [ramp(3, 16)])
    assert "select(vk < 9" in str(sch)


def test_an_intermediate_grows_and_an_index_that_runs_back_is_refused() -> None:
    a = te.placeholder((13,), name="A")
    b = te.compute((13,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((13,), lambda i: b[12 - i] + 1.0, name="C")
    sch = after_steps(c, lambda s: s.pad("B", [8]), [ramp(13)])
    assert "B = alloc(float32[16])" in str(sch)
    with pytest.raises(RefusedError, match="how far it would read"):
        Schedule(chain()).pad("B", [8])


def test_a_convolution_reads_its_padded_input_further() -> None:
    a = te.placeholder((15,), name="A")
    w = te.placeholder((3,), name="W")
    r = te.reduce_axis(3, "r")
    c = te.compute((13,), lambda i: te.sum(a[i + r] * w[r], axis=r), name="C")
    sch = after_steps(c, lambda s: s.pad("C", [8, 4]), [ramp(15), ramp(3)])
    assert "select(vr < 3" in str(sch)


def _opaque(s: Schedule) -> None:
    s.compute_at("B", s.loops("C")[0])
    s.pad("C", [8])


def _too_long(s: Schedule) -> None:
    s.split(s.loops("C")[0], [None, 12])
    s.pad("C", [2])


def _pad(block: str, *multiples: int) -> Callable[[Schedule], object]:
    return lambda s: s.pad(block, multiples)


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        (_pad("C", 8, 8), "pad.multiples"),
        (_pad("C", 0), "pad.multiples"),
        (_pad("C", 13), "pad.nothing"),
        (_pad("B", 8), "pad.range"),
        (_too_long, "pad.loops"),
        (_opaque, "pad.attached"),
    ],
)
def test_refusals(steps: Callable[[Schedule], object], rule: str) -> None:
    with pytest.raises(RefusedError) as refused:
        steps(Schedule(chain()))
    assert refused.value.verdict.rule == rule


def test_split_loops_that_stop_before_the_multiple_are_not_made_longer() -> None:
    a = te.placeholder((18,), name="A")
    sch = Schedule(te.compute((18,), lambda i: a[i] + 1.0, name="C"))
    sch.split(sch.loops("C")[0], [None, 3])
    with pytest.raises(RefusedError, match="make 18 rounds, not 20; pad it before splitting"):
        sch.pad("C", [4])


def test_what_may_fail_on_padding_and_sizes_of_run_time() -> None:
    a = te.placeholder((13,), "int32", name="A")
    c = te.compute((13,), lambda i: te.floordiv(100, a[i]), name="C")
    with pytest.raises(RefusedError, match="might fail on padding"):
        Schedule(c).pad("C", [8])
    n = te.var("n")
    b = te.placeholder((n,), name="B")
    d = te.compute((n,), lambda i: b[i] + 1.0, name="D")
    with pytest.raises(RefusedError, match="known only at run time"):
        Schedule(d).pad("D", [8])


def test_added_iterations_do_not_read_what_nobody_writes() -> None:
    """`B[i // 4 * 5 + i % 4]` has gaps; iteration 20 of C would read one, inside the buffer."""
    a = te.placeholder((24,), name="A")
    b = te.compute((22,), lambda i: a[i] + a[i + 1], name="B")
    sch = Schedule(te.compute((20,), lambda i: b[i] - b[i + 2], name="C"))
    sch.transform_layout("B", "B", "lambda i: [i // 4 * 5 + i % 4]")
    with pytest.raises(RefusedError) as refused:
        sch.pad("C", [3])
    assert refused.value.verdict.rule == "pad.holes"
    assert "B leaves parts of B unwritten, and B[27] would be read" in refused.value.message


def test_a_padded_copy_does_not_follow_what_it_copies() -> None:
    a = te.placeholder((14,), name="A")
    b = te.compute((14,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.compute((14,), lambda i: b[i] * 2.0, name="C"))
    sch.pad("C", [3])
    with pytest.raises(RefusedError) as refused:
        sch.reverse_compute_at("B_global", sch.loops("B")[0])
    assert refused.value.verdict.rule == "reverse_compute_at.holes"
