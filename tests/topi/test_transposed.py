"""Transposed convolutions, with filters as they are and packed, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.windows import random, transposed
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.support import ShapeError
from tvmlab.te import Tensor

FORMULAS: dict[int, Callable[..., Tensor]] = {
    1: topi.conv1d_transpose,
    2: topi.conv2d_transpose,
    3: topi.conv3d_transpose,
}
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@dataclass(frozen=True)
class Case:
    channels: tuple[int, int]
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    more: tuple[int, ...]
    groups: int
    block: int
    packed: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rank = draw(st.sampled_from([1, 2, 2, 2, 3]))

    def each(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    groups, block = draw(st.integers(1, 2)), draw(st.sampled_from([0, 1, 8]))
    unit = max(block, 1) * groups
    size, kernel, stride, dilation = each(1, 5), each(1, 4), each(1, 3), each(1, 2)
    pads = tuple(zip(each(0, 3), each(0, 3), strict=True))
    more = tuple(draw(st.integers(0, s - 1)) for s in stride)
    for n, k, s, d, (b, a), m in zip(size, kernel, stride, dilation, pads, more, strict=True):
        assume((n - 1) * s + (k - 1) * d + 1 + m - b - a >= 1)
    return Case(
        (draw(st.integers(1, 3)) * unit, draw(st.integers(1, 3)) * max(block, 1)), size, kernel,
        stride, dilation, pads, more, groups, block, draw(st.booleans()),
    )  # fmt: skip


def check(case: Case) -> None:
    rank = len(case.size)
    inputs, outputs = case.channels
    x = random((2, inputs, *case.size), 0)
    w = random((inputs, outputs, *case.kernel), 1)
    want = transposed(x, w, case.stride, case.dilation, case.pads, case.more, case.groups)
    s = SPATIAL[rank]
    plain = f"NC{s}"
    layout = {0: plain, 1: f"N{s}C"}.get(case.block, f"{plain}{case.block}c")
    filters, kept = w, None
    if case.packed:
        kept = {0: f"OI{s}", 1: f"{s}IO"}.get(case.block, f"OI{s}{case.block}i{case.block}o")
        filters = topi.pack_transposed(w, case.stride, case.dilation, case.groups, kept)
    images = topi.pack_array(x, plain, layout)
    a, f = te.placeholder(images.shape, name="A"), te.placeholder(filters.shape, name="W")
    padding = [b for b, _ in case.pads] + [e for _, e in case.pads]
    result = FORMULAS[rank](
        a, f, case.stride, padding, case.more, case.dilation, layout,
        groups=case.groups, packed=kept, kernel=case.kernel if kept else None,
    )  # fmt: skip
    result = topi.relu(result)
    expected = topi.pack_array(np.maximum(want, 0), plain, layout)
    got = np.full(expected.shape, np.nan, np.float32)
    tl.build(topi.schedule_conv(result))(images, filters, got)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


@settings(max_examples=12, deadline=None)
@given(cases())
def test_transposed(case: Case) -> None:
    check(case)


@pytest.mark.slow
def test_many_transposed() -> None:
    settings(max_examples=60, deadline=None)(given(cases())(check))()


def test_the_last_step_takes_what_follows() -> None:
    a, w = te.placeholder((1, 4, 5, 5), name="A"), te.placeholder((4, 2, 4, 4), name="W")
    sch = topi.schedule_conv(topi.tanh(topi.conv2d_transpose(a, w, 2, 1)))
    assert "conv2d_transpose" not in [b.name for b in sch.blocks()]


def test_refusals() -> None:
    a, w = te.placeholder((1, 4, 5, 5), name="A"), te.placeholder((4, 2, 4, 4), name="W")
    with pytest.raises(ShapeError, match=r"output padding \[2, 2\] must be smaller than stride"):
        topi.conv2d_transpose(a, w, 2, 1, 2)
    with pytest.raises(ShapeError, match="padding 9 leaves nothing of the output"):
        topi.conv2d_transpose(a, w, 1, 9)
    with pytest.raises(ShapeError, match="packed filters do not say how large they were"):
        topi.conv2d_transpose(a, w, 2, packed="OIHW")
    with pytest.raises(ShapeError, match="a transposed convolution needs known sizes"):
        topi.conv2d_transpose(te.placeholder((1, 4, te.var("n"), 5), name="B"), w)
